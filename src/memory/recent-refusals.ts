// Remembers that the keys of a user were just refused because their allowance was used up, so that callers who do not wait cost the database
// nothing. Never remembers a 401 or a 403, which must be current.
import type { WorkClass } from '../core/work.ts';

/** No `Retry-After` of such a refusal is shorter. */
const KEEP_MS = 1000;
const MAX_REMEMBERED = 1000;

/** A map that forgets its oldest entries. */
class Recent<Value> {
  readonly #values = new Map<string, Value>();
  get = (name: string) => this.#values.get(name);
  set(name: string, value: Value): void {
    this.#values.delete(name); // so that the oldest comes first
    this.#values.set(name, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > MAX_REMEMBERED && oldest !== undefined) this.#values.delete(oldest);
  }
}

export class RecentRefusals {
  /** The users of credentials that were refused, and when they last were. A key never changes its user. */
  readonly #users = new Recent<{ user_id: number; at: number }>();
  readonly #refused = new Recent<{ at: number; error: Error }>();

  /** `credential` is the hash of a key, `user_id` null if its refusal need not hold for the user's other keys, and `now` in milliseconds. */
  add(credential: string, user_id: number | null, kind: WorkClass, error: Error, now: number): void {
    if (user_id !== null) this.#users.set(credential, { user_id, at: now });
    this.#refused.set(`${kind} ${user_id ?? credential}`, { at: now, error });
  }

  /** Throws the refusal of the key, or of another key of its user, again. A key that has waited since its own asks the database. */
  refuseAgain(credential: string, kind: WorkClass, now: number): void {
    const isRecent = ({ at }: { at: number }) => now >= at && now < at + KEEP_MS;
    const own = this.#refused.get(`${kind} ${credential}`);
    if (own !== undefined && isRecent(own)) throw own.error;
    const known = this.#users.get(credential);
    if (known === undefined || !isRecent(known)) return;
    const refused = this.#refused.get(`${kind} ${known.user_id}`);
    if (refused === undefined || !isRecent(refused)) return;
    this.#users.set(credential, { ...known, at: now });
    throw refused.error;
  }
}
