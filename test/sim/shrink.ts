// Finds a short list of steps that still fails.

/** Removes as many members as it can while `fails` holds, in halves, then in smaller parts, until `end` (milliseconds since 1970). */
export async function shrink<T>(all: T[], fails: (some: T[]) => Promise<boolean>, end: number): Promise<T[]> {
  let kept = all;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    // From the end, because what a failure needs is often its last steps.
    for (let start = kept.length - size; start > -size; start -= size) {
      if (Date.now() > end) return kept;
      const without = kept.toSpliced(Math.max(0, start), size + Math.min(0, start));
      if (without.length < kept.length && (await fails(without))) kept = without;
    }
  }
  return kept;
}
