// Upgrades a deployment whose businesses were transferred to other users by a version that did not yet revoke the former owner's keys.
import { applyD1Migrations } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { env } from '../support.ts';

const STAMP = '2026-03-01T08:00:00.000000Z';
const ENDED = '2026-03-02T08:00:00.000000Z';
const LATER = '2126-03-01T08:00:00.000000Z';
const D1 = env.ONE;

test('the upgrade revokes only the former owners’ keys and sessions for a transferred business', async () => {
  const first = env.MIGRATIONS.findIndex(({ name }) => name === '0015_given.sql');
  await applyD1Migrations(D1, env.MIGRATIONS.slice(0, first));
  const business = `insert into businesses (id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
    values (?, ?, 'Acme', 'acme.example', 'https://acme.example', 1, 'small', ?, 'active', '${STAMP}', '${STAMP}')`;
  const key = `insert into api_keys (id, user_id, name, hash, last_four, created_at, business_id, revoked_at, ends_at)
    values (?1, ?2, 'server', printf('%064d', ?1), 'abcd', '${STAMP}', ?3, ?4, ?5)`;
  const rows: [id: number, user: number, business: number | null, revoked: string | null, ends: string | null][] = [
    [11, 7, 41, null, null],
    [12, 7, 41, null, LATER],
    [13, 7, 41, null, ENDED],
    [14, 7, 41, ENDED, null],
    [15, 8, 41, null, null],
    [16, 7, 42, null, LATER],
    [17, 7, null, null, null],
  ];
  await D1.batch([
    D1.prepare(business).bind(41, 8, `bua_pk_0${'A'.repeat(33)}`),
    D1.prepare(business).bind(42, 7, `bua_pk_0${'B'.repeat(33)}`),
    ...rows.map((row) => D1.prepare(key).bind(...row)),
  ]);
  await applyD1Migrations(D1, env.MIGRATIONS);
  const { results } = await D1.prepare('select id, revoked_at, ends_at from api_keys order by id').all<{
    ends_at: string | null;
  }>();
  const now = expect.stringMatching(/^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  expect(results).toEqual([
    { id: 11, revoked_at: now, ends_at: null },
    { id: 12, revoked_at: now, ends_at: now },
    { id: 13, revoked_at: now, ends_at: ENDED },
    { id: 14, revoked_at: ENDED, ends_at: null },
    { id: 15, revoked_at: null, ends_at: null },
    { id: 16, revoked_at: null, ends_at: LATER },
    { id: 17, revoked_at: null, ends_at: null },
  ]);
  expect(results[1]?.ends_at).not.toBe(LATER);
});
