// The migration that creates homes for existing owners without changing homes that are already claimed.
import { applyD1Migrations } from 'cloudflare:test';
import { beforeEach, expect, test } from 'vitest';
import { env, resetDatabases } from '../support.ts';

const STAMP = '2026-03-01T08:00:00.000000Z';
const FILLED_IN = '0011_homes.sql';

const business = (id: number, user_id: number) =>
  env.ONE.prepare(`insert into businesses
    (id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
    values (?1, ?2, 'Acme', 'acme.example', 'https://acme.example', 1, 'small', 'bua_pk_' || printf('%033d', ?1), 'active',
      '${STAMP}', '${STAMP}')`).bind(id, user_id);
const key = (id: number, user_id: number) =>
  env.ONE.prepare(`insert into api_keys (id, user_id, name, hash, last_four, created_at, revoked_at)
    values (?1, ?2, 'server', printf('%064d', ?1), 'abcd', '${STAMP}', '${STAMP}')`).bind(id, user_id);
const home = (user_id: number, database: number) =>
  env.ONE.prepare('insert into homes (user_id, database) values (?, ?)').bind(user_id, database);
const homes = async () => (await env.ONE.prepare('select user_id, database from homes order by user_id').all()).results;

beforeEach(async () => {
  await resetDatabases();
  const index = env.MIGRATIONS.findIndex(({ name }) => name === FILLED_IN);
  await applyD1Migrations(env.ONE, env.MIGRATIONS.slice(0, index));
});

test('in DB, the migration creates a home in DB for every owner of a business or key, and does not change claimed homes', async () => {
  await env.ONE.batch([
    ...[business(1, 7), business(2, 7), key(1, 7)],
    business(3, 8),
    key(2, 9), // revoked
    ...[business(4, 10), home(10, 0)],
    home(11, 2),
  ]);
  await applyD1Migrations(env.ONE, env.MIGRATIONS);
  expect(await homes()).toEqual([
    { user_id: 7, database: 0 },
    { user_id: 8, database: 0 },
    { user_id: 9, database: 0 },
    { user_id: 10, database: 0 },
    { user_id: 11, database: 2 },
  ]);
});

test('in another database, the migration creates no homes, because the service reads homes only in DB', async () => {
  await env.ONE.batch([business(1_000_000_001, 7), key(1_000_000_001, 8), business(61_000_000_001, 9)]);
  await applyD1Migrations(env.ONE, env.MIGRATIONS);
  expect(await homes()).toEqual([]);
});
