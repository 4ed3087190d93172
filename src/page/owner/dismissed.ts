// The refused origins that owners dismissed, by business. This browser stores them, so they survive a reload.
import type { RefusedOrigin } from '../../sites/description.ts';

const ITEM = 'dismissed';

type Dismissed = Record<number, string[]>;

/** The fallback for browsers that block localStorage. */
let inMemory: Dismissed = {};

function readAll(): Dismissed {
  try {
    return JSON.parse(localStorage.getItem(ITEM) ?? '{}');
  } catch {
    return inMemory;
  }
}

export const dismissedOf = (business_id: number): ReadonlySet<string> => new Set(readAll()[business_id]);

export function storeDismissed(business_id: number, origins: ReadonlySet<string>): void {
  inMemory = { ...readAll(), [business_id]: [...origins] };
  try {
    localStorage.setItem(ITEM, JSON.stringify(inMemory));
  } catch {}
}

/** Returns the origins that the console counts, in the list and in the business's view. */
export const notDismissed = (refused: RefusedOrigin[], dismissed: ReadonlySet<string>): RefusedOrigin[] =>
  refused.filter(({ origin }) => !dismissed.has(origin));
