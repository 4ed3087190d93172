// Debounces typed input, which is incomplete until the owner pauses.
import { useLayoutEffect, useRef } from 'preact/hooks';

const DELAY_MS = 500;

type Debounce = {
  /** Calls `callback` after a pause. */
  schedule: () => void;
  /** Calls `callback` now if a call is pending. */
  flush: () => void;
  /** Drops the pending call. */
  cancel: () => void;
};

export function useDebounce(callback: () => void): Debounce {
  const timer = useRef<number | undefined>(undefined);
  function cancel(): void {
    clearTimeout(timer.current);
    timer.current = undefined;
  }
  function flush(): void {
    if (timer.current === undefined) return;
    cancel();
    callback();
  }
  function schedule(): void {
    cancel();
    timer.current = window.setTimeout(flush, DELAY_MS);
  }
  useLayoutEffect(() => cancel, []);
  return { schedule, flush, cancel };
}
