// The views for owners who follow a console link.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, useDocumentTitle, whole } from '../parts.tsx';
import type { StoredSession } from '../storage.ts';
import { credentialWords } from '../words.ts';

const ARMED_AFTER_MS = 500;

type QuestionProps = { stored: StoredSession; stay: () => void; open: () => void };

/**
 * Requires confirmation before a link replaces the current session. Focuses the button that changes nothing. Any site can open the question
 * under the pointer, so its other button ignores presses for half a second.
 */
export function LinkQuestion({ stored, stay, open }: QuestionProps) {
  const safe = useRef<HTMLButtonElement>(null);
  const [armed, setArmed] = useState(false);
  useDocumentTitle('Open another session?');
  useEffect(() => {
    safe.current?.focus();
    const timer = setTimeout(() => setArmed(true), ARMED_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <section class="sign-in" aria-labelledby="question-title">
      <h1 id="question-title">Open another session?</h1>
      <div id="question" class="question">
        <p>You are signed in with {whole(credentialWords(stored))}. This link opens another session.</p>
        <p>If you open it, your current session ends. If you were not expecting a link, stay signed in.</p>
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

type ViewProps = {
  notice: string;
  /** Undefined if opening the link again cannot help. */
  retry: (() => void) | undefined;
  /** The session that the link would have replaced. */
  earlier: StoredSession | null;
  stay: () => void;
  useKey: () => void;
};

/** Shown without a session. Most owners who follow a link have no API key, so the sign-in form is behind a button. */
export function LinkView({ notice, retry, earlier, stay, useKey }: ViewProps) {
  const paragraph = useRef<HTMLParagraphElement>(null);
  useDocumentTitle('Not signed in');
  useLayoutEffect(() => paragraph.current?.focus(), []);
  return (
    <section class="sign-in" aria-labelledby="link-title">
      <h1 id="link-title">You are not signed in</h1>
      <p ref={paragraph} class="notice warning" role="status" tabIndex={-1}>
        {notice}
      </p>
      <p class="ways">
        {retry && <Button onClick={retry}>Try again</Button>}
        {earlier && (
          <Button class="quiet" onClick={stay}>
            Keep the earlier session ({credentialWords(earlier)})
          </Button>
        )}
        <Button class="quiet" onClick={useKey}>
          Sign in with an API key
        </Button>
      </p>
    </section>
  );
}
