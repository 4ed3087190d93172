// The change list: its filter, and merging pages that were loaded at different times.
import { describe, expect, test } from 'vitest';
import { append, byDay, filterOf, join, type Read } from '../../src/page/owner/changes/change-pages.ts';

const change = (id: number, at = '2026-11-22T10:00:00.000000Z') => ({
  id,
  at,
  actor: 'operator (…abcd)',
  key_name: null,
  actor_name: null,
  action: 'add_sites',
  before: null,
  after: null,
});
/** Returns a page with these IDs and the next cursor. */
const page = (ids: number[], next: number | null): Read => ({ changes: ids.map((id) => change(id)), next });
const idsIn = ({ changes, next }: Read) => ({ ids: changes.map(({ id }) => id), next });

test('the filter in the URL is sent to the service, without actions and days that do not exist', () => {
  const asked = (query: string) => filterOf(new URLSearchParams(query));
  const all = { action: 'remove_sites', search: 'shop', from: '2026-11-01', to: '2026-11-01' };
  expect(asked('action=remove_sites&search=+shop+&from=2026-11-01&to=2026-11-01&other=1')).toEqual(all);
  expect(asked('action=toString&search=+&from=2026-02-30&to=1969-12-31')).toEqual({});
});

describe('a reloaded page', () => {
  test.each<[string, Read, Read | null, ReturnType<typeof idsIn>]>([
    ['is shown alone if no older changes were loaded', page([9, 8], 8), null, { ids: [9, 8], next: 8 }],
    ['keeps older changes that overlap with it', page([9, 8], 8), page([8, 7, 6], 6), { ids: [9, 8, 7, 6], next: 6 }],
    ['keeps older changes that follow it directly', page([9, 8], 8), page([7, 6], 6), { ids: [9, 8, 7, 6], next: 6 }],
    ['drops older changes after a gap', page([9, 8], 8), page([6, 5], 5), { ids: [9, 8], next: 8 }],
    ['keeps the end of the list', page([9, 8], 8), page([8, 7, 1], null), { ids: [9, 8, 7, 1], next: null }],
    ['replaces loaded changes within its range', page([9, 5], 5), page([8, 7], 7), { ids: [9, 5], next: 5 }],
    ['replaces everything if it is the whole list', page([9, 5], null), page([8, 7], 7), { ids: [9, 5], next: null }],
    ['drops an empty loaded page', page([9, 8], 8), page([], 3), { ids: [9, 8], next: 8 }],
  ])('%s', (_, now, known, joined) => {
    expect(idsIn(join(now, known))).toEqual(joined);
  });
});

test('older changes are appended with their cursor', () => {
  expect(idsIn(append(page([9, 8], 8), page([7], null)))).toEqual({ ids: [9, 8, 7], next: null });
});

test('changes are grouped by day in UTC', () => {
  const [late, early, before] = [
    change(3, '2026-11-22T23:59:59.999000Z'),
    change(2, '2026-11-22T00:00:00.000000Z'),
    change(1, '2026-11-21T23:59:59.999000Z'),
  ];
  expect(byDay([late, early, before])).toEqual([
    { day: '2026-11-22', changes: [late, early] },
    { day: '2026-11-21', changes: [before] },
  ]);
});
