// Parses the filter in the URL, and joins pages that were read at different times.
import type { Change } from '../../../changes/description.ts';
import type { Action } from '../../../core/change.ts';
import { isDay } from '../../../core/time.ts';
import type { ChangeFilter, FilterField } from '../change-filter.ts';
import { ACTION_WORDS } from './actions.ts';

/** Parses the query in the URL's hash. Ignores actions and days that do not exist. */
export function filterOf(query: URLSearchParams): ChangeFilter {
  const textOf = (name: FilterField) => (query.get(name) ?? '').trim();
  const [action, search, from, to] = [textOf('action'), textOf('search'), textOf('from'), textOf('to')];
  return {
    ...(Object.hasOwn(ACTION_WORDS, action) && { action: action as Action }),
    ...(search !== '' && { search }),
    ...(isDay(from) && { from }),
    ...(isDay(to) && { to }),
  };
}

/**
 * Consecutive changes, newest first. `next` is the cursor. All changes with this id or a higher one have been read. It is null at the end
 * of the list.
 */
export type Read = { changes: Change[]; next: number | null };

/** `older` starts where `newer` ends. */
export const append = (newer: Read, older: Read): Read => ({
  changes: [...newer.changes, ...older.changes],
  next: older.next,
});

/** Joins a new page with the known changes below it. Drops the known changes if there is a gap, because the list cannot show it. */
export function join(now: Read, known: Read | null): Read {
  if (known === null || now.next === null) return now;
  if (known.next !== null && known.next >= now.next) return now;
  const { next } = now;
  const newest = known.changes[0];
  if (newest === undefined || newest.id + 1 < next) return now;
  return { changes: [...now.changes, ...known.changes.filter(({ id }) => id < next)], next: known.next };
}

/** Groups changes by UTC day. */
export function byDay(changes: readonly Change[]): { day: string; changes: Change[] }[] {
  const days: { day: string; changes: Change[] }[] = [];
  for (const change of changes) {
    const day = change.at.slice(0, 10);
    const last = days.at(-1);
    if (last?.day === day) last.changes.push(change);
    else days.push({ day, changes: [change] });
  }
  return days;
}
