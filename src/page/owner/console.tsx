// The console's frame: handles sessions, and shows the current route's view.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isReturnUrl } from '../../sessions/rules.ts';
import { AccessView } from './access/access.tsx';
import { type Api, connect, signInWithCode, signInWithKey } from './api.ts';
import { BusinessView } from './business.tsx';
import { BusinessesView } from './list/businesses.tsx';
import { useSearchKey } from './list/search-key.ts';
import { Button, Loading, Notice } from './parts.tsx';
import { failureOf } from './query.ts';
import { ACCESS, replaceAddress, takeCode, useRoute } from './route.ts';
import { SERVICE_NAME } from './service-name.ts';
import { newMemory, type Session } from './session.ts';
import { watchExpiry } from './sign-in/expiry.ts';
import { LinkQuestion, LinkView } from './sign-in/link-views.tsx';
import { SignIn } from './sign-in/sign-in.tsx';
import {
  clearSession,
  credentialOf,
  isUnexpired,
  readSession,
  type StoredSession,
  storeSession,
} from './sign-in/storage.ts';
import { endedWords, expiredWords, isSpent, nearExpiryWords, refusedLinkWords, signedOutWords } from './words.ts';

const LOADING_ROWS = 6;

/** `retry` opens a failed link again. */
type SignedOut = { is: 'signed out'; notice: string; byLink: boolean; retry?: () => void };
/** A link was opened during a session. */
type Confirming = { is: 'confirming'; attempt: number; stored: StoredSession };
type State = SignedOut | { is: 'opening' } | Confirming | { is: 'signed in'; session: Session };

/** Ends a session. Ignores failures: the session expires anyway, and its key is not stored. */
function endQuietly({ key }: StoredSession): void {
  connect(key, () => {})
    .signOut()
    .catch(() => {});
}

/** Focuses the view's title. A link to the title would replace the route in the URL. */
const skipToContent = (): void => document.querySelector<HTMLElement>('main:not(:has(.room)) h1, .room h2')?.focus();

export function Console() {
  const currentApi = useRef<Api | null>(null);
  const memory = useRef(newMemory());
  const attempts = useRef(0);
  /**
   * The return URL of the last session in this browser tab. The header still links to it after that session has ended. The header validates
   * the URL again, so nothing in sessionStorage can become a script.
   */
  const returnUrl = useRef(readSession()?.returnUrl);
  /** The code of a link that has not been opened yet. A ref, not component state, so clearing it removes the code from memory. */
  const pendingCode = useRef<string | null>(null);
  // Removes the code from the URL first, before awaiting anything.
  const [state, setState] = useState<State>(() => {
    const code = takeCode();
    return code === null ? resume() : arrive(code);
  });
  const [isNearExpiry, setNearExpiry] = useState(false);
  const route = useRoute(followLink);
  const session = state.is === 'signed in' ? state.session : null;
  useSearchKey(session === null ? null : memory.current.list);

  /** Returns the console's state according to the stored session. */
  function resume(): State {
    const stored = readSession();
    if (stored === null) return { is: 'signed out', notice: '', byLink: false };
    return isUnexpired(stored) ? signedIn(stored) : signedOut(stored, expiredWords(stored));
  }
  /** Requires confirmation before a link replaces a running session, because any site can send an owner to another user's link. */
  function arrive(code: string): Confirming | { is: 'opening' } {
    pendingCode.current = code;
    const stored = readSession();
    if (stored === null || !isUnexpired(stored)) return { is: 'opening' };
    return { is: 'confirming', attempt: ++attempts.current, stored };
  }
  function signedIn(stored: StoredSession): State {
    const api = connect(stored.key, () => {
      if (currentApi.current !== api) return;
      setState(signedOut(stored, isUnexpired(stored) ? endedWords(stored) : expiredWords(stored)));
    });
    currentApi.current = api;
    return { is: 'signed in', session: { api, stored } };
  }
  /** Clears the stored session and all data read during it. */
  function signedOut(stored: StoredSession, notice: string): SignedOut {
    clearSession();
    currentApi.current = null;
    memory.current = newMemory();
    return { is: 'signed out', notice, byLink: stored.tail === null };
  }

  /** Replaces the browser tab's session, and ends the old one. */
  function begin(stored: StoredSession): void {
    const earlier = readSession();
    storeSession(stored);
    memory.current = newMemory();
    returnUrl.current = stored.returnUrl;
    setState(signedIn(stored));
    if (earlier !== null) endQuietly(earlier);
  }
  /** Begins a session. If a later attempt has started since, ends the new session or drops the failure. */
  async function attempt(signingIn: Promise<StoredSession>): Promise<void> {
    const attempt = ++attempts.current;
    try {
      const stored = await signingIn;
      if (attempt === attempts.current) begin(stored);
      else endQuietly(stored);
    } catch (error) {
      if (attempt === attempts.current) throw error;
    }
  }
  /** Handles a link that is opened while the page is running. */
  function followLink(code: string): void {
    const next = arrive(code);
    currentApi.current = null;
    setState(next);
    if (next.is === 'opening') openPending();
  }
  function openPending(): void {
    const code = pendingCode.current;
    pendingCode.current = null;
    if (code !== null) void open(code);
  }
  function stay(): void {
    pendingCode.current = null;
    setState(resume());
  }
  async function open(code: string): Promise<void> {
    currentApi.current = null;
    setState({ is: 'opening' });
    try {
      await attempt(signInWithCode(code));
    } catch (error) {
      const failure = failureOf(error);
      const retry = isSpent(failure) ? {} : { retry: () => void open(code) };
      setState({ is: 'signed out', notice: refusedLinkWords(failure), byLink: true, ...retry });
    }
  }
  async function signOut({ api, stored }: Session): Promise<void> {
    const next = signedOut(stored, signedOutWords(stored, null));
    replaceAddress(location.pathname);
    setState(next);
    const isEnded = await api.signOut().then(
      () => true,
      (error) => failureOf(error).status === 401,
    );
    setState((last) => (last === next ? { ...next, notice: signedOutWords(stored, isEnded) } : last));
  }

  useLayoutEffect(() => {
    if (state.is === 'opening') openPending();
  }, []);
  useLayoutEffect(() => {
    setNearExpiry(false);
    if (session === null) return;
    const { stored } = session;
    return watchExpiry(
      stored.endsAt,
      () => setNearExpiry(true),
      () => setState(signedOut(stored, expiredWords(stored))),
    );
  }, [session]);

  function viewOf(session: Session): ComponentChildren {
    const shared = { session, query: route.query, memory: memory.current };
    if (route.view === 'businesses') return <BusinessesView {...shared} />;
    if (route.view === 'access') return <AccessView session={session} memory={memory.current} />;
    const { id, tab, part } = route;
    return <BusinessView key={id} {...shared} id={id} tab={tab} part={part} />;
  }
  function content(): ComponentChildren {
    if (state.is === 'opening') return <Loading rows={LOADING_ROWS} />;
    if (state.is === 'signed in') return viewOf(state.session);
    if (state.is === 'confirming')
      return <LinkQuestion key={state.attempt} stored={state.stored} stay={stay} open={openPending} />;
    const { notice, byLink, retry } = state;
    if (!byLink) return <SignIn notice={notice} signIn={(key) => attempt(signInWithKey(key))} />;
    const useKey = () => setState({ is: 'signed out', notice: '', byLink: false });
    return <LinkView notice={notice} retry={retry} earlier={readSession()} stay={stay} useKey={useKey} />;
  }
  return (
    <>
      <button type="button" class="skip" onClick={skipToContent}>
        Skip to content
      </button>
      <header class="bar">
        <a class="home" href={session === null ? '/' : '#/'}>
          {SERVICE_NAME}
        </a>
        {session !== null && (
          <a class="view" href={ACCESS} aria-current={route.view === 'access' ? 'page' : undefined}>
            Access
          </a>
        )}
        {returnUrl.current && isReturnUrl(returnUrl.current) && (
          <a class="return" href={returnUrl.current} rel="noreferrer">
            Back to {new URL(returnUrl.current).host}
          </a>
        )}
        {session !== null && (
          <div class="who">
            {session.stored.readOnly && <span class="mark">Read-only</span>}
            <span class="key">
              {credentialOf(session.stored).kind} <code class="whole">…{credentialOf(session.stored).tail}</code>
            </span>
            <Button class="quiet" onClick={() => void signOut(session)}>
              Sign out
            </Button>
          </div>
        )}
      </header>
      <main>{content()}</main>
      {session !== null && isNearExpiry && (
        <div class="near-end">
          <Notice kind="warning" action={{ label: 'Hide', press: () => setNearExpiry(false) }}>
            {nearExpiryWords(session.stored)}
          </Notice>
        </div>
      )}
    </>
  );
}
