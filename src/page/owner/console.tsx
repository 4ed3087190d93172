// The frame of the console: who is signed in and for how long, and which view is shown.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Api, beginWithCode, beginWithKey, connect } from './api.ts';
import { BusinessView } from './business.tsx';
import { BusinessesView } from './list/businesses.tsx';
import { useSearchKey } from './list/search-key.ts';
import { Loading, Notice } from './parts.tsx';
import { failureOf } from './query.ts';
import { replaceAddress, useRoute } from './route.ts';
import { SERVICE_NAME } from './service-name.ts';
import { newMemory, type Session } from './session.ts';
import { watchEnd } from './sign-in/end.ts';
import { forgetSession, isRunning, type KeptSession, keepSession, keptSession, namedBy } from './sign-in/kept.ts';
import { takeCode } from './sign-in/link.ts';
import { LinkQuestion } from './sign-in/link-question.tsx';
import { LinkView } from './sign-in/link-view.tsx';
import { ReturnLink } from './sign-in/return-link.tsx';
import { SignIn } from './sign-in/sign-in.tsx';
import { endedWords, isSpent, nearEndWords, overWords, refusedLinkWords, signedOutWords } from './words.ts';

const LOADING_ROWS = 6;

/** Somebody who is not signed in, and what they are told. `again` opens a link once more. */
type SignedOut = { is: 'signed out'; notice: string; byLink: boolean; again?: () => void };
/** Somebody who is signed in, and has come by a link. */
type Asking = { is: 'asking'; turn: number; kept: KeptSession };
type State = SignedOut | { is: 'opening' } | Asking | { is: 'signed in'; session: Session };

/** If the service cannot be told, the session ends by itself. Nobody has its key any more. */
function endQuietly({ key }: KeptSession): void {
  connect(key, () => {})
    .signOut()
    .catch(() => {});
}

/** To the title of what is shown. A link to it would change the address, which says what that is. */
const skip = (): void => document.querySelector<HTMLElement>('main:not(:has(.room)) h1, .room h2')?.focus();

export function Console() {
  const current = useRef<Api | null>(null);
  const memory = useRef(newMemory());
  const attempts = useRef(0);
  /** Of the last session of the tab. It stays in the header when that has ended. */
  const returnUrl = useRef(keptSession()?.returnUrl);
  /** The code of a link that has come and was not opened yet. It is in no state, which would stay in memory. */
  const pending = useRef<string | null>(null);
  // Before anything else, and before anything is awaited, the code leaves the address.
  const [state, setState] = useState<State>(() => {
    const code = takeCode();
    return code === null ? resumed() : arrived(code);
  });
  const [isNearEnd, setNearEnd] = useState(false);
  const route = useRoute(follow);
  const session = state.is === 'signed in' ? state.session : null;
  useSearchKey(session === null ? null : memory.current.list);

  /** The state in which a tab starts, or goes on after a link that did not replace its session. */
  function resumed(): State {
    const kept = keptSession();
    if (kept === null) return { is: 'signed out', notice: '', byLink: false };
    return isRunning(kept) ? signedIn(kept) : signedOut(kept, overWords(kept));
  }
  /**
   * Any site can send somebody to a link, also to one for another user. So they are asked before it takes the place of a session
   * that still runs.
   */
  function arrived(link: string): Asking | { is: 'opening' } {
    pending.current = link;
    const kept = keptSession();
    return kept !== null && isRunning(kept) ? { is: 'asking', turn: ++attempts.current, kept } : { is: 'opening' };
  }
  function signedIn(kept: KeptSession): State {
    const api = connect(kept.key, () => {
      if (current.current !== api) return;
      setState(signedOut(kept, isRunning(kept) ? endedWords(kept) : overWords(kept)));
    });
    current.current = api;
    return { is: 'signed in', session: { api, kept } };
  }
  /** Nothing of a session stays: not in the tab's storage, and nothing that was shown. */
  function signedOut(kept: KeptSession, notice: string): SignedOut {
    forgetSession();
    current.current = null;
    memory.current = newMemory();
    return { is: 'signed out', notice, byLink: kept.tail === null };
  }

  /** The session takes the place of the one that the tab had, which ends. */
  function begin(kept: KeptSession): void {
    const earlier = keptSession();
    keepSession(kept);
    memory.current = newMemory();
    returnUrl.current = kept.returnUrl;
    setState(signedIn(kept));
    if (earlier !== null) endQuietly(earlier);
  }
  /** Waits for a session to begin. The last attempt counts: an earlier one that is answered later ends, and its failure is dropped. */
  async function attempt(beginning: Promise<KeptSession>): Promise<void> {
    const turn = ++attempts.current;
    try {
      const kept = await beginning;
      if (turn === attempts.current) begin(kept);
      else endQuietly(kept);
    } catch (error) {
      if (turn === attempts.current) throw error;
    }
  }
  /** For a link that comes while the page is open. */
  function follow(link: string): void {
    const next = arrived(link);
    current.current = null;
    setState(next);
    if (next.is === 'opening') openPending();
  }
  function openPending(): void {
    const link = pending.current;
    pending.current = null;
    if (link !== null) void open(link);
  }
  function stay(): void {
    pending.current = null;
    setState(resumed());
  }
  async function open(link: string): Promise<void> {
    current.current = null;
    setState({ is: 'opening' });
    try {
      await attempt(beginWithCode(link));
    } catch (error) {
      const failure = failureOf(error);
      const again = isSpent(failure) ? {} : { again: () => void open(link) };
      setState({ is: 'signed out', notice: refusedLinkWords(failure), byLink: true, ...again });
    }
  }
  async function signOut({ api, kept }: Session): Promise<void> {
    const told = signedOut(kept, signedOutWords(kept, null));
    replaceAddress(location.pathname);
    setState(told);
    const isEnded = await api.signOut().then(
      () => true,
      (error) => failureOf(error).status === 401,
    );
    setState((last) => (last === told ? { ...told, notice: signedOutWords(kept, isEnded) } : last));
  }

  useLayoutEffect(() => {
    if (state.is === 'opening') openPending();
  }, []);
  useLayoutEffect(() => {
    setNearEnd(false);
    if (session === null) return;
    const { kept } = session;
    return watchEnd(
      kept.endsAt,
      () => setNearEnd(true),
      () => setState(signedOut(kept, overWords(kept))),
    );
  }, [session]);

  function viewOf(session: Session): ComponentChildren {
    const shared = { session, query: route.query, memory: memory.current };
    if (route.view === 'businesses') return <BusinessesView {...shared} />;
    const { id, room, part } = route;
    return <BusinessView key={id} {...shared} id={id} room={room} part={part} />;
  }
  function viewNow(): ComponentChildren {
    if (state.is === 'opening') return <Loading rows={LOADING_ROWS} />;
    if (state.is === 'signed in') return viewOf(state.session);
    if (state.is === 'asking')
      return <LinkQuestion key={state.turn} kept={state.kept} stay={stay} open={openPending} />;
    const { notice, byLink, again } = state;
    if (!byLink) return <SignIn notice={notice} signIn={(key) => attempt(beginWithKey(key))} />;
    const useKey = () => setState({ is: 'signed out', notice: '', byLink: false });
    return <LinkView notice={notice} again={again} earlier={keptSession()} stay={stay} useKey={useKey} />;
  }
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <header class="bar">
        <a class="home" href={session === null ? '/' : '#/'}>
          {SERVICE_NAME}
        </a>
        <ReturnLink url={returnUrl.current} />
        {session !== null && (
          <div class="who">
            {session.kept.readOnly && <span class="mark">Read only</span>}
            <span class="key">
              {namedBy(session.kept).kind} <code>…{namedBy(session.kept).tail}</code>
            </span>
            <button type="button" class="quiet" onClick={() => void signOut(session)}>
              Sign out
            </button>
          </div>
        )}
      </header>
      <main>{viewNow()}</main>
      {session !== null && isNearEnd && (
        <div class="near-end">
          <Notice kind="warning" action={{ label: 'Hide', press: () => setNearEnd(false) }}>
            {nearEndWords(session.kept)}
          </Notice>
        </div>
      )}
    </>
  );
}
