// Watches the clock for a session's expiry.

const WARNING_MS = 5 * 60_000;
/** Timers stop while the computer sleeps, so the clock is checked often. */
const CHECK_MS = 5000;

/** Calls `onNear` once, five minutes before `endsAt`, and `onEnd` at `endsAt`. Returns a function that stops watching. */
export function watchExpiry(endsAt: number, onNear: () => void, onEnd: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let hasWarned = false;
  function check(): void {
    const left = endsAt - Date.now();
    if (left <= 0) {
      onEnd();
      return;
    }
    if (left <= WARNING_MS && !hasWarned) {
      hasWarned = true;
      onNear();
    }
    timer = setTimeout(check, Math.min(left, CHECK_MS));
  }
  check();
  return () => clearTimeout(timer);
}
