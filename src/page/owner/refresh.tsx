// When what is shown was read, and reading it again: on request, and when the tab is shown again after a minute.
import { useEffect, useRef, useState } from 'hono/jsx/dom';
import { clockTime } from './formats.ts';
import { Button } from './parts.tsx';

const STALE_MS = 60_000;

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
      if (document.visibilityState === 'visible' && Date.now() - (askedAt.current ?? 0) >= STALE_MS) refresh();
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
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
