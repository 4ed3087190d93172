// The list of businesses in the console: searching, sorting, and joining its pages.
import { describe, expect, test } from 'vitest';
import type { ListedBusiness } from '../../src/business/description.ts';
import { addDays } from '../../src/core/time.ts';
import { filterOf, matchesFilter } from '../../src/page/owner/list/attention.ts';
import { indexBusinesses, searchBusinesses } from '../../src/page/owner/list/find.ts';
import { ordered, orderOf } from '../../src/page/owner/list/order.ts';
import { type Listing, NOTHING_READ, restart, withPage } from '../../src/page/owner/listing.ts';
import { unicodeDomain } from '../../src/page/owner/punycode.ts';
import { limitsWith, listedBusiness } from '../business.ts';

/** Returns the 57 days up to 30 March 2026. `counts` are the counts of the last of these days. */
const days = (...counts: number[]) =>
  Array.from({ length: 57 }, (_, index) => ({
    date: addDays('2026-03-30', index - 56),
    count: counts[index - 57 + counts.length] ?? 0,
  }));
const business = (id: number, name: string, more: Partial<ListedBusiness> = {}) =>
  listedBusiness({ id, name, main_domain: `shop-${id}.example`, used: days(), ...more });

describe('a search', () => {
  const many = [
    business(1, 'Zürich Café'),
    business(2, 'Große Bäckerei'),
    business(3, 'Søren & Łukasz', { main_domain: 'xn--zrich-kva.example' }),
    business(12, 'Shop 4'),
    business(44, 'Cafe Roma', { main_domain: 'roma.example' }),
  ];
  test.each([
    ['cafe zurich', [1]],
    ['Cafe\u0301', [1, 44]],
    ['grosse backerei', [2]],
    ['soren lukasz', [3]],
    ['zürich', [1, 3]],
    ['xn--zrich', [3]],
    ['roma.example cafe', [44]],
    ['44', [44]],
    ['1 4', [12]],
    ['3 4', []],
    ['12 shop', [12]],
    ['.*', []],
    [' ', [1, 2, 3, 12, 44]],
  ])('for %j finds the businesses %j', (wanted, ids) => {
    expect(searchBusinesses(indexBusinesses(many), wanted).map(({ id }) => id)).toEqual(ids);
  });
});

test.each([
  ['www.xn--bcher-kva.xn--p1ai', 'www.bücher.рф'],
  ['xn--fiqs8s.example', '中国.example'],
  ['plain.example', 'plain.example'],
  ['xn--', 'xn--'],
  ['xn--a-.example', 'xn--a-.example'],
  ['xn--99999999.example', 'xn--99999999.example'],
])('the domain %s is displayed as %s', (domain, shown) => {
  expect(unicodeDomain(domain)).toBe(shown);
});

describe('the sort order', () => {
  const ids = (list: readonly ListedBusiness[]) => list.map(({ id }) => id);
  test('by name is numeric, ignores case and accents, and breaks ties by id', () => {
    const names = ['Shop 10', 'emil', 'Émile', 'shop 9', 'Zoo', 'EMIL', 'Äpfel', 'apfel'];
    const list = names.map((name, index) => business(index + 1, name));
    expect(ids(ordered(list, 'name'))).toEqual([7, 8, 2, 6, 3, 4, 1, 5]);
    expect(ids(ordered(list.toReversed(), 'name'))).toEqual([7, 8, 2, 6, 3, 4, 1, 5]);
  });
  test('by uses, growth or change is descending and breaks ties by name', () => {
    const four = (count: number) => Array.from({ length: 28 }, () => count);
    const list = [
      business(1, 'B', { used: days(9), updated_at: '2026-02-02T10:00:00.000Z' }),
      business(2, 'A', { used: days(...four(2), ...four(1).with(27, 0)), updated_at: '2026-02-02T09:59:59.999Z' }),
      business(3, 'C', { used: days(...four(1), ...four(2).with(27, 0)), updated_at: '2026-02-03T00:00:00.000Z' }),
      business(4, 'D', { used: days(3, 0), updated_at: '2026-02-01T00:00:00.000Z' }),
      business(5, 'E', { used: days(1, 0), updated_at: '2026-02-01T00:00:00.000Z' }),
    ];
    expect(ids(ordered(list, 'uses'))).toEqual([3, 2, 4, 5, 1]);
    expect(ids(ordered(list, 'growth'))).toEqual([3, 2, 1, 4, 5]);
    expect(ids(ordered(list, 'changed'))).toEqual([3, 1, 2, 4, 5]);
  });
  test('falls back to what needs attention for an unknown order in the URL', () => {
    expect(['uses', 'growth', 'changed', 'name', 'NAME', '', null].map(orderOf)).toEqual([
      ...['uses', 'growth', 'changed', 'name', 'attention', 'attention', 'attention'],
    ]);
  });
});

describe('what needs attention', () => {
  const limits = (month: number) => limitsWith({ monthly: 100, month, refuses: month < 100 ? 'nobody' : 'everybody' });
  const list = [
    business(1, 'Quiet'),
    business(2, 'Below', { limits: limits(79) }),
    business(3, 'Refused', { refused_origins: 2 }),
    business(4, 'Near', { limits: limits(80) }),
    business(5, 'Closed', { status: 'closed', refused_origins: 1 }),
    business(6, 'Full and refused', { limits: limits(100), refused_origins: 1 }),
    business(7, 'Full', { limits: limits(120) }),
  ];
  test('comes first: a reached limit, an inactive business, a near limit, refused origins, and then the rest by name', () => {
    expect(ordered(list, 'attention').map(({ id }) => id)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  });
  test.each([
    ['all', [1, 2, 3, 4, 5, 6, 7]],
    ['attention', [3, 4, 5, 6, 7]],
    ['full', [6, 7]],
    ['reaching', []],
    ['near', [4]],
    ['refused', [3, 5, 6]],
    ['inactive', [5]],
  ])('with the filter “%s” is %j', (filter, ids) => {
    expect(list.filter((one) => matchesFilter(one, filterOf(filter))).map(({ id }) => id)).toEqual(ids);
  });
});

describe('a list of several pages', () => {
  const page = (from: number, to: number, next: number | null, name = 'first') => ({
    businesses: Array.from({ length: to - from + 1 }, (_, index) => business(from + index, name)),
    next,
  });
  const names = ({ businesses }: Listing) => businesses.map(({ id, name }) => `${id} ${name}`);

  test('grows until the last page', () => {
    const first = withPage(NOTHING_READ, page(1, 2, 2), 1000);
    expect(first).toMatchObject({ after: 2, startedAt: 1000, readAt: null });
    const second = withPage(first, page(3, 3, null), 2000);
    expect(second).toMatchObject({ after: null, readAt: 1000 });
    expect(names(second)).toEqual(['1 first', '2 first', '3 first']);
  });
  test('is reloaded in place, and then reflects changed, new and deleted businesses', () => {
    const all = withPage(withPage(NOTHING_READ, page(1, 2, 2), 1000), page(3, 5, null), 1000);
    const half = withPage(restart(all), { ...page(2, 3, 3, 'second') }, 5000);
    expect(names(half)).toEqual(['2 second', '3 second', '4 first', '5 first']);
    expect(half).toMatchObject({ after: 3, readAt: 1000 });
    const whole = withPage(half, page(5, 6, null, 'second'), 6000);
    expect(names(whole)).toEqual(['2 second', '3 second', '5 second', '6 second']);
    expect(whole).toMatchObject({ after: null, readAt: 5000 });
  });
  test('continues after an empty page', () => {
    const empty = withPage(NOTHING_READ, page(1, 0, 50), 1000);
    expect(empty).toMatchObject({ businesses: [], after: 50, readAt: null });
    expect(withPage(empty, page(1, 0, null), 2000)).toMatchObject({ businesses: [], after: null, readAt: 1000 });
  });
});
