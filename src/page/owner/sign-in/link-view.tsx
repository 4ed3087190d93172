// What whoever came by a link sees without a session. Most of them have no API key, so the form to sign in is one step away.
import { useEffect, useRef } from 'preact/hooks';
import { Button, useDocumentTitle } from '../parts.tsx';
import { wayWords } from '../words.ts';
import type { KeptSession } from './kept.ts';

type Props = {
  notice: string;
  /** Tries the link once more. Missing if that is of no use. */
  again: (() => void) | undefined;
  /** The session that the tab had before a link that failed, and what goes on with it. */
  earlier: KeptSession | null;
  stay: () => void;
  useKey: () => void;
};

export function LinkView({ notice, again, earlier, stay, useKey }: Props) {
  const told = useRef<HTMLParagraphElement>(null);
  useDocumentTitle('Not signed in');
  useEffect(() => told.current?.focus(), []);
  return (
    <section class="sign-in" aria-labelledby="link-title">
      <h1 id="link-title">You are not signed in</h1>
      <p ref={told} class="notice warning" role="status" tabIndex={-1}>
        {notice}
      </p>
      <p class="ways">
        {again && <Button onClick={again}>Try again</Button>}
        {earlier && (
          <Button class="quiet" onClick={stay}>
            Go on as before ({wayWords(earlier)})
          </Button>
        )}
        <Button class="quiet" onClick={useKey}>
          Sign in with an API key
        </Button>
      </p>
    </section>
  );
}
