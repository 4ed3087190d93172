// Refreshes a view: on request, when the browser tab becomes visible a minute or more after the last refresh, when a new day begins, and
// after a failure. What has been read stays on the page.
import { useEffect, useRef, useState } from 'preact/hooks';
import { DAY_MS } from '../../core/time.ts';
import type { Failure } from './api.ts';
import { now } from './clock.ts';
import { clockTime } from './formats.ts';
import { Button } from './parts.tsx';

const STALE_MS = 60_000;
/** The service's clock is known only to within a few seconds: the `Date` header contains whole seconds, and a response takes time. */
const AFTER_MIDNIGHT_MS = 5000;

/** `revision` counts the refreshes. */
export function useRefresh(): { revision: number; refresh: () => void } {
  const [revision, setRevision] = useState(0);
  const refreshedAt = useRef(Date.now());
  const refresh = () => {
    refreshedAt.current = Date.now();
    setRevision((count) => count + 1);
  };
  useEffect(() => {
    const check = () => {
      if (document.visibilityState === 'visible' && Date.now() - refreshedAt.current >= STALE_MS) refresh();
    };
    document.addEventListener('visibilitychange', check);
    return () => document.removeEventListener('visibilitychange', check);
  }, []);
  // Midnight UTC starts a new day and resets the daily limits.
  useEffect(() => {
    const timer = setTimeout(refresh, DAY_MS - (now() % DAY_MS) + AFTER_MIDNIGHT_MS);
    return () => clearTimeout(timer);
  }, [revision]);
  return { revision, refresh };
}

type Props = {
  /** The time when the oldest part of the view was read, in milliseconds since 1970, or null until every part has been read. */
  readAt: number | null;
  isBusy: boolean;
  /** Why a part of the view could not be read. */
  failure: Failure | null;
  refresh: () => void;
};

/** After a failure, refreshes when the service allows it, or when the computer is online again. */
export function Refresh({ readAt, isBusy, failure, refresh }: Props) {
  const failed = useRef(false);
  if (!isBusy) failed.current = failure !== null; // a retry leaves the words as they are
  useEffect(() => {
    if (failure === null) return;
    const { seconds } = failure;
    const timer = seconds === null ? undefined : setTimeout(refresh, seconds * 1000);
    addEventListener('online', refresh);
    return () => {
      clearTimeout(timer);
      removeEventListener('online', refresh);
    };
  }, [failure]);
  const isStale = failed.current && readAt !== null;
  return (
    <p class="refresh">
      {isStale && <span role="alert">Could not refresh. Showing {clockTime(readAt)}.</span>}
      {!isStale && <span>{readAt !== null && `Updated ${clockTime(readAt)}`}</span>}
      <Button class="quiet" busy={isBusy} onClick={refresh}>
        {isStale ? 'Try again' : 'Refresh'}
      </Button>
    </p>
  );
}
