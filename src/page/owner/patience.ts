// Waits for the owner's allowance.
import { Failure } from './api.ts';

/** Longer waits, and more of them, are failures, as are all others. */
const [MAX_WAIT_SECONDS, MAX_WAITS] = [5, 60];

/**
 * Reads a page, again after each wait while the owner's allowance is used up: thousands of businesses are more pages than it permits at once.
 */
export async function patiently<T>(read: () => Promise<T>, isWanted = () => true): Promise<T> {
  for (let waits = 0; ; waits++)
    try {
      return await read();
    } catch (error) {
      const seconds = (error instanceof Failure && error.status === 429 && error.seconds) || Number.POSITIVE_INFINITY;
      if (seconds > MAX_WAIT_SECONDS || waits === MAX_WAITS) throw error;
      await new Promise((done) => setTimeout(done, seconds * 1000));
      if (!isWanted()) throw error;
    }
}
