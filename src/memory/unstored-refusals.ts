// Counts the uses that limits refused until they are stored: at most ten times a minute for each business, however many are refused. What a
// Worker has not stored when it ends is lost, so what is stored is exact for one Worker and a lower bound for several.
const EVERY_MS = 6000;
/** After this time, what should have stored a count has ended without doing so. */
const LATE_MS = 10_000;

export class UnstoredRefusals {
  readonly #counts = new Map<string, { uses: number; storedAt: number; expectedBy: number }>();

  /** Counts `uses`. Returns after how many ms the caller must take the count and store it, or null if an earlier caller will. */
  add(business_id: number, day: string, uses: number, now: number): number | null {
    const name = `${business_id} ${day}`;
    const count = this.#counts.get(name) ?? { uses: 0, storedAt: now - EVERY_MS, expectedBy: now };
    this.#counts.delete(name); // so that the oldest come first
    this.#forgetOld(now);
    this.#counts.set(name, count);
    count.uses += uses;
    if (now < count.expectedBy) return null;
    const wait = Math.max(0, count.storedAt + EVERY_MS - now);
    count.expectedBy = now + wait + LATE_MS;
    return wait;
  }

  /** Returns the count and starts again at 0. */
  take(business_id: number, day: string, now: number): number {
    const count = this.#counts.get(`${business_id} ${day}`);
    if (count === undefined) return 0;
    const { uses } = count;
    Object.assign(count, { uses: 0, storedAt: now, expectedBy: now });
    return uses;
  }

  /** Also forgets what nobody stored in time. Otherwise, one such count would keep all later ones in memory. */
  #forgetOld(now: number): void {
    for (const [name, { storedAt, expectedBy }] of this.#counts) {
      if (now < Math.max(expectedBy, storedAt + EVERY_MS)) return;
      this.#counts.delete(name);
    }
  }
}
