// The sign-in form. The field is uncontrolled, so the key never becomes an attribute.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { SESSION_HOURS } from '../../../sessions/rules.ts';
import { Failure } from '../api.ts';
import { Field, Notice, useDocumentTitle, VERBATIM } from '../parts.tsx';
import { useMutation } from '../query.ts';
import { refusedKeyWords } from '../words.ts';

type Props = { notice: string; signIn: (key: string) => Promise<void> };

/** Returns whether a header can contain the key. */
const isSendable = (key: string): boolean => /^[\x21-\x7e]+$/.test(key);

export function SignIn({ notice, signIn }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const { busy, failure, run } = useMutation();
  const paragraph = useRef<HTMLParagraphElement>(null);
  useDocumentTitle('Sign in');
  // Does not focus the field if a session has just ended, because the owner may be typing something else.
  useLayoutEffect(() => (paragraph.current ?? field.current)?.focus(), []);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const key = field.current?.value.trim() ?? '';
    const succeeded = await run('signing in', async () => {
      if (!isSendable(key)) throw new Failure(401, 'Unauthenticated.');
      await signIn(key);
      if (field.current) field.current.value = '';
    });
    if (!succeeded) field.current?.select();
  }

  return (
    <section class="sign-in" aria-labelledby="sign-in-title">
      <h1 id="sign-in-title">Sign in</h1>
      <p class="lead">See how your businesses are used, and choose the sites where their tokens work.</p>
      {notice !== '' && (
        <p ref={paragraph} class="notice warning" role="status" tabIndex={-1}>
          {notice}
        </p>
      )}
      <form class="card" autocomplete="off" onSubmit={submit}>
        <Field id="key" label="API key">
          <input
            id="key"
            ref={field}
            class="secret"
            {...VERBATIM}
            placeholder="bua_sk_…"
            required
            aria-invalid={failure ? 'true' : undefined}
            aria-describedby="key-problem key-note"
          />
        </Field>
        <Notice kind="problem" id="key-problem">
          {failure && refusedKeyWords(failure)}
        </Notice>
        <button type="submit" aria-disabled={busy ? 'true' : undefined}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        <p id="key-note" class="note">
          Your key is sent once and not stored. Instead, this tab keeps a session, which ends when you sign out, or
          after {SESSION_HOURS} hours at the latest.
        </p>
      </form>
      <p class="note">To get an API key, ask the service operator.</p>
      <p class="note">
        <a href="/">For developers</a>
      </p>
    </section>
  );
}
