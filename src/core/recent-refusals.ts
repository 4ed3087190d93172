// Remembers the credentials that were just refused because their owner had used up an allowance, so that a caller who does not wait costs
// the database nothing. Never remembers a 401 or a 403, which must be current.
import type { WorkClass } from './work.ts';

/** No `Retry-After` of such a refusal is shorter. */
const KEEP_MS = 1000;
const MAX_REMEMBERED = 1000;

export class RecentRefusals {
  readonly #refused = new Map<string, { at: number; error: Error }>();

  /** `credential` is the hash of a key, and `now` in milliseconds. */
  add(credential: string, kind: WorkClass, error: Error, now: number): void {
    const name = `${kind} ${credential}`;
    this.#refused.delete(name); // so that the oldest comes first
    this.#refused.set(name, { at: now, error });
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > MAX_REMEMBERED && oldest !== undefined) this.#refused.delete(oldest);
  }

  /** Throws the refusal again if it is recent. */
  refuseAgain(credential: string, kind: WorkClass, now: number): void {
    const refused = this.#refused.get(`${kind} ${credential}`);
    if (refused === undefined) return;
    const age = now - refused.at;
    if (age >= 0 && age < KEEP_MS) throw refused.error;
  }
}
