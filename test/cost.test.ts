// The round trips and rows of each request (docs/performance.md, "What each operation costs"), and the indexes that find the rows.

import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { noCost } from '../src/db/batch.ts';
import { markKey } from '../src/db/last-use.ts';
import { metered } from '../src/db/meter.ts';
import { apiKeys, businesses, dailyUsage } from '../src/db/schema.ts';
import { recordOrigin } from '../src/origins/seen-origins.ts';
import { type AnyRoute, OF_A_BUSINESS, ROUTES } from './routes.ts';
import { mayWhileInactive } from './sim/model/may.ts';
import {
  addFormerToken,
  addSite,
  ask,
  BASE,
  type Business,
  type CallOptions,
  call,
  eachOf,
  homes,
  INSERT_CHANGES,
  NOW,
  newBusiness,
  newLimitedBusiness,
  OPERATOR,
  recordStatements,
} from './support.ts';

/** Inserts a count for each of the last `days` days of each business. */
async function fill(businesses: Business[], days: number) {
  const rows = `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${days - 1})
    insert into daily_usage (business_id, day, count) select ?, date('2026-03-15', '-' || i || ' days'), i + 1 from n`;
  for (const { d1 } of homes) {
    const ids = businesses.filter(({ home }) => home.d1 === d1).map(({ id }) => id);
    if (ids.length > 0) await d1.batch(ids.map((id) => d1.prepare(rows).bind(id)));
  }
}

async function crowd(businesses: number, days: number) {
  const made = await Promise.all(
    Array.from({ length: businesses }, () => newBusiness({ sites: ['https://x.example'] })),
  );
  await fill(made, days);
}

let business: Business;
beforeAll(async () => {
  business = await newBusiness({ sites: ['https://shop.example'] });
  await fill([business], 400);
});

const origin = 'https://shop.example';

async function costs() {
  const read = async (days: number, as: string, from?: string) => {
    const path = `${business.usage}?from=${new Date(Date.parse('2026-03-16') - days * 86_400_000).toISOString().slice(0, 10)}`;
    const answer = await call('GET', path, from === undefined ? { as } : { as, origin: from });
    expect(answer.status).toBe(200);
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    return answer.cost.rows_read - days;
  };
  return {
    one: await read(1, business.token, origin),
    month: await read(31, business.token, origin),
    year: await read(366, business.token, origin),
    key: await read(31, business.key, origin),
    server: await read(31, business.key),
  };
}

describe.each(ROUTES)('$method $pattern', (route) => {
  test('finds its rows by index and never scans a table', { tags: 'slow' }, async () => {
    const fresh = await newBusiness({ sites: [origin] });
    const { sent, bindings } = recordStatements(fresh.home);
    for (const as of [fresh.key, fresh.token, OPERATOR.full]) {
      const from = as === OPERATOR.full ? undefined : origin;
      for (const filter of route.name === 'read changes' ? ['', '?action=add_sites&search=a&from=2026-03-15'] : [''])
        await ask({ ...route, path: () => route.path(fresh) + filter }, fresh, { as, origin: from, bindings });
    }
    expect(sent.length).toBeGreaterThanOrEqual(3);
    for (const { sql, values } of sent) {
      const plan = await fresh.home.d1
        .prepare(`explain query plan ${sql}`)
        .bind(...values)
        .all<{ detail: string }>();
      // Allows scans of the permission's one row, a limited page, a list from the request, a constant, the periods that a request
      // reaches, and SQLite's sequence table, which contains a row for each of three tables.
      const scans = plan.results
        .map(({ detail }) => detail)
        .filter(
          (detail) =>
            detail.startsWith('SCAN') &&
            !/^SCAN (permission|page|\(subquery.*\)|json_each|CONSTANT ROW|bound|days|by_day|entries|periods|spans|judged|total|used|sqlite_sequence)/.test(
              detail,
            ),
        );
      expect(scans, sql).toEqual([]);
      expect(plan.results.length).toBeGreaterThan(0);
    }
  });
});

describe('a refused call', () => {
  /** Creates a business and stores many days, sites, changes and alerts, and the ids of uses that the calls send. */
  async function crowded(fields: Parameters<typeof newBusiness>[0]) {
    const { status, ...others } = fields ?? {};
    const full = await newBusiness(others);
    await fill([full], 400);
    for (const as of [full.key, full.token]) {
      await call('POST', full.usage, { as, headers: { 'Idempotency-Key': 'visit-1' } });
    }
    await call('POST', full.usage, { as: full.key, body: { uses: [{ id: 'order-1' }] } });
    const stamp = '2026-01-01T00:00:00.000000Z';
    const sites = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 498)
      insert into sites (business_id, site, created_at, updated_at) select ?, 'https://s' || i || '.example', '${stamp}', '${stamp}' from n`;
    const many = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)';
    const alerts = `${many} insert into alerts (id, business_id, period, starts_on, ends_on, "limit", threshold, used, at)
      select printf('%036d', ?1 * 1000 + i), ?1, 'day', '2026-01-01', '2026-01-01', i, 80, i, '${stamp}' from n`;
    const changes = `${many} ${INSERT_CHANGES} select 'business', ?, i + 1000, '${stamp}', 'operator', 'rotate_token', null, '{}' from n`;
    const { d1 } = full.home;
    await d1.batch([
      d1.prepare(sites).bind(full.id),
      d1.prepare(alerts).bind(full.id),
      d1.prepare(changes).bind(full.id),
      d1.prepare(`update businesses set status = ? where id = ?`).bind(status ?? 'active', full.id),
    ]);
    for (let former = 0; former < 5; former++) await addFormerToken(full);
    await addSite(full.id, 'https://new.example'); // the site that `add sites` adds
    return full;
  }
  const RESTRICTED = { sites: ['https://x.example'] };

  let caller: Business;
  let little: Business;
  let much: Business;
  beforeAll(async () => {
    caller = await newBusiness();
    // Other users of the same database: an id in another one is refused by any statement.
    const userAfter = (turns: number) => caller.user_id + homes.length * 100_000 * turns;
    little = await newBusiness({ ...RESTRICTED, user_id: userAfter(1) });
    much = await crowded({ ...RESTRICTED, user_id: userAfter(2) });
    expect([little.home, much.home]).toEqual([caller.home, caller.home]);
  });

  /** Returns the number of rows that a refused call reads. Asserts that it writes none. */
  async function rowsRead(route: AnyRoute, id: number, options: CallOptions): Promise<number> {
    const refused = await ask(route, { id }, options);
    expect([401, 403, 422]).toContain(refused.status);
    expect(refused.body.status === undefined || refused.body.status === false).toBe(true);
    expect(refused.body.errors).toBeUndefined();
    expect(refused.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(refused.cost.rows_read).toBeLessThanOrEqual(35);
    return refused.cost.rows_read;
  }

  eachOf(test, OF_A_BUSINESS)(
    'to $name reads the same few rows of another owner’s business, whatever is stored',
    async (route) => {
      for (const as of [caller.key, caller.token]) {
        const none = await rowsRead(route, 999_999_999, { as });
        expect(await rowsRead(route, little.id, { as })).toBe(none);
        expect(await rowsRead(route, much.id, { as })).toBe(none);
      }
    },
  );

  test('does not look up any of a thousand listed uses', { tags: 'slow' }, async () => {
    const body = { uses: Array.from({ length: 1000 }, (_, index) => ({ id: `order-${index}` })) };
    for (const as of ['q'.repeat(24), `bua_sk_0${'q'.repeat(33)}`, little.token, caller.key]) {
      const { status, cost } = await call('POST', little.usage, { as, body });
      expect(status).not.toBe(200);
      expect(cost.rows_read).toBeLessThanOrEqual(17);
    }
  });

  eachOf(test, ROUTES)(
    'to $name reads the same few rows for a token or from an unauthorized origin, whatever is stored',
    async (route) => {
      const isOfBusiness = route.unknownBusiness !== null;
      for (const [kind, origin, isRefused] of [
        ['key', 'https://a.evil.example', isOfBusiness],
        ['token', 'https://a.evil.example', isOfBusiness],
        ['token', 'https://x.example', route.tokenRefusal !== null],
      ] as const) {
        if (!isRefused) continue;
        const read = (business: Business) => rowsRead(route, business.id, { as: business[kind], origin });
        expect(await read(much)).toBe(await read(little));
      }
    },
  );

  eachOf(
    test,
    ROUTES.filter(({ operation }) => !mayWhileInactive(operation)),
  )('to $name reads the same few rows of an inactive business, whatever is stored', async (route) => {
    const suspended = { ...RESTRICTED, status: 'suspended' };
    const [quiet, busy] = [await newBusiness(suspended), await crowded(suspended)];
    expect(await rowsRead(route, busy.id, { as: busy.key })).toBe(await rowsRead(route, quiet.id, { as: quiet.key }));
  });
});

test('recording a use reads and writes the same number of rows, however many uses, businesses, sites, keys and days are stored', {
  tags: 'slow',
}, async () => {
  const fresh = await newBusiness({ sites: [origin] });
  const costsOf = async (first: string) => {
    const page = { as: fresh.token, origin };
    const server = { as: fresh.key };
    const once = { as: fresh.key, headers: { 'Idempotency-Key': first } };
    const answers = [];
    for (const options of [page, server, once, once]) answers.push(await call('POST', fresh.usage, options));
    return answers.map(({ cost: { round_trips, rows_read, rows_written } }) => ({
      round_trips,
      rows_read,
      rows_written,
    }));
  };
  await call('POST', fresh.usage, { as: fresh.key }); // the day's first use inserts a row and reads one row more
  const before = await costsOf('order-1');
  const many = (count: number, insert: string) =>
    fresh.home.d1
      .prepare(
        insert.replace(
          'select',
          `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) select`,
        ),
      )
      .bind(fresh.id);
  const stamp = `'2026-01-01T00:00:00.000000Z'`;
  await fresh.home.d1.batch([
    many(
      1_000_000,
      `insert into ledger (business_id, digest, day, forget_on, quantity) select ?, unhex(printf('%032x', i)), 20527, 20568, 1 from n`,
    ),
    many(
      10_000,
      `insert into businesses (user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
      select 1000000 + i, 'Acme', 'acme.example', ?, 1, 'small', printf('token-%030d', i), 'active', ${stamp}, ${stamp} from n`,
    ),
    many(
      499,
      `insert into sites (business_id, site, created_at, updated_at) select ?, 'https://t' || i || '.example', ${stamp}, ${stamp} from n`,
    ),
    many(
      366,
      `insert into daily_usage (business_id, day, count) select ?, date('2026-03-14', -i || ' days'), 1 from n`,
    ),
    fresh.home.d1
      .prepare(
        `insert into api_keys (user_id, name, hash, last_four, role, created_at, created_by)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
        select ?, 'key', printf('%064x', i), '0000', 'full', ${stamp}, 'operator' from n`,
      )
      .bind(fresh.user_id),
  ]);
  expect(await costsOf('order-2')).toEqual(before);
});

describe('docs/performance.md, "What each operation costs":', { tags: 'slow' }, () => {
  const SITES = 500;
  let owner: Business;
  beforeAll(async () => {
    owner = await newBusiness();
    for (let start = 0; start < SITES; start += 100) {
      const sites = Array.from({ length: 100 }, (_, index) => `https://s${start + index}.example`);
      await call('POST', owner.access, { as: owner.key, body: { sites } });
    }
    await fill([owner], 400);
    // Stores rows that come after the owner's rows in each index, because an index lookup reads one row past the match.
    const next = await newBusiness({ user_id: owner.user_id, sites: [origin] });
    await addFormerToken(next);
    await fill([next], 1);
  });

  /** Returns the cost of a successful call. Asserts that it takes one round trip. */
  async function costOf(method: string, path: string, body?: unknown, options: CallOptions = {}) {
    const { status, cost } = await call(method, path, { as: owner.key, body, ...options });
    expect(status).toBe(200);
    expect(cost.round_trips).toBe(1);
    return cost;
  }
  const of = (path: string) => `/api/v1/business/${owner.id}/${path}`;

  test('a list of businesses reads at most 66 rows per business, or 76 with wildcards', async () => {
    const user_id = 1_000_001;
    const made = await Promise.all(Array.from({ length: 50 }, () => newBusiness({ user_id, sites: [origin] })));
    for (const one of made) await addSite(one.id, 'https://*.shop.example');
    await fill(made, 400);
    const as = made[0]?.key ?? '';
    for (const limit of [1, 20, 50]) {
      const list = (options: CallOptions) =>
        costOf('GET', `/api/v1/business?limit=${limit}`, undefined, { as, ...options });
      for (const options of [{}, { origin }]) {
        expect((await list(options)).rows_read).toBeLessThanOrEqual(66 * limit + 9);
      }
      expect((await list({ origin: 'https://a.b.c.d.shop.example' })).rows_read).toBeLessThanOrEqual(76 * limit + 8);
      expect((await list({ origin: 'https://evil.example' })).rows_read).toBeLessThanOrEqual(8 * limit + 8);
    }
  });

  test('for a business with r refused origins, a list of businesses reads at most r + 3 more rows, and none of its sites', async () => {
    const [user_id, refused] = [1_000_002, 50];
    const sites = Array.from({ length: 40 }, (_, index) => `https://*.s${index}.example`);
    const made = await Promise.all(Array.from({ length: 20 }, () => newBusiness({ user_id, sites })));
    const [{ key: as, home }] = made as [Business];
    const list = async (options: CallOptions = {}) => call('GET', '/api/v1/business?limit=20', { as, ...options });
    const read = async (options?: CallOptions) => (await list(options)).cost.rows_read;
    const fromElsewhere = { origin: 'https://a.evil.example' };
    const [without, denied] = [await read(), await read(fromElsewhere)];
    const insert = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${refused})
      insert into seen_origins select ?, 'https://r' || i || '.example', 1, '2026-03-15', '2026-03-15', 0, '[]' from n`;
    const remember = ({ id }: Business) => home.d1.prepare(insert).bind(id).run();
    // Stores rows that come after the listed businesses' rows in each index, because an index lookup reads one row past the match.
    await remember(await newBusiness({ user_id: user_id + homes.length }));
    for (const business of made) await remember(business);
    expect((await read()) - without).toBeLessThanOrEqual(made.length * (refused + 3));
    expect(await read(fromElsewhere)).toBe(denied);
    const { businesses } = (await list()).body.data;
    const listed = businesses.filter(({ id }: Business) => made.some((business) => business.id === id));
    expect(listed.length).toBeGreaterThan(15);
    for (const { refused_origins } of listed) expect(refused_origins).toBe(refused);
  });

  test('reading a business reads its sites, 2 rows for each former token, 7 more rows and, if it has limits, the days of the month so far', async () => {
    const most = async (rows: number) => {
      for (const options of [{}, { origin: BASE }, { origin: 'https://s3.example' }]) {
        const { rows_read, rows_written } = await costOf('GET', `/api/v1/business/${owner.id}`, undefined, options);
        expect(rows_read).toBeLessThanOrEqual(SITES + rows);
        expect(rows_written).toBe(0);
      }
    };
    await most(7);
    for (let former = 1; former <= 5; former++) {
      await addFormerToken(owner);
      await most(2 * former + 7);
    }
    for (const [daily_limit, monthly_limit, rows] of [
      [1, null, 1],
      [null, 1, 15 + 1], // today is the 15th
      [1, 1, 15 + 2],
      [null, null, 0],
    ] as const) {
      await owner.db.update(businesses).set({ daily_limit, monthly_limit }).where(eq(businesses.id, owner.id));
      await most(2 * 5 + 7 + rows);
    }
  });

  test('a page of n changes reads at most 4n + 15 rows', async () => {
    const change = `with recursive n(i) as (select 1000 union all select i + 1 from n where i < 1500)
      ${INSERT_CHANGES} select 'business', ?1, i, '2026-03-15T00:00:00.000000Z', 'key ' || cast(?2 as integer) || ' (…abcd)', 'rotate_token', null, '{}' from n`;
    const [key] = await owner.db.select().from(apiKeys).where(eq(apiKeys.user_id, owner.user_id));
    await owner.home.d1.prepare(change).bind(owner.id, key?.id).run();
    for (const limit of [1, 20, 100]) {
      const { rows_read, rows_written } = await costOf('GET', of(`changes?limit=${limit}`));
      expect(rows_read).toBeLessThanOrEqual(4 * limit + 15);
      expect(rows_written).toBe(1); // what it takes from the owner's allowance
    }
  });

  test('rotating a token reads the sites and at most 50 more rows, and writes at most 11', async () => {
    for (const keep_old of ['1d', '2d', '3d', '4d', '5d', '6d', '7d']) {
      const { rows_read, rows_written } = await costOf('POST', of('token'), { keep_old });
      expect(rows_read).toBeLessThanOrEqual(SITES + 50);
      expect(rows_written).toBeLessThanOrEqual(11);
    }
    const { rows_read, rows_written } = await costOf('POST', of('token'));
    expect(rows_read).toBeLessThanOrEqual(SITES + 50);
    expect(rows_written).toBeLessThanOrEqual(11);
  });

  test('stopping f former tokens reads the sites and at most 6f + 22 more rows, and writes at most f + 3', async () => {
    for (const [limit, rows] of [
      [1, 15 + 2], // the limits add as many rows as they do when reading the business (today is the 15th)
      [null, 0],
    ] as const) {
      const limits = { daily_limit: limit, monthly_limit: limit };
      await owner.db.update(businesses).set(limits).where(eq(businesses.id, owner.id));
      for (const former of [0, 1, 5]) {
        await costOf('DELETE', of('token/former'));
        for (let stored = 0; stored < former; stored++) await addFormerToken(owner);
        const { rows_read, rows_written } = await costOf('DELETE', of('token/former'));
        expect(rows_read).toBeLessThanOrEqual(SITES + 6 * former + 22 + rows);
        expect(rows_written).toBe(former === 0 ? 0 : former + 3);
      }
    }
  });

  test('stopping one of five former tokens reads the sites and at most 52 more rows, and writes 4', async () => {
    await costOf('DELETE', of('token/former'));
    for (let stored = 0; stored < 5; stored++) await addFormerToken(owner);
    const [{ id }] = (await call('GET', `/api/v1/business/${owner.id}`, { as: owner.key })).body.data.former_tokens;
    const { rows_read, rows_written } = await costOf('DELETE', of(`token/former/${id}`));
    expect(rows_read).toBeLessThanOrEqual(SITES + 6 * 5 + 22);
    expect(rows_written).toBe(1 + 3);
  });

  test('listing refused origins reads them and the sites', async () => {
    for (let index = 0; index < 55; index++)
      await recordOrigin(owner.home.d1, owner.id, `https://r${index}.example`, 0, NOW);
    const list = await costOf('GET', of('access/refused'));
    expect(list.rows_read).toBeLessThanOrEqual(SITES + 50 + 4);
    expect(list.rows_written).toBe(0);
    const forgotten = await costOf('DELETE', of('access/refused'));
    expect(forgotten.rows_read).toBeLessThanOrEqual(2 * 50 + 5);
    expect(forgotten.rows_written).toBe(50);
  });

  test('a key’s first use of the day writes one row after the response', async () => {
    const cost = noCost();
    const [key] = await owner.db.select().from(apiKeys).where(eq(apiKeys.user_id, owner.user_id));
    await markKey(metered(owner.home.d1, cost), key?.id ?? 0, '2026-03-16');
    expect(cost).toMatchObject({ round_trips: 1, rows_written: 1 });
  });

  test('changing sites reads and writes a bounded number of rows for each site in the request and each stored site', async () => {
    const list = await costOf('GET', owner.access);
    expect(list.rows_read).toBeLessThanOrEqual(SITES + 4);
    const [{ id }] = (await call('GET', owner.access, { as: owner.key })).body.data.access_list;
    const removed = await costOf('DELETE', `${owner.access}/${id}`);
    expect(removed.rows_read).toBeLessThanOrEqual(SITES + 20);
    expect(removed.rows_written).toBeLessThanOrEqual(4);
    const added = await costOf('POST', owner.access, { sites: [origin] });
    expect(added.rows_read).toBeLessThanOrEqual(2 * SITES + 14 + 40);
    expect(added.rows_written).toBeLessThanOrEqual(5 + 6);
    const all = await costOf('DELETE', owner.access);
    expect(all.rows_read).toBeLessThanOrEqual(4 * SITES + 20);
    expect(all.rows_written).toBeLessThanOrEqual(SITES + 3);
    for (let stored = 0; stored < SITES; stored += 100) {
      const sites = Array.from({ length: 100 }, (_, index) => `https://t${stored + index}.example`);
      const hundred = await costOf('POST', owner.access, { sites });
      // Beyond 1,000 names, sites take over those of sites that never counted, which takes a look at all names and days, twice.
      const isBeyond = SITES + 1 + stored + sites.length > 1000;
      expect(hundred.rows_read).toBeLessThanOrEqual(2 * stored + 14 * 100 + 40 + (isBeyond ? 7000 : 0));
      expect(hundred.rows_written).toBeLessThanOrEqual(5 * 100 + 6);
    }
  });

  test('a list of m uses reads at most 5m + 27 rows, and writes one for each use, one for each day and two more', async () => {
    for (const length of [1, 100, 1000]) {
      const uses = Array.from({ length }, (_, index) => ({ id: `${length}-${index}` }));
      const { rows_read, rows_written } = await costOf('POST', owner.usage, { uses });
      expect(rows_read).toBeLessThanOrEqual(5 * length + 27);
      expect(rows_written).toBeLessThanOrEqual(length + 3);
    }
  });
});

describe('limits that change on a date', { tags: 'slow' }, () => {
  const patch = ({ id }: Business, body: object, at = NOW) =>
    call('PATCH', `/api/v1/business/${id}`, { as: OPERATOR.full, body, at });
  const on = (day: string) => new Date(`${day}T12:00:00Z`);
  const extra = async ({ id }: Business, day = '2026-03-15') => {
    const headers = { 'Idempotency-Key': day };
    const sent = { as: OPERATOR.full, body: { uses: 5, month: 'this' }, headers, at: on(day) };
    expect((await call('POST', `/api/v1/business/${id}/extra`, sent)).status).toBe(200);
  };
  const PLANS: Record<string, (business: Business) => Promise<unknown>> = {
    unchanged: async () => {},
    pending: (business) => patch(business, { overage: 2, limits_from: 'next_month' }),
    async history(business) {
      for (const [overage, day] of ['2026-01-02', '2026-02-03', '2026-02-04', '2026-03-05'].entries())
        await patch(business, { overage: overage + 1 }, on(day));
    },
  };
  const LIMITS = {
    none: {},
    daily: { daily_limit: 1_000_000 },
    monthly: { monthly_limit: 1_000_000 },
    both: { daily_limit: 1_000_000, monthly_limit: 1_000_000 },
  };
  /** The rows that a use reads and writes on the 15th, without an id and with one. */
  async function rowsOf(limits: object, change: (business: Business) => Promise<unknown>) {
    const one = await newLimitedBusiness(limits);
    const next = await newBusiness({ user_id: one.user_id }); // an index lookup reads one row past the match
    await change(one);
    await fill([one, next], 90);
    const rows = [];
    for (const headers of [{}, { 'Idempotency-Key': 'order-1' }]) {
      const { status, cost } = await call('POST', one.usage, { as: one.key, headers });
      expect(status).toBe(200);
      expect(cost.round_trips).toBe(1);
      rows.push(`${cost.rows_read} ${cost.rows_written}`);
    }
    return rows.join(', ');
  }

  test('a use reads no more rows for a business whose limits never changed, and few more for the others', async () => {
    const rows: Record<string, Record<string, string>> = {};
    for (const [name, change] of Object.entries(PLANS)) {
      const ofPlan: Record<string, string> = {};
      rows[name] = ofPlan;
      for (const [limit, fields] of Object.entries(LIMITS)) ofPlan[limit] = await rowsOf(fields, change);
    }
    const many = async (business: Business) => {
      for (const day of ['2026-01-15', '2026-02-15', '2026-03-15']) await extra(business, day);
    };
    rows.extra = { monthly: await rowsOf(LIMITS.monthly, many), both: await rowsOf(LIMITS.both, many) };
    const { none, ...limited } = { none: '8 1, 10 2', daily: '15 1, 17 2', monthly: '59 1, 61 2', both: '63 1, 65 2' };
    expect(rows).toEqual({
      unchanged: { none, ...limited },
      pending: { none: '11 1, 13 2', ...limited },
      history: { none: '11 1, 13 2', ...limited },
      extra: { monthly: '63 1, 65 2', both: '67 1, 69 2' },
    });
  });

  test('a list of which half is late reads few more rows for a business with a history and extras', async () => {
    const rows: Record<string, string> = {};
    for (const [name, change] of Object.entries({
      ...PLANS,
      async extra(business: Business) {
        for (const day of ['2026-02-15', '2026-03-15']) await extra(business, day);
      },
    })) {
      const one = await newLimitedBusiness(LIMITS.both);
      await change(one);
      await fill([one], 90);
      const uses = Array.from({ length: 1000 }, (_, index) => ({
        id: `order-${index}`,
        ...(index % 2 === 0 && { at: `2026-02-${10 + (index % 18)}T12:00:00Z` }),
      }));
      const { status, cost } = await call('POST', one.usage, { as: one.key, body: { uses } });
      expect(status).toBe(200);
      rows[name] = `${cost.rows_read} ${cost.rows_written}`;
    }
    expect(rows).toEqual({ unchanged: '9238 1012', pending: '9258 1012', history: '9278 1012', extra: '9242 1012' });
  });
});

// These tests run last because they store 100,000 rows, and other tests read all tables.
test('a page of totals for m businesses over n days reads at most m(n + 2) + 2 rows, whatever else is stored', {
  tags: 'slow',
}, async () => {
  const [{ d1 }] = homes;
  const after = (await d1.prepare('select max(id) as id from businesses').first<number>('id')) ?? 0;
  const made = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
    insert into businesses (user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
    select 2000000 + i, 'Acme', 'acme.example', 'https://acme.example', 1, 'small', printf('listed-%030d', i), 'active', '', '' from n`;
  const days = `with recursive n(i) as (select 0 union all select i + 1 from n where i < 39)
    insert into daily_usage (business_id, day, count) select id, date('2026-04-05', '-' || i || ' days'), 1 from businesses, n where id > ?`;
  await d1.batch([d1.prepare(made), d1.prepare(days).bind(after)]);
  for (const [m, from, n] of [
    [1000, '2026-03-01', 31],
    [1000, '2026-03-31', 1],
    [1, '2026-03-01', 31],
  ] as const) {
    const path = `/api/v1/usage?from=${from}&to=2026-03-31&limit=${m}&after=${after}`;
    const { body, cost } = await call('GET', path, { as: OPERATOR.record });
    expect(body.data.usage.map(({ count }: { count: number }) => count)).toEqual(Array(m).fill(n));
    expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(cost.rows_read).toBeLessThanOrEqual(m * (n + 2) + 2);
    expect(cost.rows_read).toBeGreaterThan(m * n);
  }
});

test('an invoice run of 1,000 businesses reads few more rows if their limits have changed and they have extras', {
  tags: 'slow',
}, async () => {
  const [{ d1 }] = homes;
  const after = (await d1.prepare('select max(id) as id from businesses').first<number>('id')) ?? 0;
  const n = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)';
  const made = `${n} insert into businesses (user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at,
      monthly_limit) select 3000000 + i, 'Acme', 'acme.example', 'https://acme.example', 1, 'small', printf('billed-%030d', i), 'active', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z', 10 from n`;
  const days = `with recursive n(i) as (select 0 union all select i + 1 from n where i < 31)
    insert into daily_usage (business_id, day, count) select id, date('2026-04-01', '-' || i || ' days'), 1 from businesses, n where id > ?`;
  await d1.batch([d1.prepare(made), d1.prepare(days).bind(after)]);
  const path = `/api/v1/usage?ended=2026-03-31&limit=1000&after=${after}`;
  const read = async () => {
    const { body, cost } = await call('GET', path, { as: OPERATOR.record, at: new Date('2026-05-01T12:00:00Z') });
    expect(body.data.usage).toHaveLength(1000);
    expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    return { rows: cost.rows_read, ...body.data.usage[999] };
  };
  const unchanged = await read();
  expect(unchanged).toMatchObject({ count: 31, monthly_limit: 10, extra: 0 });
  expect(unchanged.rows).toBeLessThanOrEqual(1000 * (31 + 4) + 3);
  await d1.batch([
    d1
      .prepare(
        `update businesses set limits_since = '2026-04-10', monthly_limit = 50, extras_until = '2026-04-01' where id > ?`,
      )
      .bind(after),
    ...['2026-02-09', '2026-03-09', '2026-04-09'].map((day, index) =>
      d1
        .prepare(
          'insert into former_limits (business_id, ends_on, monthly_limit, page_overage) select id, ?, ?, 0 from businesses where id > ?',
        )
        .bind(day, 20 + index, after),
    ),
    ...['2026-02-01', '2026-03-01', '2026-04-01'].map((day, index) =>
      d1
        .prepare('insert into extras (business_id, starts_on, uses) select id, ?, ? from businesses where id > ?')
        .bind(day, 5 + index, after),
    ),
  ]);
  const changed = await read();
  expect(changed).toMatchObject({ count: 31, monthly_limit: 22, extra: 6 });
  expect(changed.rows - unchanged.rows).toBe(2 * 1000);
});

test('a report of n days reads at most n + 4 rows, however much else is stored', { tags: 'slow' }, async () => {
  await crowd(10, 10);
  const before = await costs();
  for (const extra of Object.values(before)) expect(extra).toBeLessThanOrEqual(4);
  await crowd(100, 1000);
  const counts = await Promise.all(homes.map(({ db }) => db.$count(dailyUsage)));
  expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThan(100_000);
  const sites = `insert into sites (business_id, site, created_at, updated_at) select ?, value, '', '' from json_each(?)`;
  const others = Array.from({ length: 499 }, (_, index) => `https://s${index}.example`);
  await business.home.d1.prepare(sites).bind(business.id, JSON.stringify(others)).run();
  expect(await costs()).toEqual(before);
});
