// The change list: its filter, and merging pages that were loaded at different times.
import { describe, expect, test } from 'vitest';
import { append, byDay, filterOf, join, type Read, readPages } from '../../src/page/owner/changes/change-pages.ts';

const change = (id: number, at = '2026-11-22T10:00:00.000000Z') => ({
  id,
  at,
  actor: 'operator',
  key_name: null,
  actor_name: null,
  action: 'add_sites',
  before: null,
  after: null,
});
/** Returns a page with these IDs and the next cursor. */
const page = (ids: number[], next: number | null): Read => ({ changes: ids.map((id) => change(id)), next });
const idsIn = ({ changes, next }: Read) => ({ ids: changes.map(({ id }) => id), next });
const asked = (query: string) => filterOf(new URLSearchParams(query));

describe('the URL of the change list', () => {
  test('sets the filter, and only filter values are sent to the service', () => {
    expect(asked('action=remove_sites&search=+shop+&from=2026-11-01&to=2026-11-01&other=1')).toEqual({
      values: { action: 'remove_sites', search: 'shop', from: '2026-11-01', to: '2026-11-01' },
      sent: { action: 'remove_sites', search: 'shop', from: '2026-11-01', to: '2026-11-01' },
      problems: {},
    });
    expect(asked('search=+&from=')).toEqual({
      values: { action: '', search: '', from: '', to: '' },
      sent: {},
      problems: {},
    });
    expect(asked(`search=${'x'.repeat(255)}`).problems).toEqual({});
  });

  const NO_DAY = 'This is not a valid date. Choose a date in 1970 or later.';
  test.each([
    ['from=2026-02-30', { from: NO_DAY }],
    ['from=yesterday&to=1969-12-31', { from: NO_DAY, to: NO_DAY }],
    ['from=2026-11-02&to=2026-11-01', { to: 'The last day is before the first day.' }],
    ['from=nonsense&to=2026-11-01', { from: NO_DAY }],
    [`search=${'x'.repeat(256)}`, { search: 'Enter at most 255 characters.' }],
    ['action=toString', { action: 'There is no such type of change.' }],
  ])('with %s is reported as invalid', (query, problems) => {
    expect(asked(query).problems).toEqual(problems);
  });
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

describe('a short page', () => {
  const always = () => true;
  /** Stubs a service in which each page ends ten IDs before the end of the previous page. */
  function service(ids: (before: number) => number[]) {
    const befores: (number | null)[] = [];
    const read = async (before: number | null): Promise<Read> => {
      befores.push(before);
      return page(ids(before ?? 100), (before ?? 100) - 10);
    };
    return { read, befores };
  }

  test('is filled from up to five pages if the list is filtered', async () => {
    const { read, befores } = service((before) => [before - 1]);
    expect(idsIn(await readPages(read, null, true, always))).toEqual({ ids: [99, 89, 79, 69, 59], next: 50 });
    expect(befores).toEqual([null, 90, 80, 70, 60]);
  });

  test('is not filled if it is the last page or the list is unfiltered, and neither is a full page', async () => {
    const full = service(() => Array.from({ length: 20 }, (_, index) => index));
    await readPages(full.read, null, true, always);
    expect(full.befores).toEqual([null]);
    const unfiltered = service(() => [1]);
    await readPages(unfiltered.read, 70, false, always);
    expect(unfiltered.befores).toEqual([70]);
    const last = async () => page([3], null);
    expect(idsIn(await readPages(last, null, true, always))).toEqual({ ids: [3], next: null });
  });

  test('is not filled further after the view is closed', async () => {
    const { read, befores } = service(() => []);
    await readPages(read, null, true, () => befores.length < 2);
    expect(befores).toEqual([null, 90]);
  });
});
