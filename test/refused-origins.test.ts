// How refused and let-in origins are stored: hostile ones, many of them, and how often. The simulator (test/sim) checks what the lists show.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { canonicalSite, covers } from '../src/core/site.ts';
import { noCost } from '../src/db/batch.ts';
import { metered } from '../src/db/meter.ts';
import { businesses, type Site, seenOrigins } from '../src/db/schema.ts';
import type { Bindings } from '../src/env.ts';
import { recordOrigin } from '../src/origins/seen-origins.ts';
import { type Business, type CallOptions, call, env, inBatches, later, limiter, NOW, newBusiness } from './support.ts';

const SHOP = 'https://shop.example';
const EVIL = 'https://evil.example';
const restricted = () => newBusiness({ sites: [SHOP] });
const visit = (business: Business, origin: string, options: CallOptions = {}) =>
  call('GET', business.usage, { as: business.token, origin, ...options });

const stored = ({ db, id }: Business) => db.select().from(seenOrigins).where(eq(seenOrigins.business_id, id));

test('a refused origin is not stored if it cannot be registered', async () => {
  const business = await restricted();
  for (const origin of [
    ...['null', '', 'shop', 'https://', 'https://a, https://b', 'file://', 'chrome-extension://abcdefgh'],
    ...['https://EVIL.example', 'https://evil.example:443', 'https://evil.example/', 'https://evil.example.'],
    ...['https://evil.example:0', 'https://evil.example:65536', 'https://user@evil.example', 'https://127.1'],
    ...['https://*.evil.example', 'http://localhost:*', 'https://evil!.example', 'https://bücher.example'],
    ...['ws://evil.example', 'https://evil%2eexample', 'https://evil example', `https://${'a'.repeat(64)}.example`],
    ...[`https://${'a.'.repeat(127)}example`, `${EVIL}#${'x'.repeat(9000)}`],
  ])
    expect((await visit(business, origin)).status).toBe(403);
  expect(await stored(business)).toEqual([]);
});

/** Draws sites and origins below few domains, so that many of them match. The same for every run. */
function drawn() {
  let state = 7;
  const pick = <T>(...of: T[]): T => {
    state = (state * 48_271) % 2_147_483_647;
    return of[state % of.length] as T;
  };
  const labels = () => Array.from({ length: pick(0, 1, 2, 3) }, () => `${pick('a', 'b')}.`).join('');
  const domain = () => `${labels()}${pick('shop.example', 'other.example', 'localhost')}`;
  const origin = () => `${pick('http', 'https')}://${domain()}${pick('', '', ':8443')}`;
  const site = () => pick(origin(), origin().replace('://', '://*.'), 'http://localhost:*', 'http://*.localhost:*');
  const list = (one: () => string, most: number) => [...new Set(Array.from({ length: most }, one))];
  return Array.from({ length: 12 }, () => ({ origins: list(origin, 40), first: list(site, 3), later: list(site, 8) }));
}

test('adding sites deletes exactly the refused origins that a browser could now send, and later calls store none of them', {
  tags: 'slow',
}, async () => {
  let deleted = 0;
  for (const { origins, first, later } of drawn()) {
    const business = await newBusiness();
    const { id, home, key } = business;
    const add = (texts: string[]) => {
      const sites = texts.flatMap((text) => canonicalSite(text).site ?? []);
      return call('POST', business.access, { as: key, body: { sites: sites.length > 0 ? sites : [SHOP] } });
    };
    await add(first);
    const sites = async () =>
      new Set((await call('GET', business.access, { as: key })).body.data.access_list.map(({ site }: Site) => site));
    const remembered = async () => (await stored(business)).map(({ origin }) => origin).sort();
    const refusedBy = (sites: Set<unknown>) => origins.filter((origin) => !covers(sites as Set<string>, origin)).sort();
    for (const origin of origins) await recordOrigin(home.d1, id, origin, 0, NOW);
    expect(await remembered()).toEqual(refusedBy(await sites()));
    const before = (await stored(business)).length;
    await add(later);
    const left = refusedBy(await sites());
    expect(await remembered()).toEqual(left);
    for (const origin of origins) await recordOrigin(home.d1, id, origin, 1, NOW);
    expect(await remembered()).toEqual(left);
    deleted += before - left.length;
  }
  expect(deleted).toBeGreaterThan(20);
});

test('a page of businesses ends when it reaches 500 kB, and the next begins there', { tags: 'slow' }, async () => {
  const user_id = 1_000_003;
  const made = [];
  for (let index = 0; index < 50; index++) made.push(await newBusiness({ user_id }));
  const [{ db, key: as }] = made as [Business];
  await db
    .update(businesses)
    .set({ site: `https://shop.example/${'é'.repeat(20_000)}` })
    .where(eq(businesses.user_id, user_id));
  const [sizes, ids]: [number[], number[]] = [[], []];
  for (let after: number | null = 1; after !== null; ) {
    const { body }: { body: { data: { businesses: { id: number }[]; next: number | null } } } = await call(
      'GET',
      `/api/v1/business?limit=50&after=${after}`,
      { as },
    );
    sizes.push(body.data.businesses.length);
    ids.push(...body.data.businesses.map(({ id }) => id));
    after = body.data.next;
  }
  expect(sizes).toEqual([13, 13, 13, 11]);
  expect(ids).toEqual(made.map(({ id }) => id));
});

test('nothing is stored if an origin is refused or let in after the business is deleted', async () => {
  const business = await newBusiness();
  const { db, id, home } = business;
  await db.delete(businesses).where(eq(businesses.id, id));
  for (const let_in of [0, 1] as const) await recordOrigin(home.d1, id, EVIL, let_in, NOW);
  expect(await stored(business)).toEqual([]);
});

/**
 * The maximum number of rows read to store one origin. Most of them are read by the two scans of the 50 origins that find the origin to
 * evict.
 */
const ROWS_READ = 160;

test('the list of 50 origins retains those that recur among 2,000 invented ones, and writes at most two rows per request', {
  tags: 'slow',
}, async () => {
  const business = await restricted();
  const { d1 } = business.home;
  // An origin that was seen twice may recur rarely. A new origin must recur before 50 other new origins arrive.
  const [rare, often] = ['https://staging.shop.example', 'https://beta.shop.example'];
  const origins = [rare, rare];
  for (let index = 0; index < 2000; index++) {
    origins.push(`https://x${index}.invented.example`);
    if (index % 100 === 99) origins.push(rare);
    if (index % 40 === 39) origins.push(often);
  }
  for (const [index, origin] of origins.entries()) {
    const cost = noCost();
    await recordOrigin(metered(d1, cost), business.id, origin, 0, later(index * 1000));
    expect(cost.rows_written, 'rows written').toBeLessThanOrEqual(2);
    expect(cost.rows_read, 'rows read').toBeLessThanOrEqual(ROWS_READ);
  }
  const at = later(24 * 3_600_000);
  for (let index = 0; index < 60; index++) await visit(business, `https://y${index}.invented.example`, { at });
  const { body } = await call('GET', `${business.access}/refused`, { as: business.key, at });
  const shown: { origin: string; count: number }[] = body.data.refused;
  expect(shown).toHaveLength(50);
  const counts = Object.fromEntries(shown.map(({ origin, count }) => [origin, count]));
  expect([counts[rare], counts[often]]).toEqual([22, 50]);
});

describe('the rate limits on storing origins', () => {
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

test('while no site is registered, an origin that is let in costs the call no row', async () => {
  const business = await newBusiness();
  const server = (await call('GET', business.usage, { as: business.key })).cost;
  expect((await visit(business, SHOP, { as: business.key })).cost).toMatchObject({ ...server, ms: expect.anything() });
});

test('a list of businesses contains those that the key’s origin may read', async () => {
  const open = await newBusiness();
  const { id, user_id } = await newBusiness({ user_id: open.user_id, sites: [SHOP] });
  const listed = async (origin?: string) => {
    const { body } = await call('GET', '/api/v1/business', { as: open.key, ...(origin && { origin }) });
    return body.data.businesses.map((business: { id: number; user_id: number }) => [business.id, business.user_id]);
  };
  const both = [[open.id, user_id], [id, user_id]]; // biome-ignore format: one line
  expect([await listed(), await listed(SHOP), await listed(EVIL)]).toEqual([both, both, [[open.id, user_id]]]);
});
