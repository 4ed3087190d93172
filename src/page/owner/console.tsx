// The frame of the console: who is signed in, and which view is shown.
import { useEffect, useRef, useState } from 'hono/jsx/dom';
import { type Api, connect } from './api.ts';
import { BusinessView } from './business.tsx';
import { BusinessesView } from './businesses.tsx';
import { useRoute } from './route.ts';
import { nothingVisited, type Session } from './session.ts';
import { SignIn } from './sign-in.tsx';

const ENDED = 'You were signed out: the key no longer works. It may have expired, or been revoked.';

export function Console() {
  const [session, setSession] = useState<Session | null>(null);
  const [notice, setNotice] = useState('');
  const signedIn = useRef<Api | null>(null);
  const route = useRoute();
  const visited = useRef(nothingVisited());

  async function signIn(key: string): Promise<void> {
    const api = connect(key, () => {
      if (signedIn.current === api) end(ENDED);
    });
    const first = await api.businesses(0);
    signedIn.current = api;
    setNotice('');
    setSession({ api, readOnly: first.read_only, first });
  }
  function end(why: string): void {
    signedIn.current = null;
    visited.current = nothingVisited();
    setNotice(why);
    setSession(null);
  }
  function signOut(): void {
    history.replaceState(null, '', location.pathname);
    dispatchEvent(new HashChangeEvent('hashchange'));
    end('You are signed out, and the key is forgotten.');
  }

  useEffect(() => {
    if (session === null) document.title = 'Sign in · Business Usage and Access';
  }, [session]);

  return (
    <>
      <header class="bar">
        <a class="home" href={session === null ? '/' : '#/'}>
          Business Usage and Access
        </a>
        {session !== null && (
          <div class="who">
            {session.readOnly && <span class="badge">Read only</span>}
            <span class="key">
              Key <code>…{session.api.tail}</code>
            </span>
            <button type="button" class="quiet" onClick={signOut}>
              Sign out
            </button>
          </div>
        )}
      </header>
      <main>
        {session === null ? (
          <SignIn key="sign-in" notice={notice} signIn={signIn} />
        ) : route.view === 'business' ? (
          <BusinessView key={`business-${route.id}`} session={session} id={route.id} />
        ) : (
          <BusinessesView
            key={`after-${route.after}`}
            session={session}
            after={route.after}
            search={route.search}
            visited={visited.current}
          />
        )}
      </main>
    </>
  );
}
