// The purge deletes expired rows in batches that leave time for requests. The simulator (test/sim) checks what has expired.
import { and, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { beforeEach, expect, test } from 'vitest';
import { noCost } from '../src/db/batch.ts';
import { metered } from '../src/db/meter.ts';
import { alerts, changes, formerTokens, ledger, runs, seenOrigins } from '../src/db/schema.ts';
import { purgeAll, windowsFor } from '../src/purge.ts';
import { forgetIds } from '../src/usage/ledger.ts';
import { call, env, homes, later, NOW, newBusiness, recordStatements, TODAY } from './support.ts';

const DAY_MS = 86_400_000;
/** TODAY, as the ledger stores it. */
const DAY_NUMBER = Date.parse(TODAY) / DAY_MS;

// A run deletes expired rows of every business, so each test starts with empty tables.
beforeEach(async () => {
  for (const { db } of homes) {
    await db.batch([db.delete(ledger), db.delete(formerTokens), db.delete(seenOrigins), db.delete(changes)]);
    await db.batch([db.delete(alerts), db.delete(runs)]);
  }
});

/** Runs the purge `days` days after TODAY. `turn` is the index of the run within that day. There is one run every two minutes. */
const run = (days: number, turn = 0, bindings: object = env) =>
  purgeAll(bindings, {
    cost: noCost(),
    scheduled: new Date(Date.parse(TODAY) + days * DAY_MS + turn * 120_000),
    log: {
      error(line) {
        throw new Error(JSON.stringify(line));
      },
    },
  });

test('a walk deletes every expired id and no other, begins once a day, and continues where the last run stopped', {
  tags: 'slow',
}, async () => {
  const business = await newBusiness();
  const { d1 } = business.home;
  const ids = () => business.db.$count(ledger);
  const insert = (count: number, prefix: string, forget_on: number) =>
    d1
      .prepare(
        `insert into ledger (business_id, digest, day, forget_on, quantity) with recursive n(i) as (select 1 union all select i + 1 from n
        where i < ${count}) select ?, unhex(printf('%s%030x', ?, i)), 20500, ?, 1 from n`,
      )
      .bind(business.id, prefix, forget_on)
      .run();
  const [today, tomorrow] = [DAY_NUMBER + 27, DAY_NUMBER + 28];
  await insert(45_000, '00', today);
  await insert(100, '0f', tomorrow);
  await insert(5000, 'ff', today);
  // With three databases, a run examines four windows of 10,000 ids in each.
  await run(26);
  await run(26, 1);
  expect(await ids()).toBe(50_100);
  await run(27);
  expect(await ids()).toBe(10_100);
  await run(27, 1);
  expect(await ids()).toBe(100);
  await insert(10, 'aa', today);
  await run(27, 719);
  expect(await ids()).toBe(110);
  await run(28);
  expect(await ids()).toBe(0);
});

test('a run says how many ids it deleted in all databases', async () => {
  for (const { number } of homes) {
    const business = await newBusiness({ user_id: 9_000_000 + number });
    expect(business.home.number).toBe(number);
    const row = { business_id: business.id, day: DAY_NUMBER, forget_on: DAY_NUMBER + 27, quantity: 1 };
    const ids = Array.from({ length: 2 + number }, (_, index) => new Uint8Array(16).fill(index) as Buffer);
    await business.db.insert(ledger).values(ids.map((digest) => ({ ...row, digest })));
  }
  expect(await run(27)).toEqual({ failed: [], ids: 2 + 3 + 4 });
});

test('a run reads five rows while the walk rests, however many ids are stored', async () => {
  const business = await newBusiness();
  const digest = (index: number) => new Uint8Array(16).fill(index) as Buffer;
  const row = { business_id: business.id, day: DAY_NUMBER, forget_on: DAY_NUMBER + 41, quantity: 1 };
  await business.db.insert(ledger).values([1, 2, 3, 4, 5, 6, 7, 8].map((index) => ({ ...row, digest: digest(index) })));
  const cost = noCost();
  const forget = () => forgetIds(drizzle(metered(business.home.d1, cost)), later(28 * DAY_MS), 15);
  await forget();
  const { rows_read, rows_written } = cost;
  await forget();
  expect([cost.rows_read - rows_read, cost.rows_written - rows_written]).toEqual([5, 0]);
});

test('a purge run examines at most 8,000 refused origins, wherever their businesses’ ids are, and a walk deletes all old ones', {
  tags: 'slow',
}, async () => {
  const { id, home } = await newBusiness();
  const { d1, binding } = home;
  // A thousand adjacent ids, ids with gaps, and a distant id. Each business has an origin that is not old.
  const ids = `with recursive n(i) as (select 0 union all select i + 1 from n where i < 1029),
    ids(i) as (select case when i < 1000 then ?1 + i when i < 1029 then ?1 + i * i * 10 else ?1 + 900000000 end from n)`;
  const [made] = await d1.batch([
    d1
      .prepare(
        `insert into businesses (id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
        ${ids} select i, user_id, name, main_domain, site, country_id, business_size, printf('token-%030d', i), status, created_at, updated_at
        from businesses, ids where id = ?1 and i <> ?1`,
      )
      .bind(id),
    d1
      .prepare(
        `insert into seen_origins ${ids}, o(n) as (select 0 union all select n + 1 from o where n < 49)
        select i, 'https://x' || n || '.example', 1, ?2, case when n = 0 then ?3 else ?2 end, 0, '[]' from ids, o`,
      )
      .bind(id, '2026-03-15T12:00:00.000000Z', '2026-03-16T12:00:00.000000Z'),
  ]);
  expect(made?.meta.changes).toBe(1029);
  const costs = [];
  const left = () => d1.prepare('select count(*) as n from seen_origins').first<number>('n');
  for (let turn = 9; ((await left()) ?? 0) > 1030 && turn < 720; turn += 10) {
    const cost = noCost();
    await run(91, turn, { [binding]: metered(d1, cost) });
    costs.push(cost);
  }
  expect(await left()).toBe(1030);
  expect(costs).toHaveLength(7); // 51,500 rows
  for (const { rows_read, rows_written } of costs) {
    expect(rows_read).toBeLessThanOrEqual(3 * 8000 + 20); // SQLite reads a row that it deletes twice
    expect(rows_written).toBeLessThanOrEqual(8001);
  }
});

test('a business’s last change is retained, so the ids of its changes do not restart', { tags: 'slow' }, async () => {
  const business = await newBusiness();
  const rotate = async (at = NOW) => {
    await call('POST', `/api/v1/business/${business.id}/token`, { as: business.key, at });
    const isOwn = and(eq(changes.subject, 'business'), eq(changes.subject_id, business.id));
    const rows = await business.db.select({ id: changes.id }).from(changes).where(isOwn).orderBy(changes.id);
    return rows.map(({ id }) => id);
  };
  await rotate();
  await rotate();
  expect(await rotate()).toEqual([1, 2, 3]);
  for (const days of [400, 401, 420]) await run(days, 4);
  expect(await rotate(later(500 * DAY_MS))).toEqual([3, 4]);
  // Change 3 has expired and is no longer the last. Changes this old are checked only once a day, in the first run that purges changes.
  await run(501, 4);
  expect(await rotate(later(501 * DAY_MS))).toEqual([3, 4, 5]);
  await run(502, 1);
  expect(await rotate(later(502 * DAY_MS))).toEqual([4, 5, 6]);
});

test('changes are deleted after 400 days, at most 8,000 in three purge runs', { tags: 'slow' }, async () => {
  const business = await newBusiness();
  const { d1 } = business.home;
  for (const { db } of homes) await db.delete(changes); // the changes recorded when the businesses were created
  const rows = (count: number, first: number, at: string) =>
    d1
      .prepare(
        `insert into changes (subject, subject_id, id, at, actor, action) with recursive n(i) as (select 0 union all select i + 1
        from n where i < ?1 - 1) select 'business', ?2, ?3 + i, ?4, 'operator (…abcd)', 'add_sites' from n`,
      )
      .bind(count, business.id, first, at);
  await d1.batch([rows(9000, 101, '2026-03-15T23:59:59.999000Z'), rows(10, 9101, '2026-03-16T00:00:00.000000Z')]);
  const left: number[] = [];
  for (const turn of [719, 720, 721, 722, 723, 724]) {
    await run(400, turn);
    left.push(await business.db.$count(changes));
  }
  expect(left).toEqual([9010, 9010, 1010, 1010, 1010, 10]);
});

test.each([
  ['former tokens', 0, 'former_tokens', `null, 't' || i, ?1, '2026-03-01T00:00:00.000000Z', null, null`],
  [
    ...(['sessions', 3, 'api_keys (user_id, name, hash, last_four, role, created_at, ends_at)'] as const),
    `?1, 'console', printf('%064x', i), '0000', 'full', '2026-03-01', '2026-03-01T00:00:00.000000Z'`,
  ],
  [
    ...(['codes', 5, 'codes (hash, user_id, role, minutes, expires_at)'] as const),
    `printf('%064x', i), ?1, 'full', 60, '2026-03-01T00:00:00.000000Z'`,
  ],
  [
    ...(['alerts', 6, 'alerts (id, business_id, period, starts_on, ends_on, "limit", threshold, used, at)'] as const),
    `printf('%036d', i), ?1, 'day', '2026-03-01', '2026-03-01', i, 100, i, '2026-03-01T00:00:00.000000Z'`,
  ],
])('at most 8,000 %s are deleted in ten purge runs', { tags: 'slow' }, async (_, turn, table, values) => {
  const { id, home } = await newBusiness();
  const count = () => home.d1.prepare(`select count(*) as n from ${table.split(' ')[0]}`).first<number>('n');
  const before = (await count()) ?? 0;
  const rows = `insert into ${table} with recursive n(i) as (select 1 union all select i + 1 from n where i < 9000) select ${values} from n`;
  await home.d1.prepare(rows).bind(id).run();
  const left: number[] = [];
  for (const at of [turn, turn + 10]) {
    await run(100, at);
    left.push(((await count()) ?? 0) - before);
  }
  expect(left).toEqual([1000, 0]);
});

test('a purge run sends at most 47 statements to a single database, or five to each of nine, and the statements use indexes', {
  tags: 'slow',
}, async () => {
  // More rows have expired than a run deletes.
  const { home, id } = await newBusiness();
  const ids = `insert into ledger (business_id, digest, day, forget_on, quantity) with recursive n(i) as (select 1 union all select i + 1 from n
    where i < 160000) select ?, unhex(printf('%032x', i)), 20513, 20554, 1 from n`;
  await home.d1.prepare(ids).bind(id).run();
  const { sent, bindings } = recordStatements(home);
  const counts: number[] = [];
  for (const turn of [0, 1, 2, 3, 4, 5, 6, 8, 9]) {
    const before = sent.length;
    await run(400, turn, { [home.binding]: bindings.DB });
    counts.push(sent.length - before);
  }
  // The first run examines fifteen windows of the ledger, and the second the last one. From then on, the walk rests, and a run looks for
  // ids of deleted businesses.
  expect(counts).toEqual([46, 6, 4, 3, 3, 3, 4, 3, 4]);
  expect([1, 9, 10, 62].map((count) => 2 + 3 * windowsFor(count))).toEqual([47, 5, 98, 14]);
  const plans = sent.map(async ({ sql, values }) => {
    const plan = home.d1.prepare(`explain query plan ${sql}`).bind(...values);
    return (await plan.all<{ detail: string }>()).results.map(({ detail }) => detail);
  });
  const details = (await Promise.all(plans)).flat();
  // `deletions` is small: it contains only deletions in progress. The others are the periods of twenty businesses.
  const scans = details.filter((detail) => /^SCAN (?!CONSTANT ROW|\(subquery|json_each)|TEMP B-TREE/.test(detail));
  expect(scans).toEqual(['SCAN deletions', 'SCAN days', 'SCAN spans', 'SCAN used']);
  for (const index of [
    ...['SEARCH ledger USING PRIMARY KEY ((business_id,digest)>(?,?))'],
    ...['SEARCH ledger USING PRIMARY KEY (business_id=? AND digest=?)'],
    ...['SEARCH former_tokens USING COVERING INDEX former_tokens_expires_at (expires_at<?)'],
    ...['SEARCH changes USING COVERING INDEX changes_at (at<?)'],
    ...['SEARCH changes USING COVERING INDEX changes_at (at>? AND at<?)'],
    ...['SEARCH api_keys USING COVERING INDEX api_keys_ends_at (ends_at<?)'],
    ...['SEARCH codes USING COVERING INDEX codes_expires_at (expires_at<?)'],
    ...['SEARCH alerts USING COVERING INDEX alerts_at (at<?)'],
    'SEARCH seen_origins USING PRIMARY KEY (business_id>? AND business_id<?)',
  ])
    expect(details).toContain(index);
});

test('a failed purge run logs one line for the database, with the error and without bound values', async () => {
  const error = () => Promise.reject(new Error('D1_ERROR: disk I/O error'));
  const DB = { prepare: () => ({ bind: () => ({ run: error }) }) } as unknown as D1Database;
  const lines: object[] = [];
  const ran = await purgeAll({ DB }, { scheduled: NOW, log: { error: (line) => lines.push(line) }, cost: noCost() });
  expect(ran).toEqual({ failed: ['DB'], ids: 0 });
  expect(lines).toEqual([
    { operation: 'purge', database: 'DB', error: expect.stringMatching(/^Error: D1_ERROR: disk I\/O error\n/) },
  ]);
  expect(JSON.stringify(lines)).not.toContain(TODAY);
});
