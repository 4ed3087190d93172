// When what is shown was read, and reading it again: on request, when the tab is shown again after a minute, and when a new day begins.
import { useEffect, useRef, useState } from 'preact/hooks';
import { DAY_MS } from '../../core/time.ts';
import { now } from './clock.ts';
import { clockTime } from './formats.ts';
import { Button } from './parts.tsx';

const STALE_MS = 60_000;
/** The header `Date` has whole seconds, and an answer takes a moment. */
const AFTER_MIDNIGHT_MS = 5000;

/** `revision` counts the requests to read again. */
export function useRefresh(): { revision: number; refresh: () => void } {
  const [revision, setRevision] = useState(0);
  const askedAt = useRef(Date.now());
  const refresh = () => {
    askedAt.current = Date.now();
    setRevision((count) => count + 1);
  };
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible' && Date.now() - askedAt.current >= STALE_MS) refresh();
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  // At midnight, UTC, today becomes another day, and limits of a day begin again.
  useEffect(() => {
    const timer = setTimeout(refresh, DAY_MS - (now() % DAY_MS) + AFTER_MIDNIGHT_MS);
    return () => clearTimeout(timer);
  }, [revision]);
  return { revision, refresh };
}

type Props = {
  /** When the oldest part of what is shown was read, in milliseconds since 1970. Null: not all of it is there. */
  readAt: number | null;
  isBusy: boolean;
  refresh: () => void;
};

export function Refresh({ readAt, isBusy, refresh }: Props) {
  return (
    <p class="refresh">
      <span>{readAt !== null && `Updated ${clockTime(readAt)}`}</span>
      <Button class="quiet" busy={isBusy} onClick={refresh}>
        Refresh
      </Button>
    </p>
  );
}
