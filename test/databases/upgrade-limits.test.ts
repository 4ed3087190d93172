// Upgrades a deployment in the middle of a month. It has limits but no quantities, billing days or alerts. Counting continues, and the
// previous version works on the new tables during the deploy and after a rollback.
import { applyD1Migrations, createExecutionContext } from 'cloudflare:test';
import { drizzle } from 'drizzle-orm/d1';
import { beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { digestOf, sha256Hex } from '../../src/core/credential.ts';
import { storeMissingAlerts, sweep } from '../../src/db/alerts.ts';
import type { Bindings } from '../../src/env.ts';
import { BASE, databaseClock, env, NOW, TODAY } from '../support.ts';

const STAMP = '2026-03-01T08:00:00.000000Z';
const KEY = `bua_sk_0${'K'.repeat(32)}4`;
const TOMORROW = new Date('2026-03-16T12:00:00Z');
const NEXT_MONTH = new Date('2026-04-01T00:00:00Z');
const D1 = env.ONE;
/** The ids of a business with both limits, a business that has reached its monthly limit, and a business without limits. */
const [BOTH, USED_UP, UNLIMITED] = [41, 42, 43];

const run = (sql: string, ...values: (string | number)[]) => D1.prepare(sql).bind(...values);
const alerts = async (business_id: number) =>
  (
    await run(
      'select period, starts_on, "limit", threshold, used from alerts where business_id = ? order by period',
      business_id,
    ).all()
  ).results;

beforeAll(async () => {
  const first = env.MIGRATIONS.findIndex(({ name }) => name === '0014_quotas.sql');
  await applyD1Migrations(D1, env.MIGRATIONS.slice(0, first));
  const columns = `id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at, daily_limit,
    monthly_limit`;
  const business = `insert into businesses (${columns})
    values (?, 7, 'Acme', 'acme.example', 'https://acme.example', 1, 'small', ?, 'active', '${STAMP}', '${STAMP}', nullif(?, ''), nullif(?, ''))`;
  const day = 'insert into daily_usage (business_id, day, count) values (?, ?, ?)';
  await D1.batch([
    run(business, BOTH, `bua_pk_0${'A'.repeat(33)}`, 10, 100),
    run(business, USED_UP, `bua_pk_0${'B'.repeat(33)}`, '', 60),
    run(business, UNLIMITED, `bua_pk_0${'C'.repeat(33)}`, '', ''),
    run(
      `insert into api_keys (id, user_id, name, hash, last_four, created_at) values (17, 7, 'server', ?, ?, '${STAMP}')`,
      await sha256Hex(KEY),
      KEY.slice(-4),
    ),
    ...[BOTH, USED_UP, UNLIMITED].flatMap((id) => [
      run(day, id, '2026-02-28', 1000),
      run(day, id, '2026-03-01', 53),
      run(day, id, TODAY, 7),
    ]),
    run(`insert into ledger values (?, unhex(?), ?, ?, 40)`, BOTH, await digestOf('key', 'order-1'), TODAY, TODAY),
  ]);
  await applyD1Migrations(D1, env.MIGRATIONS);
});

async function send(
  method: string,
  path: string,
  { at = NOW, body, id }: { at?: Date; body?: object; id?: string } = {},
) {
  const app = createApp(() => at, { log: () => {}, error: console.error }, databaseClock);
  const headers = { Authorization: `Bearer ${KEY}`, ...(id === undefined ? {} : { 'Idempotency-Key': id }) };
  const request = new Request(`${BASE}/api/v1/business/${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const response = await app.fetch(request, { DB: D1 } as unknown as Bindings, createExecutionContext());
  return { status: response.status, body: await response.json<{ data: never }>() };
}
const recorded = (data: object) => ({ status: 200, body: { status: true, data } });

test('the upgrade does not change the limits or the uses counted towards them, and the month begins on the 1st', async () => {
  const { businesses } = (await send('GET', '')).body.data as { businesses: { id: number; limits: object | null }[] };
  const month = { month: 60, month_ends: '2026-04-01T00:00:00.000000Z' };
  const shared = { ...month, billing_day: 1, next_billing_day: null, from: null, overage: 0, alert_at: [80, 100] };
  const day = { today: 7, day_ends: '2026-03-16T00:00:00.000000Z' };
  expect(businesses.map(({ id, limits }) => [id, limits])).toEqual([
    [BOTH, { ...shared, ...day, daily: 10, monthly: 100, remaining: 3 }],
    [USED_UP, { ...shared, daily: null, today: null, day_ends: null, monthly: 60, remaining: 0 }],
    [UNLIMITED, null],
  ]);
});

test('after the upgrade, a sweep stores alerts only for the current day and month', async () => {
  for (const id of [BOTH, USED_UP, UNLIMITED]) await storeMissingAlerts(D1, id, NOW);
  for (let minute = 0; minute < 60; minute++) await sweep(drizzle(D1), new Date(NOW.getTime() + minute * 60_000));
  expect(await alerts(BOTH)).toEqual([]);
  expect(await alerts(USED_UP)).toEqual([
    { period: 'month', starts_on: '2026-03-01', limit: 60, threshold: 100, used: 60 },
  ]);
  expect(await alerts(UNLIMITED)).toEqual([]);
});

test('after the upgrade, uses continue to count towards the limits', async () => {
  expect(await send('POST', `usage/${BOTH}`, { id: 'order-1' })).toEqual(
    recorded({ date: TODAY, count: 7, remaining: 3 }),
  );
  expect(await send('POST', `usage/${BOTH}`, { id: 'order-2' })).toEqual(
    recorded({ date: TODAY, count: 8, remaining: 2 }),
  );
  expect(await send('POST', `usage/${BOTH}`, { body: { quantity: 3 } })).toEqual({
    status: 429,
    body: { status: false, message: 'Only 2 of 10 uses for today are left.' },
  });
  expect(await send('POST', `usage/${USED_UP}`, { at: TOMORROW })).toEqual({
    status: 429,
    body: { status: false, message: 'This business has used its 60 uses for this month.' },
  });
  expect(await send('POST', `usage/${USED_UP}`, { at: NEXT_MONTH })).toEqual(
    recorded({ date: '2026-04-01', count: 1, remaining: 59 }),
  );
  expect(await send('POST', `usage/${UNLIMITED}`)).toEqual(recorded({ date: TODAY, count: 8 }));
});

test('on the new tables, the previous version can create a business whose month begins on the 1st and whose limits cause alerts', async () => {
  await D1.batch([
    run(
      `insert into businesses (user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
        values (7, 'New', 'new.example', 'https://new.example', 1, 'small', ?, 'active', '${STAMP}', '${STAMP}')`,
      `bua_pk_0${'D'.repeat(33)}`,
    ),
    run('update businesses set daily_limit = 5 where id = last_insert_rowid()'),
  ]);
  const made = await D1.prepare('select id, billing_day, limits_at from businesses order by id desc').first<{
    id: number;
  }>();
  expect(made).toEqual({ id: expect.any(Number), billing_day: 1, limits_at: null });
  const id = made?.id ?? 0;
  await run('insert into daily_usage (business_id, day, count) values (?, ?, 5)', id, TODAY).run();
  await storeMissingAlerts(D1, id, NOW);
  expect(await alerts(id)).toEqual([{ period: 'day', starts_on: TODAY, limit: 5, threshold: 100, used: 5 }]);
});

test('on the new tables, the previous version can delete a business and its alerts', async () => {
  expect(await alerts(USED_UP)).not.toEqual([]);
  const deletions = ['ledger', 'daily_usage', 'access', 'former_tokens', 'refused_origins', 'api_keys'].map((table) =>
    run(`delete from ${table} where business_id = ?`, USED_UP),
  );
  await D1.batch([...deletions, run('delete from businesses where id = ?', USED_UP)]);
  expect(await alerts(USED_UP)).toEqual([]);
});
