// Asks before a link replaces the current session. Focuses the button that changes nothing.
import { useEffect, useRef } from 'preact/hooks';
import { Button, useArmed, useDocumentTitle } from '../parts.tsx';
import { credentialWords } from '../words.ts';
import type { StoredSession } from './storage.ts';

type Props = { stored: StoredSession; stay: () => void; open: () => void };

export function LinkQuestion({ stored, stay, open }: Props) {
  const safe = useRef<HTMLButtonElement>(null);
  const armed = useArmed();
  useDocumentTitle('Open another session?');
  useEffect(() => safe.current?.focus(), []);
  return (
    <section class="sign-in" aria-labelledby="question-title">
      <h1 id="question-title">Open another session?</h1>
      <div id="question" class="question">
        <p>You are signed in with {credentialWords(stored)}. This link opens another session.</p>
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
