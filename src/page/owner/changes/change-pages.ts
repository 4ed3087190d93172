// Parses the filter in the URL, and joins pages that were read at different times.
import type { Change } from '../../../changes/description.ts';
import { MAX_SEARCH_LENGTH } from '../../../changes/rules.ts';
import type { Action } from '../../../core/change.ts';
import { isDay } from '../../../core/time.ts';
import { ACTIONS } from './actions.ts';

/** The filters' names in the URL and in the request's query. */
export const FILTER_FIELDS = ['action', 'search', 'from', 'to'] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

/** `from` and `to` are inclusive. */
export type ChangeFilter = { action?: Action; search?: string; from?: string; to?: string };

/** `sent` is the request's query. No request is sent while the filter has problems. */
export type Filter = {
  values: Record<FilterField, string>;
  sent: ChangeFilter;
  problems: Partial<Record<FilterField, string>>;
};

const NO_DAY = 'This is not a valid date. Choose a date in 1970 or later.';

export function filterOf(query: URLSearchParams): Filter {
  const textOf = (name: FilterField) => (query.get(name) ?? '').trim();
  const values = { action: textOf('action'), search: textOf('search'), from: textOf('from'), to: textOf('to') };
  const { action, search, from, to } = values;
  const problems: Filter['problems'] = {};
  if (action !== '' && !Object.hasOwn(ACTIONS, action)) problems.action = 'There is no such type of change.';
  if (from !== '' && !isDay(from)) problems.from = NO_DAY;
  if (to !== '' && !isDay(to)) problems.to = NO_DAY;
  else if (problems.from === undefined && from !== '' && to !== '' && from > to) {
    problems.to = 'The last day is before the first day.';
  }
  if (search.length > MAX_SEARCH_LENGTH) problems.search = `Enter at most ${MAX_SEARCH_LENGTH} characters.`;
  const sent: ChangeFilter = {
    ...(action !== '' && { action: action as Action }),
    ...(search !== '' && { search }),
    ...(from !== '' && { from }),
    ...(to !== '' && { to }),
  };
  return { values, sent, problems };
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

const PAGE_SIZE = 20;
const MAX_PAGES = 5;

/** Reads a page. If a filtered page is short, reads more pages, up to MAX_PAGES in total. */
export async function readPages(
  read: (before: number | null) => Promise<Read>,
  before: number | null,
  isFiltered: boolean,
  isWanted: () => boolean,
): Promise<Read> {
  let found = await read(before);
  for (let pages = 1; isFiltered && pages < MAX_PAGES && isWanted(); pages++) {
    if (found.next === null || found.changes.length >= PAGE_SIZE) break;
    found = append(found, await read(found.next));
  }
  return found;
}
