// What a request costs: round trips, rows, and how each statement finds them (contract, section 5).
import { beforeAll, describe, expect, test } from 'vitest';
import { dailyUsage } from '../src/db/schema.ts';
import { type AnyRoute, OF_A_BUSINESS, ROUTES } from './routes.ts';
import { addSite, BASE, type CallOptions, call, databases, everything, homes, newApp, newBusiness } from './support.ts';

type Business = Awaited<ReturnType<typeof newBusiness>>;

/** `days` days of a count each, for as many businesses as given. */
async function fill(businesses: Business[], days: number) {
  const rows = `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${days - 1})
    insert into daily_usage select ?, date('2026-03-15', '-' || i || ' days'), i + 1 from n`;
  for (const { id, home } of businesses) await home.d1.prepare(rows).bind(id).run();
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

test('a report of n days reads at most n + 4 rows, however much else is stored', async () => {
  await crowd(10, 10);
  const before = await costs();
  for (const extra of Object.values(before)) expect(extra).toBeLessThanOrEqual(4);
  await crowd(100, 1000);
  const counts = await Promise.all(homes.map(({ db }) => db.$count(dailyUsage)));
  expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThan(100_000);
  for (let index = 0; index < 499; index++) await addSite(business.id, `https://s${index}.example`);
  expect(await costs()).toEqual(before);
});

test('a refused report reads none of the days', async () => {
  const refused = await call('GET', business.usage, { as: business.token, origin: 'https://evil.example' });
  expect(refused.status).toBe(403);
  expect(refused.cost.round_trips).toBe(1);
  expect(refused.cost.rows_read).toBeLessThanOrEqual(5);
  const unknown = await call('GET', business.usage, { as: 'x'.repeat(24) });
  expect(unknown.cost).toMatchObject({ round_trips: 1, rows_read: 0, rows_written: 0 });
});

test('adding one site writes the entry, its two indexes, the business, and the change with its index', async () => {
  const fresh = await newBusiness();
  const { cost } = await call('POST', fresh.access, { as: fresh.key, body: { sites: [origin] } });
  expect(cost).toMatchObject({ round_trips: 1 });
  expect(cost.rows_written).toBeLessThanOrEqual(6);
  const options = { as: fresh.key, body: { sites: [origin] }, at: new Date('2026-03-16T00:00:00Z') };
  const again = await call('POST', fresh.access, options);
  expect(again.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
});

describe.each(ROUTES)('$method $pattern', (route) => {
  test('finds its rows by index: no statement scans a table', async () => {
    const fresh = await newBusiness({ sites: [origin] });
    const statements: { sql: string; values: unknown[] }[] = [];
    const recording = {
      prepare: (sql: string) => ({
        bind(...values: unknown[]) {
          statements.push({ sql, values });
          return fresh.home.d1.prepare(sql).bind(...values);
        },
      }),
      batch: (bound: D1PreparedStatement[]) => fresh.home.d1.batch(bound),
    };
    for (const as of [fresh.key, fresh.token]) {
      const headers = { ...route.headers, Authorization: `Bearer ${as}`, Origin: origin };
      const init: RequestInit = { method: route.method, headers: { ...headers, 'Content-Type': 'application/json' } };
      if (route.body !== undefined) init.body = JSON.stringify(route.body);
      await newApp().app.fetch(
        new Request(BASE + route.path(fresh), init),
        databases(() => recording as never),
      );
    }
    expect(statements.length).toBeGreaterThanOrEqual(2);
    for (const { sql, values } of statements) {
      const plan = await fresh.home.d1
        .prepare(`explain query plan ${sql}`)
        .bind(...values)
        .all<{ detail: string }>();
      // What is scanned is the one row of the permission, a page that is limited, a list that came with the request, or a constant.
      const scans = plan.results
        .map(({ detail }) => detail)
        .filter(
          (detail) =>
            detail.startsWith('SCAN') && !/^SCAN (permission|page|\(subquery.*\)|json_each|CONSTANT ROW)/.test(detail),
        );
      expect(scans, sql).toEqual([]);
      expect(plan.results.length).toBeGreaterThan(0);
    }
  });
});

describe('a refused call', () => {
  /** A business of the same kind as another, but with much stored: days, sites, and the very ids that the calls name. */
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
      insert into access (business_id, site, created_at, updated_at) select ?, 'https://s' || i || '.example', '${stamp}', '${stamp}' from n`;
    const { d1 } = full.home;
    await d1.batch([
      d1.prepare(sites).bind(full.id),
      d1.prepare(`update businesses set status = ? where id = ?`).bind(status ?? 'active', full.id),
    ]);
    await addSite(full.id, 'https://new.example'); // what `add sites` brings is stored already
    return full;
  }
  const RESTRICTED = { sites: ['https://x.example'] };

  let caller: Business;
  let little: Business;
  let much: Business;
  beforeAll(async () => {
    caller = await newBusiness();
    little = await newBusiness(RESTRICTED);
    much = await crowded(RESTRICTED);
  });

  /** What a call that is refused reads of a business; it writes nothing. */
  async function rowsRead(route: AnyRoute, id: number, options: CallOptions): Promise<number> {
    const refused = await call(route.method, route.path({ id }), {
      ...(route.body === undefined ? {} : { body: route.body }),
      ...options,
      headers: { ...route.headers },
    });
    expect([401, 403, 422]).toContain(refused.status);
    expect(refused.body.status === undefined || refused.body.status === false).toBe(true);
    expect(refused.body.errors).toBeUndefined();
    expect(refused.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(refused.cost.rows_read).toBeLessThanOrEqual(20);
    return refused.cost.rows_read;
  }

  test.each(OF_A_BUSINESS)(
    'to $name reads the same few rows of a business of others, whatever is stored',
    async (route) => {
      for (const as of [caller.key, caller.token]) {
        const none = await rowsRead(route, 999_999_999, { as });
        expect(await rowsRead(route, little.id, { as })).toBe(none);
        expect(await rowsRead(route, much.id, { as })).toBe(none);
      }
    },
  );

  test('reads nothing of a list of a thousand uses', async () => {
    const body = { uses: Array.from({ length: 1000 }, (_, index) => ({ id: `order-${index}` })) };
    for (const as of ['q'.repeat(24), `bua_sk_${'q'.repeat(33)}`, little.token, caller.key]) {
      const { status, cost } = await call('POST', little.usage, { as, body });
      expect(status).not.toBe(200);
      expect(cost.rows_read).toBeLessThanOrEqual(10);
    }
  });

  test.each(OF_A_BUSINESS)(
    'to $name changes nothing, whatever else the database writes between two statements',
    async (route) => {
      const business = await newBusiness(RESTRICTED);
      // A row that belongs to nobody, changed behind each statement of the batch: changes() is 1 for the next.
      const noisy = databases((d1) => {
        const noise = d1.prepare('update businesses set name = name where id = (select max(id) from businesses)');
        const noisy = {
          prepare: (sql: string) => d1.prepare(sql),
          async batch(statements: D1PreparedStatement[]) {
            const results = await d1.batch(statements.flatMap((statement) => [statement, noise]));
            return results.filter((_, index) => index % 2 === 0);
          },
        };
        return noisy as unknown as D1Database;
      });
      const before = await everything();
      for (const as of ['q'.repeat(24), caller.key, caller.token]) {
        const headers = { ...route.headers, Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' };
        const init: RequestInit = { method: route.method, headers };
        if (route.body !== undefined) init.body = JSON.stringify(route.body);
        const answer = await newApp().app.fetch(new Request(BASE + route.path(business), init), noisy);
        expect([401, 422]).toContain(answer.status);
      }
      expect(await everything()).toBe(before);
    },
  );

  test.each(OF_A_BUSINESS)(
    'to $name reads the same few rows from a wrong origin, whatever is stored',
    async (route) => {
      for (const kind of ['key', 'token'] as const) {
        const foreign = (business: Business) => ({ as: business[kind], origin: 'https://a.evil.example' });
        expect(await rowsRead(route, much.id, foreign(much))).toBe(await rowsRead(route, little.id, foreign(little)));
      }
    },
  );

  test.each(ROUTES.filter(({ tokenRefusal }) => tokenRefusal !== null))(
    'to $name reads the same few rows for a token, whatever is stored',
    async (route) => {
      const visit = (business: Business) => ({ as: business.token, origin: 'https://x.example' });
      expect(await rowsRead(route, much.id, visit(much))).toBe(await rowsRead(route, little.id, visit(little)));
    },
  );

  test.each(ROUTES.filter(({ inactiveRefusal }) => inactiveRefusal !== null))(
    'to $name reads the same few rows of an inactive business, whatever is stored',
    async (route) => {
      const suspended = { ...RESTRICTED, status: 'suspended' };
      const [quiet, busy] = [await newBusiness(suspended), await crowded(suspended)];
      expect(await rowsRead(route, busy.id, { as: busy.key })).toBe(await rowsRead(route, quiet.id, { as: quiet.key }));
    },
  );
});

test('recording a use costs the same rows however many uses, businesses, sites, keys and days there are', async () => {
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
  await call('POST', fresh.usage, { as: fresh.key }); // the day's first use inserts its row, which reads another
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
      `insert into ledger (business_id, digest, day, recorded_on) select ?, unhex(printf('%032x', i)), '2026-03-15', '2026-03-15' from n`,
    ),
    many(
      10_000,
      `insert into businesses (user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
      select 1000000 + i, 'Acme', 'acme.example', ?, 1, 'small', printf('token-%030d', i), 'active', ${stamp}, ${stamp} from n`,
    ),
    many(
      499,
      `insert into access (business_id, site, created_at, updated_at) select ?, 'https://t' || i || '.example', ${stamp}, ${stamp} from n`,
    ),
    many(366, `insert into daily_usage select ?, date('2026-03-14', -i || ' days'), 1 from n`),
    fresh.home.d1
      .prepare(
        `insert into api_keys (user_id, name, hash, last_four, created_at)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
        select ?, 'key', printf('%064x', i), '0000', ${stamp} from n`,
      )
      .bind(fresh.user_id),
  ]);
  expect(await costsOf('order-2')).toEqual(before);
});
