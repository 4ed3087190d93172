// Which refused and let-in origins are stored, and how often. The simulator (test/sim) checks what the lists show.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { recordOrigin } from '../src/db/refused-origins.ts';
import { access, businesses, refusedOrigins } from '../src/db/schema.ts';
import type { Bindings } from '../src/env.ts';
import { type Business, type CallOptions, call, env, inBatches, later, NOW, newBusiness } from './support.ts';

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

  test('allow ten writes per business in each window, even for 200 different origins', { tags: 'slow' }, async () => {
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

  test('allow one write per origin, and the origin’s other requests do not use up the business’s limit', {
    tags: 'slow',
  }, async () => {
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
  test('costs the call no row', async () => {
    const business = await newBusiness();
    const server = (await call('GET', business.usage, { as: business.key })).cost;
    expect((await visit(business, SHOP, { as: business.key })).cost).toMatchObject({
      ...server,
      ms: expect.anything(),
    });
  });
});
