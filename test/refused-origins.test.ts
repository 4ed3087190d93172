import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { recordOrigin } from '../src/db/refused-origins.ts';
import { access, businesses, refusedOrigins } from '../src/db/schema.ts';
import type { Bindings } from '../src/env.ts';
import {
  addSite,
  BASE,
  type Business,
  type CallOptions,
  call,
  dumpAll,
  env,
  inBatches,
  later,
  NOW,
  newBusiness,
} from './support.ts';

const SHOP = 'https://shop.example';
const EVIL = 'https://evil.example';
const restricted = () => newBusiness({ sites: [SHOP] });
const inMinutes = (minutes: number) => later(minutes * 60_000);
const visit = (business: Business, origin: string, options: CallOptions = {}) =>
  call('GET', business.usage, { as: business.token, origin, ...options });

type Entry = { origin: string; count: number; first_seen: string; last_seen: string };

/** Reads both lists with the owner's API key. */
async function listsOf(business: Business, at = NOW) {
  const { status, body } = await call('GET', `${business.access}/refused`, { as: business.key, at });
  expect({ status, ok: body.status }).toEqual({ status: 200, ok: true });
  return body.data as { refused: Entry[]; let_in: Entry[] };
}
const listed = async (business: Business, at?: Date) => (await listsOf(business, at)).refused;
const originsOf = async (business: Business, at?: Date) => (await listed(business, at)).map(({ origin }) => origin);
const stored = ({ db, id }: Business) => db.select().from(refusedOrigins).where(eq(refusedOrigins.business_id, id));

describe('a refused origin', () => {
  test('is listed, most recent first, with its count and the times of its first and last request', async () => {
    const business = await restricted();
    await visit(business, EVIL);
    await visit(business, 'http://localhost:3000', { at: inMinutes(1) });
    await visit(business, 'https://www.shop.example', { as: business.key, at: inMinutes(2) });
    await visit(business, EVIL, { at: inMinutes(3) });
    await call('POST', business.usage, { as: business.key, origin: EVIL, at: inMinutes(4) });
    const answer = await call('GET', `${business.access}/refused`, { as: business.key, at: inMinutes(5) });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        status: true,
        data: {
          refused: [
            [EVIL, 3, '00', '04'],
            ['https://www.shop.example', 1, '02', '02'],
            ['http://localhost:3000', 1, '01', '01'],
          ].map(([origin, count, first, last]) => ({
            origin,
            count,
            first_seen: `2026-03-15T12:${first}:00.000000Z`,
            last_seen: `2026-03-15T12:${last}:00.000000Z`,
          })),
          let_in: [],
        },
      },
    ]);
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
  });

  const ODD = [
    ...['null', 'NULL', '', 'undefined', 'shop', 'https://', 'https://a, https://b', 'file://', 'about:blank'],
    ...['https://EVIL.example', 'https://evil.example:443', 'https://evil.example/', 'https://evil.example.'],
    ...['https://evil.example:0', 'https://evil.example:65536', 'https://user@evil.example', 'https://127.1'],
    ...['https://*.evil.example', 'http://localhost:*', 'https://evil!.example', 'https://bücher.example'],
    ...['chrome-extension://abcdefgh', 'ws://evil.example', 'https://evil%2eexample', 'https://evil example'],
    ...[`https://${'a'.repeat(64)}.example`, `https://${'a.'.repeat(127)}example`, `${EVIL}#${'x'.repeat(9000)}`],
  ].map((origin) => [origin.slice(0, 40), origin] as const);
  test.each(ODD)('is not stored if it cannot be registered: "%s"', async (_, origin) => {
    const business = await restricted();
    expect((await visit(business, origin)).status).toBe(403);
    expect(await stored(business)).toEqual([]);
  });

  test('is not stored if another rule refuses the request', async () => {
    const business = await restricted();
    const suspended = await newBusiness({ sites: [SHOP], status: 'suspended' });
    const other = await restricted();
    const statuses = [
      await visit(business, EVIL, { as: 'q'.repeat(24) }),
      await visit(business, EVIL, { as: `bua_pk_0${'q'.repeat(33)}` }),
      await visit(business, EVIL, { as: `bua_sk_0${'q'.repeat(33)}` }),
      await visit(business, EVIL, { as: 'bua_sk_' }),
      await call('GET', business.usage, { origin: EVIL }),
      await visit(business, EVIL, { as: other.token }),
      await visit(business, EVIL, { as: other.key }),
      await call('GET', business.access, { as: business.token, origin: EVIL }),
      await call('POST', business.usage, { as: business.token, origin: EVIL, body: { uses: [{ id: 'a' }] } }),
      await visit(suspended, EVIL),
      await call('POST', suspended.usage, { as: suspended.key, origin: EVIL }),
      await call('GET', business.usage, { as: business.token }),
      await call('GET', business.usage, { as: business.token, headers: { 'Sec-Fetch-Site': 'same-origin' } }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 422, 422, 403, 403, 401, 403, 403, 403]);
    for (const { id, db } of [business, suspended, other])
      expect(await db.$count(refusedOrigins, eq(refusedOrigins.business_id, id))).toBe(0);
  });

  test('is not stored for a business that has registered it', async () => {
    const business = await restricted();
    expect((await visit(business, SHOP)).status).toBe(200);
    expect((await visit(business, BASE, { as: business.key })).status).toBe(200);
    expect(await stored(business)).toEqual([]);
  });

  test('changes no other stored data, and its requests record no use', async () => {
    const business = await restricted();
    const before = await dumpAll();
    for (let index = 0; index < 3; index++) await call('POST', business.usage, { as: business.token, origin: EVIL });
    expect(await dumpAll()).toBe(before);
    expect(await stored(business)).toMatchObject([{ origin: EVIL, count: 3 }]);
  });

  test.each(['https://-x.shop.example', 'http://app.localhost:3000', 'capacitor://localhost', 'app://-'])(
    'is listed until it is registered: %s',
    async (origin) => {
      const business = await restricted();
      expect((await visit(business, origin)).status).toBe(403);
      expect(await originsOf(business)).toEqual([origin]);
      await call('POST', business.access, { as: business.key, body: { sites: [origin] } });
      expect([(await visit(business, origin)).status, await originsOf(business)]).toEqual([200, []]);
    },
  );
});

describe('the list of refused origins', () => {
  test('hides origins that have since been registered', async () => {
    const business = await restricted();
    for (const origin of [EVIL, 'https://a.b.example.com', 'http://localhost:5173', 'https://other.example'])
      await visit(business, origin);
    expect(await originsOf(business)).toHaveLength(4);
    await addSite(business.id, EVIL);
    await addSite(business.id, 'https://*.example.com');
    await addSite(business.id, 'http://localhost:*');
    expect(await originsOf(business)).toEqual(['https://other.example']);
    await call('DELETE', business.access, { as: business.key });
    expect(await originsOf(business)).toEqual([]);
    // Without sites, every origin is admitted, so the list is empty. After a site is registered, the list again contains the origins that
    // the site does not cover.
    await addSite(business.id, SHOP);
    expect(await originsOf(business)).toHaveLength(4);
  });

  test('is cleared by a DELETE request', async () => {
    const [business, other] = [await restricted(), await restricted()];
    for (const one of [business, other]) await visit(one, EVIL);
    const path = `${business.access}/refused`;
    const forgotten = await call('DELETE', path, { as: business.key });
    expect([forgotten.status, forgotten.body]).toEqual([200, { status: true, data: { refused: [], let_in: [] } }]);
    expect(forgotten.cost.round_trips).toBe(1);
    expect(await stored(business)).toEqual([]);
    expect((await call('DELETE', path, { as: business.key })).status).toBe(200);
    expect(await originsOf(other)).toEqual([EVIL]);
  });

  test('contains the origins seen in the last 90 days', async () => {
    const business = await restricted();
    await visit(business, EVIL);
    const days = (count: number) => later(count * 86_400_000);
    expect(await originsOf(business, days(90))).toEqual([EVIL]);
    expect(await originsOf(business, days(91))).toEqual([]);
    await visit(business, EVIL, { at: days(92) });
    expect(await listed(business, days(92))).toMatchObject([{ origin: EVIL, count: 2 }]);
  });

  test('stays empty if an origin is refused or let in after the business is deleted', async () => {
    const business = await restricted();
    await business.db.batch([
      business.db.delete(access).where(eq(access.business_id, business.id)),
      business.db.delete(businesses).where(eq(businesses.id, business.id)),
    ]);
    for (const let_in of [0, 1] as const) await recordOrigin(business.home.d1, business.id, EVIL, let_in, NOW);
    expect(await stored(business)).toEqual([]);
  });
});

/**
 * The maximum number of rows read to store one origin. Most of them are read by the two scans of the 50 origins that find the origin to
 * evict.
 */
const ROWS_READ = 160;

describe('the limit of 50 stored origins per business', () => {
  const remember = ({ home, id }: Business, origin: string, at = NOW, let_in: 0 | 1 = 0, d1 = home.d1) =>
    recordOrigin(d1, id, origin, let_in, at);

  /** Creates a business with 50 refused origins, seen one second apart. `countOf` returns the count of each. */
  async function full(countOf: (index: number) => number) {
    const business = await restricted();
    const seen = (index: number) => `2026-03-15T12:00:${String(index).padStart(2, '0')}.000000Z`;
    const rows = Array.from({ length: 50 }, (_, index) => ({
      business_id: business.id,
      origin: `https://o${index}.example`,
      count: countOf(index),
      first_seen: seen(index),
      last_seen: seen(index),
      let_in: 0,
    }));
    for (let start = 0; start < 50; start += 10)
      await business.db.insert(refusedOrigins).values(rows.slice(start, start + 10));
    return { business, rows };
  }
  const gone = async (business: Business, rows: { origin: string }[]) => {
    const left = new Set((await stored(business)).map(({ origin }) => origin));
    expect(left.size, 'stored origins').toBe(50);
    return rows.map(({ origin }) => origin).filter((origin) => !left.has(origin));
  };

  test('evicts the origin with the lowest count', async () => {
    const { business, rows } = await full((index) => (index === 17 ? 2 : 3));
    await remember(business, EVIL, inMinutes(1));
    expect(await gone(business, rows)).toEqual(['https://o17.example']);
    expect(await originsOf(business)).toHaveLength(50);
  });

  test('evicts the least recent of the origins with the lowest count', async () => {
    const { business, rows } = await full((index) => (index < 8 ? 9 : 1)); // o10 sorts first by name
    await remember(business, EVIL, inMinutes(1), 1); // both kinds share the limit
    expect(await gone(business, rows)).toEqual(['https://o8.example']);
  });

  test('evicts no origin if the refused origin is already stored', async () => {
    const { business, rows } = await full(() => 1);
    await remember(business, 'https://o3.example', inMinutes(1));
    expect(await gone(business, rows)).toEqual([]);
    expect((await stored(business)).find(({ origin }) => origin === 'https://o3.example')).toEqual({
      ...rows[3],
      count: 2,
      last_seen: '2026-03-15T12:01:00.000000Z',
    });
  });

  test('does not evict one business’s origin for another’s', async () => {
    const { business, rows } = await full(() => 1);
    const other = await newBusiness({ sites: [SHOP], user_id: business.user_id });
    await remember(other, EVIL);
    expect(await gone(business, rows)).toEqual([]);
    expect(await stored(other)).toMatchObject([{ origin: EVIL, count: 1 }]);
  });

  /** Stores origins in order, in few batches. Returns the highest number of rows read, and of rows written, for any one origin. */
  async function rememberAll(business: Business, origins: string[], let_in: 0 | 1) {
    const { d1 } = business.home;
    const most = { rows_read: 0, rows_written: 0 };
    for (let start = 0; start < origins.length; start += 250) {
      const batches: D1PreparedStatement[][] = [];
      const collecting = {
        prepare: (sql: string) => d1.prepare(sql),
        batch: async (statements: D1PreparedStatement[]) => {
          batches.push(statements);
          return [];
        },
      };
      for (const [index, origin] of origins.slice(start, start + 250).entries())
        await remember(business, origin, inMinutes((start + index) / 60), let_in, collecting as unknown as D1Database);
      const results = await d1.batch(batches.flat());
      for (const { length } of batches) {
        const metas = results.splice(0, length).map(({ meta }) => meta);
        for (const name of ['rows_read', 'rows_written'] as const)
          most[name] = Math.max(
            most[name],
            metas.reduce((sum, meta) => sum + meta[name], 0),
          );
      }
    }
    return most;
  }

  test.each([
    ['refused', 0, [SHOP]],
    ['let_in', 1, []],
  ] as const)(
    'retains %s origins that recur among 2,000 invented ones, and writes at most two rows per request',
    {
      tags: 'slow',
    },
    async (list, let_in, sites) => {
      const business = await newBusiness({ sites: [...sites] });
      // An origin that was seen twice may recur rarely. A new origin must recur before 50 other new origins arrive.
      const [rare, often] = ['https://staging.shop.example', 'https://beta.shop.example'];
      const origins = [rare, rare];
      for (let index = 0; index < 2000; index++) {
        origins.push(`https://x${index}.invented.example`);
        if (index % 100 === 99) origins.push(rare);
        if (index % 40 === 39) origins.push(often);
      }
      const most = await rememberAll(business, origins, let_in);
      expect(most.rows_written, 'rows written').toBe(2);
      expect(most.rows_read, 'rows read').toBeLessThanOrEqual(ROWS_READ);
      const now = inMinutes(24 * 60);
      for (let index = 0; index < 60; index++) await visit(business, `https://y${index}.invented.example`, { at: now });
      const shown = (await listsOf(business, now))[list];
      expect(shown).toHaveLength(50);
      const counts = Object.fromEntries(shown.map(({ origin, count }) => [origin, count]));
      expect([counts[rare], counts[often]]).toEqual([22, 50]);
    },
  );
});

describe('the rate limits on storing origins', () => {
  /** A limiter that allows each key `limit` requests. */
  function limiter(limit: number) {
    const counts = new Map<string, number>();
    const binding = {
      async limit({ key }: { key: string }) {
        counts.set(key, (counts.get(key) ?? 0) + 1);
        return { success: (counts.get(key) ?? 0) <= limit };
      },
    };
    return { binding, counts };
  }

  /** Sends a request from each origin. Returns the number of writes. */
  async function visits(business: Business, origins: string[], bindings: Partial<Bindings>, expected = 403) {
    const writes = { batches: 0, rows_written: 0 };
    await inBatches(origins, async (origin) => {
      const { status, lines, errors, later } = await visit(business, origin, { bindings });
      expect([status, lines.length, errors]).toEqual([expected, 1, []]);
      writes.batches += later.round_trips;
      writes.rows_written += later.rows_written;
    });
    return writes;
  }
  const invented = (count: number) => Array.from({ length: count }, (_, index) => `https://x${index}.example`);

  test('allow ten writes per business in each window, even for 200 different origins', async () => {
    const business = await restricted();
    const [REFUSED_ORIGIN_LIMIT, REFUSED_BUSINESS_LIMIT] = [limiter(1).binding, limiter(10).binding];
    const bindings = { REFUSED_ORIGIN_LIMIT, REFUSED_BUSINESS_LIMIT };
    expect(await visits(business, invented(200), bindings)).toEqual({ batches: 10, rows_written: 10 });
    expect(await stored(business)).toHaveLength(10);
    // Each business has its own limit.
    const open = await newBusiness();
    expect(await visits(open, invented(200), bindings, 200)).toEqual({ batches: 10, rows_written: 10 });
    expect(await stored(open)).toHaveLength(10);
  });

  test('allow one write per origin, and the origin’s other requests do not use up the business’s limit', async () => {
    const business = await restricted();
    const [origin, ofBusiness] = [limiter(1), limiter(10)];
    const bindings = { REFUSED_ORIGIN_LIMIT: origin.binding, REFUSED_BUSINESS_LIMIT: ofBusiness.binding };
    expect(await visits(business, Array(100).fill(EVIL), bindings)).toEqual({ batches: 1, rows_written: 1 });
    expect([[...origin.counts.values()], [...ofBusiness.counts.values()]]).toEqual([[100], [1]]);
    expect(await stored(business)).toMatchObject([{ origin: EVIL, count: 1 }]);
  });

  test('do not count an origin that cannot be stored', async () => {
    const business = await restricted();
    const { binding, counts } = limiter(1);
    const bindings = { REFUSED_ORIGIN_LIMIT: binding, REFUSED_BUSINESS_LIMIT: binding };
    expect(await visits(business, ['null', 'https://EVIL.example'], bindings)).toEqual({ batches: 0, rows_written: 0 });
    expect(counts.size).toBe(0);
  });

  test('as deployed, allow ten writes per business and one per origin in each window', { tags: 'slow' }, async () => {
    const { REFUSED_ORIGIN_LIMIT, REFUSED_BUSINESS_LIMIT } = env;
    if (REFUSED_ORIGIN_LIMIT === undefined || REFUSED_BUSINESS_LIMIT === undefined)
      throw new Error('wrangler.toml has no such limits');
    const business = await restricted();
    const bindings = { REFUSED_ORIGIN_LIMIT, REFUSED_BUSINESS_LIMIT };
    const windowNow = () => Math.floor(Date.now() / 60_000);
    const began = windowNow();
    const { batches } = await visits(business, invented(60), bindings);
    const windows = windowNow() - began + 1;
    expect(batches).toBeGreaterThanOrEqual(10);
    expect(batches).toBeLessThanOrEqual(10 * windows);
    const again = await restricted();
    const start = windowNow();
    const repeated = await visits(again, Array(20).fill(EVIL), bindings);
    expect(repeated.batches).toBeLessThanOrEqual(windowNow() - start + 1);
  });
});

describe('while no site is registered, an origin that is let in', () => {
  const entry = (origin: string, count: number, first: string, last = first) => ({
    origin,
    count,
    first_seen: `2026-03-15T12:${first}:00.000000Z`,
    last_seen: `2026-03-15T12:${last}:00.000000Z`,
  });
  const register = (business: Business, sites: string[]) =>
    call('POST', business.access, { as: business.key, body: { sites } });

  test('is listed until a site is registered, and then begins anew as a refused one', async () => {
    const business = await newBusiness();
    await visit(business, SHOP);
    await call('POST', business.usage, { as: business.token, origin: EVIL, at: inMinutes(1) });
    await visit(business, SHOP, { as: business.key, at: inMinutes(2) });
    expect(await listsOf(business)).toEqual({
      refused: [],
      let_in: [entry(SHOP, 2, '00', '02'), entry(EVIL, 1, '01')],
    });
    await register(business, [SHOP]);
    expect(await listsOf(business)).toEqual({ refused: [], let_in: [] });
    expect((await visit(business, EVIL, { at: inMinutes(3) })).status).toBe(403);
    expect(await listsOf(business)).toEqual({ refused: [entry(EVIL, 1, '03')], let_in: [] });
    await call('DELETE', business.access, { as: business.key });
    expect(await listsOf(business)).toEqual({ refused: [], let_in: [entry(SHOP, 2, '00', '02')] });
    await visit(business, EVIL, { at: inMinutes(4) });
    expect((await listsOf(business)).let_in).toEqual([entry(EVIL, 1, '04'), entry(SHOP, 2, '00', '02')]);
  });

  test('is not stored for servers, the service itself, derived origins, odd origins, or refused calls', async () => {
    const business = await newBusiness();
    const other = await newBusiness();
    for (const options of [
      { as: business.token },
      { as: business.key, origin: BASE },
      { as: business.token, headers: { 'Sec-Fetch-Site': 'same-origin' } },
      { as: business.token, origin: 'null' },
      { as: business.token, origin: 'https://SHOP.example' },
      { as: other.token, origin: SHOP },
      { as: other.key, origin: SHOP },
    ])
      await call('GET', business.usage, options);
    await call('GET', business.access, { as: business.token, origin: SHOP });
    expect((await call('GET', '/api/v1/business', { as: business.key, origin: SHOP })).status).toBe(200);
    const suspended = await newBusiness({ status: 'suspended' });
    expect((await visit(suspended, SHOP)).status).toBe(401);
    for (const one of [business, other, suspended]) expect(await stored(one)).toEqual([]);
  });

  test('is stored even if the input is wrong, listed for 90 days, and forgotten with the refused ones', async () => {
    const business = await newBusiness();
    const asked = await call('GET', `${business.usage}?from=never`, { as: business.token, origin: SHOP });
    expect([asked.status, asked.cost.rows_written, asked.later.rows_written]).toEqual([422, 0, 1]);
    const afterDays = async (days: number) => (await listsOf(business, later(days * 86_400_000))).let_in;
    expect([await afterDays(90), await afterDays(91)]).toEqual([[entry(SHOP, 1, '00')], []]);
    await call('DELETE', `${business.access}/refused`, { as: business.key });
    expect(await stored(business)).toEqual([]);
  });

  test('is not counted in the list of businesses', async () => {
    const business = await newBusiness();
    await visit(business, SHOP, { at: inMinutes(1) });
    const { businesses } = (await call('GET', '/api/v1/business', { as: business.key, at: inMinutes(2) })).body.data;
    expect(businesses).toMatchObject([{ refused_origins: 0 }]);
  });

  test('costs the call no row', async () => {
    const business = await newBusiness();
    const server = (await call('GET', business.usage, { as: business.key })).cost;
    expect((await visit(business, SHOP, { as: business.key })).cost).toMatchObject({
      ...server,
      ms: expect.anything(),
    });
  });
});
