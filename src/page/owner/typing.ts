// What somebody types is taken when the typing pauses: a field passes through text that nobody means.
import { useLayoutEffect, useRef } from 'preact/hooks';

const PAUSE_MS = 500;

type Typing = {
  /** Waits for a pause, then calls `take`, unless the address has changed meanwhile. */
  wait: () => void;
  /** Calls `take` now if it is still to be called. */
  finish: () => void;
  /** `take` is not called any more. */
  drop: () => void;
};

export function useTyping(take: () => void): Typing {
  const timer = useRef<number | undefined>(undefined);
  function drop(): void {
    clearTimeout(timer.current);
    timer.current = undefined;
  }
  function finish(): void {
    if (timer.current === undefined) return;
    drop();
    take();
  }
  function wait(): void {
    const { hash } = location;
    drop();
    timer.current = window.setTimeout(() => location.hash === hash && finish(), PAUSE_MS);
  }
  useLayoutEffect(() => drop, []);
  return { wait, finish, drop };
}
