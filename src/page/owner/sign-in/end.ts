// The end of a session comes by the clock.

const NOTICE_MS = 5 * 60_000;
/** A computer that sleeps stops the timers of a page, so the clock is looked at often. */
const LOOK_MS = 30_000;

/** Calls `onNear` once when the end is five minutes away or less, and `onEnd` when it has come. Returns what stops that. */
export function watchEnd(endsAt: number, onNear: () => void, onEnd: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let isTold = false;
  function look(): void {
    clearTimeout(timer);
    const left = endsAt - Date.now();
    if (left <= 0) {
      onEnd();
      return;
    }
    if (left <= NOTICE_MS && !isTold) {
      isTold = true;
      onNear();
    }
    timer = setTimeout(look, Math.min(left, LOOK_MS));
  }
  look();
  document.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  };
}
