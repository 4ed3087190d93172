// Where uses come from (docs/api.md, "Sources").
import { describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf, granted, invalid, refused } from './answers.ts';
import {
  BASE,
  type Business,
  call,
  countsByDay,
  dumpAll,
  homeOfId,
  later,
  newBusiness,
  newKey,
  OPERATOR,
  TODAY,
} from './support.ts';

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

  test('counts without a source while no site is registered', async () => {
    const business = await newBusiness();
    await visit(business, SHOP);
    expect(await sourcesOf(business)).toEqual([[null, 1]]);
  });

  test('counts for a site that was removed and registered again as before', async () => {
    const business = await newBusiness({ sites: ['https://a.example'] });
    const register = (sites: string[]) => call('POST', business.access, { as: business.key, body: { sites } });
    const { access_list } = (await register([SHOP])).body.data;
    await visit(business, SHOP);
    await call('DELETE', `${business.access}/${access_list[1].id}`, { as: business.key });
    expect((await visit(business, SHOP)).status).toBe(403);
    await register(['https://b.example', SHOP]);
    await visit(business, SHOP);
    expect(await sourcesOf(business)).toEqual([[SHOP, 2]]);
  });

  test('of a new business counts for a site with which it was created', async () => {
    const fields = { main_domain: 'acme.example', site: 'https://acme.example', country_id: 1, business_size: 'small' };
    const created = await call('POST', '/api/v1/business', {
      as: OPERATOR.full,
      body: { user_id: 123_456, name: 'Acme', ...fields, sites: ['https://b.example', SHOP] },
    });
    const { id, token } = created.body.data;
    const usage = `/api/v1/business/usage/${id}`;
    await call('POST', usage, { as: token, origin: SHOP });
    const { sources } = (await call('GET', `${usage}?by=source`, { as: OPERATOR.full })).body.data;
    expect(sources).toEqual([{ source: SHOP, count: 1, last_day: TODAY }]);
  });

  test('cannot have a label with a token', async () => {
    const business = await newBusiness({ sites: [SHOP] });
    const before = await dumpAll();
    for (const body of [{ label: 'sms' }, { label: 5 }, { label: 'sms', at: TODAY }]) {
      const answer = await use(business, { ...page(business, SHOP), body });
      expect(answerOf(answer)).toEqual(refused('A business token cannot record quantities or labels. Use an API key.'));
    }
    expect(await dumpAll()).toBe(before);
  });

  test('sent with an API key counts for its label, or else for the entry', async () => {
    const business = await newBusiness({ sites: [SHOP] });
    await use(business, { origin: SHOP });
    await use(business, { origin: SHOP, body: { label: 'sms' } });
    await use(business, { origin: SHOP, body: { uses: [{ id: '1' }, { id: '2', label: 'sms' }, { id: '3' }] } });
    expect(await sourcesOf(business)).toEqual([
      [SHOP, 3],
      ['sms', 2],
    ]);
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

  test('is not named by a use that a limit refuses, or that is a duplicate', async () => {
    const business = await newBusiness();
    const limit = (daily_limit: number | null) =>
      call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: { daily_limit } });
    await use(business, { body: { uses: [{ id: '1' }] } });
    await limit(1);
    const before = await dumpAll();
    for (const body of [{ label: 'b' }, { uses: [{ id: '1', label: 'b' }] }, { uses: [{ id: '2', label: 'b' }] }])
      await use(business, { body, headers: 'uses' in body ? {} : { 'Idempotency-Key': '2' } });
    await use(business, { body: { label: 'b' }, headers: { 'Idempotency-Key': '1' } });
    expect(await dumpAll()).toBe(before);
  });

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

test('lowering a use lowers its source, and importing a day drops the sources of that day if its count changes', async () => {
  const business = await newBusiness();
  const at = `${YESTERDAY}T12:00:00Z`;
  const uses = [
    { id: '1', label: 'sms', quantity: 5 },
    { id: '2', label: 'sms', quantity: 7, at },
    { id: '3', label: 'fax', quantity: 3, at },
    { id: '4', at },
  ];
  await use(business, { body: { uses } });
  await call('PATCH', business.usage, {
    as: OPERATOR.full,
    body: {
      uses: [
        { id: '1', quantity: 0 },
        { id: '2', quantity: 4 },
        { id: '4', quantity: 0 },
      ],
    },
  });
  expect(await sourcesOf(business)).toEqual([
    ['sms', 4],
    ['fax', 3],
  ]);
  const put = (count: number) =>
    call('PUT', `/api/v1/business/${business.id}/history`, {
      as: OPERATOR.full,
      body: { days: [{ date: YESTERDAY, count }], replace: true },
    });
  await put(7);
  expect(await sourcesOf(business)).toHaveLength(2);
  await put(8);
  expect(await sourcesOf(business)).toEqual([[null, 8]]);
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

  test('lists the sources that have uses, most first, with their last days, beside the uses of each day', async () => {
    const business = await busy();
    const used = [
      { date: YESTERDAY, count: 5 },
      { date: TODAY, count: 3 },
    ];
    const sources = [
      { source: '=cmd', count: 5, last_day: YESTERDAY },
      ...[SHOP, 'sms', null].map((source) => ({ source, count: 1, last_day: TODAY })),
    ];
    expect(answerOf(await report(business, `by=source&from=${YESTERDAY}`))).toEqual(granted({ used, sources }));
  });

  test('as CSV has a line for each day and source, in which no label is a formula', async () => {
    const { text, headers } = await report(await busy(), 'by=source', undefined, { Accept: 'text/csv' });
    expect(text).toBe(
      `date,source,count\r\n${YESTERDAY},'=cmd,5\r\n${TODAY},${SHOP},1\r\n${TODAY},sms,1\r\n${TODAY},,1\r\n`,
    );
    expect(headers.get('Content-Disposition')).toMatch(/filename="usage-\d+-2026-02-14-2026-03-15-by-source\.csv"/);
  });

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

  test('is not for tokens, record-only keys, and keys of others', async () => {
    const business = await busy();
    const other = await newBusiness();
    const { key } = await newKey(business, { role: 'record' });
    for (const query of ['by=source', 'source=sms', 'by=x', `source=${SHOP}`]) {
      const byToken = await call('GET', `${business.usage}?${query}`, page(business, SHOP));
      expect(answerOf(byToken)).toEqual(refused('A business token cannot read usage by source. Use an API key.'));
      expect(answerOf(await report(business, query, key))).toEqual(refused('This API key can only record.'));
      expect(answerOf(await report(business, query, OPERATOR.record))).toEqual(
        refused('This operator key can only record.'),
      );
      for (const as of [other.key, other.token]) {
        const { status, body } = await report(business, query, as);
        expect({ status, body }).toEqual({ status: 422, body: { status: false, message: 'business id is not valid' } });
      }
    }
  });
});

describe('the `at` of a single use', () => {
  const dated = (business: Business, at: string, options: object = {}) =>
    use(business, { body: { at }, headers: { 'Idempotency-Key': `id ${at}`.replaceAll(/[ :]/g, '-') }, ...options });

  test('decides the day, on which a retry finds it, with a token within 24 hours', async () => {
    const business = await newBusiness({ sites: [SHOP] });
    for (const [as, at] of [
      [page(business, SHOP), '2026-03-14T23:10:00+01:00'],
      [{}, '2026-02-08T12:00:00Z'],
    ] as const) {
      const date = at.slice(0, 10);
      expect(answerOf(await dated(business, at, as))).toEqual(granted({ date, count: 1 }));
      expect(answerOf(await dated(business, at, as))).toEqual(granted({ date, count: 1, duplicate: true }));
    }
    expect(await sourcesOf(business)).toEqual([[SHOP, 1]]);
  });

  test.each([
    ['token', '2026-03-14T11:59:59Z', 'must be at most 24 hours in the past: 2026-03-14T12:00:00.000Z or later'],
    ['key', '2026-02-08T11:59:59Z', 'must be at most 35 days in the past: 2026-02-08T12:00:00.000Z or later'],
    ['token', '2026-03-15T12:05:01Z', 'must be at most 5 minutes in the future: 2026-03-15T12:05:00.000Z or earlier'],
  ] as const)('sent with a %s cannot be %s: it %s', async (kind, at, rule) => {
    const business = await newBusiness();
    expect(answerOf(await dated(business, at, { as: business[kind] }))).toEqual(invalid('at', `at ${rule}`));
    expect(await countsByDay(business)).toEqual({});
  });

  test('needs an Idempotency-Key', async () => {
    const business = await newBusiness();
    const rule = 'must not be sent without an Idempotency-Key, because a repetition could not be recognized';
    for (const as of [business.token, business.key])
      expect(answerOf(await use(business, { as, body: { at: `${TODAY}T11:00:00Z` } }))).toEqual(
        invalid('at', `at ${rule}`),
      );
    expect(await countsByDay(business)).toEqual({});
  });

  test('counts against the limits of its day, also for the operator’s uses, which are not refused', async () => {
    const business = await newBusiness();
    await call('PATCH', `/api/v1/business/${business.id}`, {
      as: OPERATOR.full,
      body: { daily_limit: 1, monthly_limit: 9 },
    });
    const [first, second] = [`${YESTERDAY}T13:00:00Z`, `${YESTERDAY}T13:00:01Z`];
    expect(answerOf(await dated(business, first, { as: business.token }))).toEqual(
      granted({ date: YESTERDAY, count: 1, remaining: 1 }),
    );
    const message = `This business has used its 1 use for ${YESTERDAY}.`;
    const over = await dated(business, second, { as: business.token });
    expect(answerOf(over)).toEqual({ status: 429, body: { status: false, message } });
    expect(over.headers.get('Retry-After')).toBeNull();
    expect(answerOf(await dated(business, second, { as: OPERATOR.record }))).toEqual(
      granted({ date: YESTERDAY, count: 2, remaining: 1 }),
    );
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

test('a report by source of n days reads each day and each name once', async () => {
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
