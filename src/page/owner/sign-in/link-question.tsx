// What somebody is asked who is signed in and opens a link. The button that has the focus changes nothing.
import { useEffect, useRef } from 'preact/hooks';
import { Button, useArmed, useDocumentTitle } from '../parts.tsx';
import { wayWords } from '../words.ts';
import type { KeptSession } from './kept.ts';

type Props = {
  /** The session of the tab. */
  kept: KeptSession;
  stay: () => void;
  open: () => void;
};

export function LinkQuestion({ kept, stay, open }: Props) {
  const safe = useRef<HTMLButtonElement>(null);
  const armed = useArmed();
  useDocumentTitle('Open another session?');
  useEffect(() => safe.current?.focus(), []);
  return (
    <section class="sign-in" aria-labelledby="question-title">
      <h1 id="question-title">Open another session?</h1>
      <div id="question" class="question">
        <p>You are signed in with {wayWords(kept)}. This link opens another session.</p>
        <p>If you open it, your session ends. If you did not expect a link, stay signed in.</p>
      </div>
      <p class="ways">
        <button type="button" ref={safe} aria-describedby="question" onClick={stay}>
          Stay signed in
        </button>
        <Button class="quiet" busy={!armed} onClick={open}>
          Open the link
        </Button>
      </p>
    </section>
  );
}
