// Where uses come from (docs/api.md, "Sources"). The simulator (test/sim) checks how sources are counted, lowered and listed.
import { describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf, invalid } from './answers.ts';
import { BASE, type Business, call, countsByDay, homeOfId, later, newBusiness, OPERATOR, TODAY } from './support.ts';

const YESTERDAY = addDays(TODAY, -1);
const SHOP = 'https://shop.example';
const use = (business: Business, options: Parameters<typeof call>[2] = {}) =>
  call('POST', business.usage, { as: business.key, ...options });
const page = (business: Business, origin: string) => ({ as: business.token, origin });
const visit = (business: Business, origin: string) => use(business, page(business, origin));
const report = (business: Business, query = 'by=source', as = business.key, headers = {}) =>
  call('GET', `${business.usage}?${query}`, { as, headers });
/** The uses of each source, which are all uses. */
async function sourcesOf(business: Business): Promise<[source: string | null, count: number][]> {
  const { used, sources } = (await report(business)).body.data;
  const sum = (list: { count: number }[]) => list.reduce((total, { count }) => total + count, 0);
  expect(sum(sources)).toBe(sum(used));
  return sources.map(({ source, count }: { source: string | null; count: number }) => [source, count]);
}
const lists = (labels: string[], prefix = 'a') => ({
  body: { uses: labels.map((label, index) => ({ id: `${prefix}${index}`, label })) },
});
const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `n${from + index}`);

describe('a use of a page', () => {
  test.each([
    ['https://a.b.shop.example', ['https://*.shop.example', 'https://*.b.shop.example', 'https://a.b.shop.example'], 2],
    ['https://a.b.shop.example', ['https://*.b.shop.example', 'https://*.shop.example', SHOP], 0],
    ['https://a.b.shop.example', ['https://b.shop.example', 'https://*.shop.example'], 1],
    ['http://a.localhost:3000', ['http://*.localhost:*', 'http://*.localhost:3000'], 1],
    ['http://localhost:3000', ['http://localhost:*', 'http://localhost'], 0],
    ['http://localhost:3000', ['http://localhost:*', 'http://localhost:3000'], 1],
    ['capacitor://localhost', ['capacitor://localhost', 'http://localhost'], 0],
    ['https://shop.example:8443', ['https://shop.example:8443', SHOP], 0],
    [`https://${'x'.repeat(63)}.example`, [`https://${'x'.repeat(63)}.example`], 0],
    ['https://_a-.example', ['https://_a-.example'], 0],
  ])(
    'of %s counts for that one of %j which let it in: the site before wildcards, and the narrowest of these',
    async (origin, sites, index) => {
      const business = await newBusiness({ sites });
      expect((await visit(business, origin)).status).toBe(200);
      expect(await sourcesOf(business)).toEqual([[sites[index], 1]]);
    },
  );

  test('that a browser marked as same-origin counts for the service’s own site, without an Origin', async () => {
    const business = await newBusiness({ sites: [BASE] });
    await use(business, { as: business.token, headers: { 'Sec-Fetch-Site': 'same-origin' } });
    expect(await sourcesOf(business)).toEqual([[BASE, 1]]);
  });
});

describe('a label', () => {
  test.each([
    '$',
    '[0]',
    '1',
    '#-1',
    "'",
    '"',
    '\\',
    'a.b',
    '$."1"',
    '__proto__',
    'constructor',
    '=1+1',
    'x'.repeat(64),
    'a b',
  ])('can be %j, and counts each use once', async (label) => {
    const business = await newBusiness();
    for (const body of [{ label }, { quantity: 5, label }, { uses: [{ id: '1', label }, { id: '2' }] }])
      expect((await use(business, { body })).status).toBe(200);
    const headers = { 'Idempotency-Key': 'k' };
    for (let time = 0; time < 2; time++) await use(business, { body: { label }, headers });
    expect(await sourcesOf(business)).toEqual([
      [label, 8],
      [null, 1],
    ]);
    const { used } = (await report(business, `from=${TODAY}&source=${encodeURIComponent(label)}`)).body.data;
    expect(used).toEqual([{ date: TODAY, count: 8 }]);
  });

  test.each(['', ' ', ' sms', 'sms ', 'a\tb', 'ü', 'x'.repeat(65), SHOP, 'a://b', 5, null])(
    'cannot be %j',
    async (label) => {
      const business = await newBusiness();
      const rule = 'must be 1 to 64 printable ASCII characters, without :// and without spaces at the ends';
      for (const [body, field] of [
        [{ label }, 'label'],
        [{ uses: [{ id: '1', label }] }, 'uses.0.label'],
      ] as const)
        expect(answerOf(await use(business, { body }))).toEqual(invalid(field, `${field} ${rule}`));
      expect(await countsByDay(business)).toEqual({});
    },
  );

  test('of the 101st name of a day counts without a source, whatever is lowered, and so does the 201st of a business', async () => {
    const business = await newBusiness();
    await use(business, lists(['n100', ...numbered(0, 100)], 'a'));
    const ofNames = async () => (await sourcesOf(business)).filter(([source]) => source !== null).length;
    expect(await sourcesOf(business)).toContainEqual([null, 1]);
    expect(await ofNames()).toBe(100);
    await use(business, { body: { label: 'n99' } });
    await use(business, { body: { label: 'n5' } });
    const lower = (id: string) =>
      call('PATCH', business.usage, { as: OPERATOR.full, body: { uses: [{ id, quantity: 0 }] } });
    for (const id of ['a1', 'a2']) expect((await lower(id)).body.data).toMatchObject({ lowered: 1 });
    await use(business, { body: { label: 'n99' } });
    expect(await sourcesOf(business)).toContainEqual([null, 3]);
    expect(await sourcesOf(business)).toContainEqual(['n5', 2]);
    expect(await ofNames()).toBe(98);
    const tomorrow = { at: later(86_400_000) };
    await use(business, { ...lists(numbered(150, 250), 'b'), ...tomorrow });
    const { results } = await homeOfId(business.id)
      .d1.prepare('select max(number) as last, count(*) as count from sources where business_id = ?')
      .bind(business.id)
      .all();
    expect(results).toEqual([{ last: 200, count: 200 }]);
    const { data } = (
      await call('GET', `${business.usage}?by=source&from=${addDays(TODAY, 1)}`, { as: business.key, ...tomorrow })
    ).body;
    expect(data.sources).toHaveLength(100);
    expect(data.sources.at(-1)).toEqual({ source: null, count: 1, last_day: addDays(TODAY, 1) });
  });
});

describe('a report by source', () => {
  async function busy() {
    const business = await newBusiness({ sites: [SHOP] });
    await visit(business, SHOP);
    const uses = [
      { id: '1', label: '=cmd', quantity: 5, at: `${YESTERDAY}T12:00:00Z` },
      { id: '2', label: 'sms' },
    ];
    await use(business, { body: { uses } });
    await use(business);
    return business;
  }

  const unknown = 'source must be a registered site or a label that the business has used, and must appear only once';
  test.each([
    ['by=label', 'by', 'by must be source, and must appear only once'],
    ['by=source&source=sms', 'source', 'source must not be combined with by'],
    ['source=fax', 'source', unknown],
    ['source=', 'source', unknown],
    ['source=sms&source=fax', 'source', unknown],
    ['by=source&from=2025-12-13', 'from', 'from must be at most 91 days before to (2026-03-15, today)'],
  ])('%s is refused: %s', async (query, field, message) => {
    expect(answerOf(await report(await busy(), query))).toEqual(invalid(field, message));
  });
});

test('a source writes no row more, and reads a few', async () => {
  const business = await newBusiness({ sites: [SHOP] });
  const costs = async (options: Parameters<typeof call>[2]) => {
    const { status, cost } = await use(business, options);
    expect({ status, round_trips: cost.round_trips }).toEqual({ status: 200, round_trips: 1 });
    return [cost.rows_read, cost.rows_written];
  };
  let id = 0;
  const once = () => ({ headers: { 'Idempotency-Key': `k${id++}` } });
  const list = (label?: string) => ({
    uses: Array.from({ length: 100 }, () => ({ id: `u${id++}`, ...(label && { label }) })),
  });
  await costs({});
  const label = (label: string) => ({ body: { label } });
  expect([await costs({}), await costs(once())]).toEqual([
    [8, 1],
    [11, 2],
  ]);
  // A name is one row, and one in its index.
  expect([await costs(label('a')), await costs(label('a'))]).toEqual([
    [17, 3],
    [11, 1],
  ]);
  expect([await costs({ ...label('b'), ...once() }), await costs({ ...label('b'), ...once() })]).toEqual([
    [21, 4],
    [15, 2],
  ]);
  expect(await costs({ body: list() })).toEqual([510, 101]);
  expect((await costs({ body: list('a') }))[0]).toBeLessThanOrEqual(9 * 100 + 40);
  expect(await costs(page(business, SHOP))).toEqual([10, 1]);
  expect(await costs({ ...page(business, SHOP), ...once() })).toEqual([13, 2]);
  expect(await costs({ ...page(business, SHOP), ...once(), body: { at: `${TODAY}T11:00:00Z` } })).toEqual([17, 2]);
});

test('a report by source of n days reads each day and each name once', { tags: 'slow' }, async () => {
  const business = await newBusiness({ sites: [SHOP] });
  for (let day = 0; day < 31; day++) {
    const at = `${addDays(TODAY, -day)}T01:00:00Z`;
    await use(business, { body: { uses: numbered(0, 5).map((label) => ({ id: `${day}${label}`, label, at })) } });
  }
  const ofAll = await report(business, 'by=source&from=2026-02-13');
  const ofOne = await report(business, 'source=n1&from=2026-02-13');
  expect(ofAll.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
  expect(ofAll.cost.rows_read).toBeLessThanOrEqual(31 + 6 + 6);
  expect(ofOne.cost.rows_read).toBeLessThanOrEqual(31 + 8);
});
