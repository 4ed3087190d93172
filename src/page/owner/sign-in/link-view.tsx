// Shown without a session to owners who arrived by a link. Most have no API key, so the sign-in form is one step away.
import { useEffect, useRef } from 'preact/hooks';
import { Button, useDocumentTitle } from '../parts.tsx';
import { credentialWords } from '../words.ts';
import type { StoredSession } from './storage.ts';

type Props = {
  notice: string;
  /** Missing if trying the link again cannot help. */
  retry: (() => void) | undefined;
  /** The session that the link would have replaced. */
  earlier: StoredSession | null;
  stay: () => void;
  useKey: () => void;
};

export function LinkView({ notice, retry, earlier, stay, useKey }: Props) {
  const paragraph = useRef<HTMLParagraphElement>(null);
  useDocumentTitle('Not signed in');
  useEffect(() => paragraph.current?.focus(), []);
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
            Go on as before ({credentialWords(earlier)})
          </Button>
        )}
        <Button class="quiet" onClick={useKey}>
          Sign in with an API key
        </Button>
      </p>
    </section>
  );
}
