// The console's frame: handles sessions, and shows the current route's view.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isReturnUrl } from '../../sessions/rules.ts';
import { connect, signInWithCode, signInWithKey } from './api.ts';
import { BusinessView } from './business.tsx';
import { KeysView } from './keys/keys.tsx';
import { BusinessesView } from './list/businesses.tsx';
import { useSearchKey } from './list/search-key.ts';
import { Button, Loading, Notice } from './parts.tsx';
import { failureOf } from './query.ts';
import { KEYS, replaceAddress, takeCode, useRoute } from './route.ts';
import { SERVICE_NAME } from './service-name.ts';
import { newMemory, type Session } from './session.ts';
import { watchExpiry } from './sign-in/expiry.ts';
import { LinkQuestion, LinkView } from './sign-in/link-views.tsx';
import { SignIn } from './sign-in/sign-in.tsx';
import { clearSession, credentialOf, isUnexpired, readSession, type StoredSession, storeSession } from './storage.ts';
import {
  endedWords,
  expiredWords,
  isUsedUp,
  nearExpiryWords,
  notEndedWords,
  refusedLinkWords,
  signedOutWords,
} from './words.ts';

const LOADING_ROWS = 6;

/** `retry` opens a failed link again. */
type SignedOut = { is: 'signed out'; notice: string; byLink: boolean; retry?: () => void };
/** A link was followed. */
type Opening = { is: 'opening'; code: string };
/** A link was followed during a session. */
type Confirming = { is: 'confirming'; code: string; stored: StoredSession };
type State = SignedOut | Opening | Confirming | { is: 'signed in'; session: Session };

/** Ends a session. Ignores failures: the session expires anyway, and its key is not stored. */
function endQuietly({ key }: StoredSession): void {
  connect(key, () => {})
    .signOut()
    .catch(() => {});
}

/** Focuses the view's title. A link to the title would replace the route in the URL. */
const skipToContent = (): void => document.querySelector<HTMLElement>('main:not(:has(.room)) h1, .room h2')?.focus();

export function Console() {
  const memory = useRef(newMemory());
  /**
   * The return URL of the last session in this browser tab. The header still links to it after that session has ended. The header validates
   * the URL again, so nothing in sessionStorage can become a script.
   */
  const returnUrl = useRef(readSession()?.returnUrl);
  // Removes the code from the URL first, before awaiting anything.
  const [state, setState] = useState<State>(() => {
    const code = takeCode();
    return code === null ? resume() : arrive(code);
  });
  const [isNearExpiry, setNearExpiry] = useState(false);
  const route = useRoute((code) => setState(arrive(code)));
  const session = state.is === 'signed in' ? state.session : null;
  useSearchKey(session === null ? null : memory.current.list);

  /** Returns the console's state according to the stored session. */
  function resume(): State {
    const stored = readSession();
    if (stored === null) return { is: 'signed out', notice: '', byLink: false };
    return isUnexpired(stored) ? signedIn(stored) : signedOut(stored, expiredWords(stored));
  }
  /** Requires confirmation before a link replaces a running session, because any site can send an owner to another user's link. */
  function arrive(code: string): Confirming | Opening {
    const stored = readSession();
    const isRunning = stored !== null && isUnexpired(stored);
    return isRunning ? { is: 'confirming', code, stored } : { is: 'opening', code };
  }
  function signedIn(stored: StoredSession): State {
    const api = connect(stored.key, () => {
      if (readSession()?.key !== stored.key) return; // a late response to another session
      setState(signedOut(stored, isUnexpired(stored) ? endedWords(stored) : expiredWords(stored)));
    });
    return { is: 'signed in', session: { api, stored } };
  }
  /** Clears the stored session and all data read during it. */
  function signedOut(stored: StoredSession, notice: string): SignedOut {
    clearSession();
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
  const stay = (): void => setState(resume());
  async function signOut({ api, stored }: Session): Promise<void> {
    const next = signedOut(stored, signedOutWords(stored));
    replaceAddress(location.pathname);
    setState(next);
    const isEnded = await api.signOut().then(
      () => true,
      (error) => failureOf(error).status === 401,
    );
    if (!isEnded) setState((last) => (last === next ? { ...next, notice: notEndedWords(stored) } : last));
  }

  // Opens a link. If another link is followed meanwhile, ends the session of the first.
  useLayoutEffect(() => {
    if (state.is !== 'opening') return;
    const { code } = state;
    let isLatest = true;
    signInWithCode(code).then(
      (stored) => (isLatest ? begin(stored) : endQuietly(stored)),
      (error) => {
        const failure = failureOf(error);
        const retry = isUsedUp(failure) ? {} : { retry: () => setState({ is: 'opening', code }) };
        if (isLatest) setState({ is: 'signed out', notice: refusedLinkWords(failure), byLink: true, ...retry });
      },
    );
    return () => {
      isLatest = false;
    };
  }, [state]);
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
    if (route.view === 'keys') return <KeysView session={session} memory={memory.current} />;
    const { id, tab, part } = route;
    return <BusinessView key={id} {...shared} id={id} tab={tab} part={part} />;
  }
  function content(): ComponentChildren {
    if (state.is === 'opening') return <Loading rows={LOADING_ROWS} />;
    if (state.is === 'signed in') return viewOf(state.session);
    if (state.is === 'confirming') {
      const { code, stored } = state;
      return <LinkQuestion key={code} stored={stored} stay={stay} open={() => setState({ is: 'opening', code })} />;
    }
    const { notice, byLink, retry } = state;
    if (!byLink) return <SignIn notice={notice} signIn={async (key) => begin(await signInWithKey(key))} />;
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
          <a class="view" href={KEYS} aria-current={route.view === 'keys' ? 'page' : undefined}>
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
      <div class="near-end">
        <Notice kind="warning" action={{ label: 'Hide', press: () => setNearExpiry(false) }}>
          {session !== null && isNearExpiry && nearExpiryWords(session.stored)}
        </Notice>
      </div>
    </>
  );
}
