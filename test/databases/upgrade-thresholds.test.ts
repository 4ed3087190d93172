// The migration that replaces the alerts table to allow thresholds other than 80 and 100 percent. Ids must continue from the old table.
// Each message stores the id of the last alert that it contains, so an alert with a reused id would not be sent.
import { applyD1Migrations } from 'cloudflare:test';
import { drizzle } from 'drizzle-orm/d1';
import { beforeEach, expect, test } from 'vitest';
import { storeMissingAlerts, storeReachedAlerts } from '../../src/db/alerts.ts';
import { leaseNextMessage } from '../../src/db/messages.ts';
import { env, NOW, resetDatabases, TODAY } from '../support.ts';

const STAMP = '2026-03-01T08:00:00.000000Z';
const D1 = env.ONE;
const run = (sql: string, ...values: (string | number)[]) => D1.prepare(sql).bind(...values);
const rows = async (sql: string) => (await run(sql).all()).results;
/** Stores an alert as the previous version does. */
const alert = (business_id: number, starts_on: string, threshold: number) =>
  run(
    `insert into alerts (business_id, period, starts_on, ends_on, "limit", threshold, used, at)
      values (?, 'day', ?, ?, 10, ?, 10, '${STAMP}')`,
    ...[business_id, starts_on, starts_on, threshold],
  );
const lastId = async () =>
  (await rows(`select name, seq from sqlite_sequence where name like '%alerts%'`)).map(({ name, seq }) => [name, seq]);
const upgrade = () => applyD1Migrations(D1, env.MIGRATIONS);

/** Creates the database before the migration, with two businesses that have a limit. */
beforeEach(async () => {
  await resetDatabases();
  const first = env.MIGRATIONS.findIndex(({ name }) => name === '0020_alert_at.sql');
  await applyD1Migrations(D1, env.MIGRATIONS.slice(0, first));
  const business = `insert into businesses (id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at,
      updated_at, daily_limit, limits_at)
    values (?, 7, 'Acme', 'acme.example', 'https://acme.example', 1, 'small', ?, 'active', '${STAMP}', '${STAMP}', 10, '${STAMP}')`;
  await D1.batch([41, 42].map((id) => run(business, id, `bua_pk_0${'A'.repeat(31)}${id}`)));
});

test('alerts keep their ids, and the next id follows the highest id ever used', async () => {
  await D1.batch([
    ...['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04'].map((day) => alert(41, day, 80)),
    run('delete from alerts where id in (2, 4)'),
  ]);
  const before = await rows('select * from alerts order by id');
  await upgrade();
  expect(await rows('select * from alerts order by id')).toEqual(before);
  expect(before.map(({ id }) => id)).toEqual([1, 3]);
  expect(await lastId()).toEqual([['alerts', 4]]);
  await alert(42, TODAY, 100).run();
  expect(await rows('select max(id) as id from alerts')).toEqual([{ id: 5 }]);
});

test('ids in an emptied table continue after the last id, and the next alert is sent', async () => {
  await D1.batch([
    ...['01', '02', '03', '04', '05', '06', '07'].map((day) => alert(41, `2026-03-${day}`, 100)),
    run(
      `insert into messages (last_id, id, body, created_at, leased_until, sent_at) values (7, 'msg_a', null, ?1, ?1, ?1)`,
      STAMP,
    ),
    run('delete from alerts'),
  ]);
  await upgrade();
  expect(await lastId()).toEqual([['alerts', 7]]);
  const passed = { period: 'day', starts_on: TODAY, ends_on: TODAY, limit: 10, threshold: 80, used: 8 } as const;
  await storeReachedAlerts(D1, 42, [passed], NOW);
  expect(await rows('select id, business_id, threshold from alerts')).toEqual([
    { id: 8, business_id: 42, threshold: 80 },
  ]);
  expect(JSON.parse((await leaseNextMessage(drizzle(D1), NOW, null))?.body ?? '')).toMatchObject({
    data: { alerts: [{ id: 8, business_id: 42 }] },
  });
});

test('ids begin at 1 in a table that never had an alert', async () => {
  await upgrade();
  expect(await lastId()).toEqual([]);
  await alert(41, TODAY, 80).run();
  expect(await rows('select id from alerts')).toEqual([{ id: 1 }]);
});

test('thresholds default to 80 and 100 and can range from 1 to 1,000', async () => {
  await upgrade();
  const day = 'insert into daily_usage (business_id, day, count) values (?, ?, 60)';
  await D1.batch([
    run(day, 41, TODAY),
    run(day, 42, TODAY),
    run('update businesses set alert_at = ? where id = 42', '[5,600]'),
  ]);
  for (const id of [41, 42]) await storeMissingAlerts(D1, id, NOW);
  expect(await rows('select business_id, threshold from alerts order by business_id')).toEqual([
    { business_id: 41, threshold: 100 },
    { business_id: 42, threshold: 600 },
  ]);
  for (const threshold of [1, 1000]) await alert(41, '2026-03-01', threshold).run();
  for (const threshold of [0, 1001]) await expect(alert(41, '2026-03-02', threshold).run()).rejects.toThrow('CHECK');
  for (const alert_at of ['80', '{}']) {
    const update = run('update businesses set alert_at = ? where id = 41', alert_at).run();
    await expect(update).rejects.toThrow('CHECK');
  }
});

test('the new table has the same indexes and constraints, and its rows are deleted with their business', async () => {
  await D1.batch([alert(41, TODAY, 80), alert(42, TODAY, 80)]);
  const indexes = `select name, "unique" from pragma_index_list('alerts') order by name`;
  const before = await rows(indexes);
  await upgrade();
  expect(await rows(indexes)).toEqual(before);
  expect(before.map(({ name }) => name)).toEqual(['alerts_at', 'alerts_business_id', 'sqlite_autoindex_alerts_1']);
  await expect(alert(41, TODAY, 80).run()).rejects.toThrow('UNIQUE');
  await expect(alert(43, TODAY, 80).run()).rejects.toThrow('FOREIGN KEY');
  await run('delete from businesses where id = 41').run();
  expect(await rows('select business_id from alerts')).toEqual([{ business_id: 42 }]);
  expect(await rows('pragma foreign_key_check')).toEqual([]);
});
