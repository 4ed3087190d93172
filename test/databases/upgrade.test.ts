// Upgrades a deployment whose rows were written after the first three migrations, before the service supported several databases. Applying
// the later migrations is enough to upgrade it, whether it then uses one database or several.
import { applyD1Migrations, createExecutionContext } from 'cloudflare:test';
import { drizzle } from 'drizzle-orm/d1';
import { beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { digestOf, sha256Hex } from '../../src/core/credential.ts';
import type { Bindings } from '../../src/env.ts';
import { boundTo, homeOf } from '../ask.ts';
import { BASE, databaseClock, env, homes, NOW, OPERATOR, OPERATOR_SECRETS } from '../support.ts';

const STAMP = '2026-03-01T08:00:00.000000Z';
const BEFORE = {
  key: `bua_sk_${'K'.repeat(32)}4`,
  token: `bua_pk_${'T'.repeat(33)}`,
  former: `bua_pk_${'F'.repeat(33)}`,
  imported: '8f14e45fceea167a5a36dedd4bea2543',
};
const USED = { '2026-03-01': 5, '2026-03-14': 11 };
const report = Array.from({ length: 14 }, (_, index) => `2026-03-${`${index + 1}`.padStart(2, '0')}`).map((date) => ({
  date,
  count: USED[date as keyof typeof USED] ?? 0,
}));

const old = { number: 0, db: drizzle(env.ONE) };
const bound = {
  'one database': { bindings: { DB: env.ONE }, opened: () => boundTo([old], NOW) },
  'two more databases': {
    bindings: { DB: env.ONE, DB_1: env.DB_1, DB_2: env.DB_2 },
    opened: () => boundTo([old, ...homes.slice(1)], NOW),
  },
} as const;
const page = { Origin: 'https://shop.example' };
/** User 7 has businesses 41 and 42 and a key. User 8 has only a key. */
const [OWNER, KEY_HOLDER] = [7, 8];

beforeAll(async () => {
  const [of83528e3, added] = [env.MIGRATIONS.slice(0, 3), env.MIGRATIONS.slice(3)];
  expect(of83528e3.map(({ name }) => name)).toEqual(['0001_init.sql', '0002_ledger.sql', '0003_former_tokens.sql']);
  expect(added.length).toBeGreaterThan(0);
  await applyD1Migrations(env.ONE, of83528e3);
  const business = `insert into businesses values (?, ${OWNER}, 'Acme', 'acme.example', 'https://acme.example', 1, 'small', ?,
    'active', '${STAMP}', '${STAMP}')`;
  const key = `insert into api_keys values (?, ?, 'server', ?, ?, '${STAMP}', null, null)`;
  const day = 'insert into daily_usage (business_id, day, count) values (41, ?, ?)';
  const rows: [sql: string, ...values: (string | number)[]][] = [
    [business, 41, BEFORE.token],
    [business, 42, BEFORE.imported],
    [key, 17, OWNER, await sha256Hex(BEFORE.key), BEFORE.key.slice(-4)],
    [key, 18, KEY_HOLDER, await sha256Hex('a key of user 8'), 'abcd'],
    [`insert into access values (23, 41, 'https://shop.example', '${STAMP}', '${STAMP}')`],
    ...Object.entries(USED).map(([date, count]): [string, string, number] => [day, date, count]),
    [`insert into ledger values (41, unhex(?), '2026-03-14', '2026-03-14')`, await digestOf('key', 'order-1')],
    [`insert into former_tokens values (?, 41, '2026-03-20T08:00:00.000000Z')`, BEFORE.former],
  ];
  await env.ONE.batch(rows.map(([sql, ...values]) => env.ONE.prepare(sql).bind(...values)));
  await applyD1Migrations(env.ONE, env.MIGRATIONS);
});

test('the upgrade creates a home in DB for every owner', async () => {
  const { results } = await env.ONE.prepare('select user_id, database from homes order by user_id').all();
  expect(results).toEqual([OWNER, KEY_HOLDER].map((user_id) => ({ user_id, database: 0 })));
});

async function sendTo(
  { bindings }: (typeof bound)[keyof typeof bound],
  method: string,
  path: string,
  as: string,
  { body, ...more }: Record<string, string> & { body?: string } = {},
) {
  const headers = { Authorization: `Bearer ${as}`, ...more };
  const app = createApp(() => NOW, { log: () => {}, error: console.error }, databaseClock);
  const response = await app.fetch(
    new Request(`${BASE}/api/v1/${path}`, { method, headers, ...(body !== undefined && { body }) }),
    { ...bindings, ...OPERATOR_SECRETS } as unknown as Bindings,
    createExecutionContext(),
  );
  return { status: response.status, body: await response.json<{ data: never; message?: string }>() };
}

describe.each(Object.entries(bound))('after an upgrade with %s', (_, service) => {
  const { opened } = service;
  const send = (method: string, path: string, as: string, more = {}) =>
    sendTo(service, method, `business/${path}`, as, more);
  const operate = async (path: string, body: object) =>
    (await sendTo(service, 'POST', path, OPERATOR.full, { body: JSON.stringify(body) })).body;
  const asked = '?from=2026-03-01&to=2026-03-14';

  test('existing keys and tokens work, and the usage report is unchanged', async () => {
    const same = { status: 200, body: { status: true, data: { used: report } } };
    expect(await send('GET', `usage/41${asked}`, BEFORE.key)).toEqual(same);
    expect(await send('GET', `usage/41${asked}`, BEFORE.token, page)).toEqual(same);
    expect(await send('GET', `usage/41${asked}`, BEFORE.former, page)).toEqual(same);
    expect((await send('GET', `usage/42${asked}`, BEFORE.imported)).status).toBe(200);
    expect((await send('GET', `usage/41${asked}`, BEFORE.imported)).status).toBe(422);
    expect((await send('GET', `usage/41${asked}`, BEFORE.token)).status).toBe(403); // sent without its site's origin
    const { body } = await send('GET', '41/access', BEFORE.key);
    expect(body.data).toMatchObject({ id: 41, token: BEFORE.token, access_list: [{ id: 23, site: page.Origin }] });
  });

  test('the id of a use from before the upgrade is a duplicate, and a new use counts', async () => {
    const again = await send('POST', 'usage/41', BEFORE.key, { 'Idempotency-Key': 'order-1' });
    expect(again).toEqual({ status: 200, body: { status: true, data: { date: '2026-03-14', count: 11 } } });
    expect((await send('POST', 'usage/42', BEFORE.imported)).status).toBe(200);
  });

  test('an owner’s new keys and businesses are stored in DB, and ids continue', async () => {
    for (const user_id of [OWNER, KEY_HOLDER]) expect(await homeOf(opened(), user_id)).toBe(0);
    const last = await env.ONE.prepare('select max(id) as id from businesses').first<number>('id');
    const fields = { name: 'New', main_domain: 'new.example', site: 'https://new.example' };
    const given = { ...fields, user_id: OWNER, country_id: 1, business_size: 'small' };
    const { data } = await operate('business', given);
    expect(data).toMatchObject({ id: (last ?? 0) + 1, token: expect.stringMatching(/^bua_pk_0[0-9A-Za-z]{33}$/) });
    const key: { id: number; api_key: string } = (await operate(`user/${OWNER}/keys`, {})).data;
    expect(key.id).toBeGreaterThan(18);
    expect(key.id).toBeLessThan(30);
    expect(key.api_key).toMatch(/^bua_sk_0[0-9A-Za-z]{33}$/);
    expect((await send('GET', `usage/41${asked}`, key.api_key)).body.data).toEqual({ used: report });
  });

  test('an imported token from before the upgrade cannot be imported again', async () => {
    const fields = { name: 'New', main_domain: 'new.example', site: 'https://new.example' };
    const given = { ...fields, user_id: 9, country_id: 1, business_size: 'small', token: BEFORE.imported };
    expect((await operate('business', given)).message).toBe(
      'token must not be a current or former token of any business',
    );
  });
});

test('an existing owner stays in DB after the upgrade, even if another database is requested', async () => {
  const { opened } = bound['two more databases'];
  for (const user_id of [OWNER, KEY_HOLDER]) expect(await homeOf(opened(), user_id, 1)).toBe(0);
});

test('existing tokens and keys stop working after a rotation or revocation', async () => {
  const service = bound['two more databases'];
  expect((await sendTo(service, 'POST', 'business/41/token', OPERATOR.full)).status).toBe(200);
  expect((await sendTo(service, 'DELETE', `user/${OWNER}/keys/17`, OPERATOR.full)).status).toBe(200);
  for (const credential of [BEFORE.token, BEFORE.former, BEFORE.key])
    expect((await sendTo(service, 'GET', 'business/usage/41', credential, page)).status, credential).toBe(401);
});
