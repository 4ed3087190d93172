// The operator's requests for businesses and users: their input and what they cost. The simulator (test/sim) checks what they do.
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { expect, test } from 'vitest';
import { changes, deletions, ledger } from '../src/db/schema.ts';
import { purge } from '../src/purge.ts';
import { answerOf } from './answers.ts';
import {
  type CallOptions,
  call,
  dumpAll,
  homeOfId,
  homes,
  INSERT_CHANGES,
  inBatches,
  later,
  newBusiness,
  OPERATOR,
  STAMP,
} from './support.ts';

const FIELDS = {
  ...{ name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' },
  ...{ country_id: 1, business_size: 'small' },
};
let user = 700_000;
const newUser = () => ++user;
const send = (method: string, path: string, options: CallOptions = {}) =>
  call(method, `/api/v1${path}`, { as: OPERATOR.full, ...options });
const refusal = (field: string, rule: string) => ({
  status: 422,
  body: { status: false, message: `${field} ${rule}`, errors: { [field]: [`${field} ${rule}`] } },
});
const UNKNOWN = { status: 401, body: { status: false, message: 'Id is not valid' } };
const create = (body: object, headers: Record<string, string> = {}) => send('POST', '/business', { body, headers });

test('creating a business takes two round trips, or for a new owner three plus one per database, and reads about the same number of rows, however much is stored', {
  tags: 'slow',
}, async () => {
  const user_id = newUser();
  await create({ user_id, ...FIELDS });
  expect((await create({ user_id, ...FIELDS })).cost).toMatchObject({ round_trips: 2 });
  const cost = async () => (await create({ user_id: newUser(), ...FIELDS })).cost;
  const first = await cost();
  await inBatches(Array.from({ length: 100 }), () => create({ user_id: newUser(), ...FIELDS }));
  const after = await cost();
  for (const { round_trips, rows_read, rows_written } of [first, after]) {
    expect(round_trips).toBe(2 + homes.length + 1);
    expect(rows_read).toBeLessThanOrEqual(58 + 2 * (homes.length - 1));
    expect(rows_written).toBeLessThanOrEqual(12);
  }
  expect(after.rows_read - first.rows_read).toBeLessThanOrEqual(homes.length);
});

/** Fields that only a new business can have, and the one that only an existing business can. */
const [ONLY_NEW, ONLY_CHANGED] = [['token', 'database', 'sites', 'id'], ['status']];
const LIMIT = 'must be a whole number from 0 to 1000000000000, or null for no limit';
const NUMBER = 'must be a positive whole number, such as 7';
test.each([
  ['user_id', [0, -1, 1.5, '7', null, 2 ** 53], NUMBER],
  ['country_id', [0, '1', 1e300], NUMBER],
  ['id', [0, -1, 1.5, '7', null, 2 ** 53], NUMBER],
  [
    'name',
    ['', ' \t', 'a\nb', 'x'.repeat(256), '\u202eemcA', 5],
    'must be one line of 1 to 255 characters with visible text, and without control characters or direction overrides',
  ],
  [
    'site',
    ['acme.example', 'ftp://acme.example', '', `https://a.example/${'x'.repeat(2048)}`],
    'must be an http or https URL of at most 2048 characters',
  ],
  [
    'token',
    [
      ...['bua_pk_x', 'short', `${'x'.repeat(24)} `, 'x'.repeat(256), null],
      ...['bua_pk_', 'BUA_pk_', 'Bua_', 'bUa_sk_', 'buA_op_'].map((prefix) => prefix + 'x'.repeat(34)),
    ],
    'must be 24 to 255 characters from A-Z a-z 0-9 . _ ~ + / = - and must not start with bua_ in upper or lower case',
  ],
  ['daily_limit', [-1, 1.5, '5', 1e12 + 1, true], LIMIT],
  ['monthly_limit', [-1, 1.5, 'none'], LIMIT],
  ['overage', [-1, 1.5, '5', 1e12 + 1, true, []], LIMIT.replace('no limit', 'unlimited overage')],
  ['billing_day', [0, 29, -1, 1.5, '1', '', null, true, 2 ** 53], 'must be a day of the month from 1 to 28'],
  ['status', ['Active', '', null], 'must be active, suspended or closed'],
  ['database', [-1, 62, '0', 0.5], 'must be the number of a database: 0 for DB, 1 for DB_1, up to 61'],
  ['sites', [[], 'https://a.example', null], 'must be a list of 1 to 100 URLs, such as ["https://example.com"]'],
])(
  'invalid values of %s are rejected in a new and in an existing business, and nothing is stored',
  async (field, values, rule) => {
    const { id } = await newBusiness();
    const before = await dumpAll();
    for (const value of values) {
      const answers = [
        ...(ONLY_CHANGED.includes(field) ? [] : [await create({ user_id: 7, ...FIELDS, [field]: value })]),
        ...(ONLY_NEW.includes(field) ? [] : [await send('PATCH', `/business/${id}`, { body: { [field]: value } })]),
      ];
      for (const answer of answers) {
        expect(answerOf(answer), `${value}`).toEqual(refusal(field, rule));
        expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
      }
    }
    expect(await dumpAll()).toBe(before);
  },
);

test('a transfer that is refused gives the new owner no home', async () => {
  const { id } = await newBusiness();
  await send('PATCH', `/business/${id}`, { body: { overage: null } });
  const before = await dumpAll();
  const rule = 'must not be true while overage is null: pages are public, so what they can cost must be bounded';
  const answer = await send('PATCH', `/business/${id}`, { body: { user_id: newUser(), page_overage: true } });
  expect(answerOf(answer)).toEqual(refusal('page_overage', rule));
  expect((await send('PATCH', '/business/999', { body: { user_id: newUser() } })).status).toBe(401);
  expect(await dumpAll()).toBe(before);
});

test('an operator call that names a user in its path or query takes two round trips, and a transfer takes more', async () => {
  const [business, user_id] = [await newBusiness(), newUser()];
  const costs = [
    await send('GET', `/user/${business.user_id}/keys`),
    await send('GET', `/business?user_id=${business.user_id}`),
    await send('GET', `/usage?user_id=${business.user_id}`),
    await send('GET', '/business'),
    await send('PATCH', `/business/${business.id}`, { body: { user_id } }),
    await send('PATCH', `/business/${business.id}`, { body: { name: 'Acme' } }),
  ];
  expect(costs.map(({ status, cost }) => [status, cost.round_trips])).toEqual([
    ...[2, 2, 2, 1, 3, 1].map((round_trips) => [200, round_trips]),
  ]);
});

test('of changes at the same time, each takes effect, and of a field that all change, one value stays', async () => {
  const { id } = await newBusiness();
  const names = Array.from({ length: 8 }, (_, index) => `Name ${index}`);
  const limits = { daily_limit: 5, monthly_limit: 50, billing_day: 15, overage: 3, status: 'suspended' };
  const sent = [
    ...names.map((name) => ({ name })),
    ...Object.entries(limits).map((field) => Object.fromEntries([field])),
  ];
  const answers = await Promise.all(sent.map((body) => send('PATCH', `/business/${id}`, { body })));
  expect(answers.map(({ status }) => status)).toEqual(sent.map(() => 200));
  const { data } = (await send('GET', `/business/${id}`)).body;
  expect(data).toMatchObject({
    status: 'suspended',
    limits: { daily: 5, monthly: 50, next_billing_day: 15, overage: 3 },
  });
  expect(names).toContain(data.name);
  expect(answers.map(({ body }) => body.data.name)).toContain(data.name);
});

test('all sites and labels of a business share its limit, which ends at the same use for each', async () => {
  const sites = ['https://a.example', 'https://b.example'] as const;
  const { id, usage, token, key } = await newBusiness({ sites: [...sites] });
  await send('PATCH', `/business/${id}`, { body: { monthly_limit: 4 } });
  const uses: CallOptions[] = [
    ...sites.map((origin) => ({ as: token, origin })),
    ...['sms', 'email'].map((label) => ({ as: key, body: { label } })),
  ];
  const record = async (options: CallOptions) => {
    const { status, body } = await call('POST', usage, options);
    return [status, body.data?.remaining];
  };
  for (const [index, options] of uses.entries()) expect(await record(options)).toEqual([200, 3 - index]);
  for (const options of uses) expect(await record(options)).toEqual([429, undefined]);
});

test('texts are stored and compared in NFC, however an accent is written', async () => {
  const [written, composed] = ['Cafe\u0301', 'Caf\u00e9'];
  const user_id = newUser();
  const of = (text: string) => ({ user_id, ...FIELDS, name: text, main_domain: text, business_size: text });
  const KEY = { 'Idempotency-Key': 'signup-1' };
  const { id, ...business } = (await create(of(written), KEY)).body.data;
  expect(business).toMatchObject(of(composed));
  expect((await create(of(composed), KEY)).body.data.id).toBe(id);
  const key = await send('POST', `/user/${user_id}/keys`, { body: { name: written } });
  expect(key.body.data.name).toBe(composed);
  for (const text of [written, composed, 'CAFE\u0301']) {
    const { changes } = (await send('GET', `/business/${id}/changes?search=${encodeURIComponent(text)}`)).body.data;
    expect(changes).toMatchObject([{ action: 'create_business', after: { name: composed } }]);
  }
  const { body } = await send('DELETE', `/business/${id}?name=${encodeURIComponent(written)}`);
  expect(body.data).toEqual({ deleted: { id, name: composed } });
});

test('a text of a million combining marks is rejected without being normalized', { tags: 'slow' }, async () => {
  const name = `e${'\u0301\u0316'.repeat(250_000)}`; // normalizing it would take minutes
  expect((await create({ user_id: newUser(), ...FIELDS, name })).status).toBe(422);
});

test('the digest of a sign-up without an id never changes, so that its Idempotency-Key stays valid', async () => {
  const { body } = await create({ user_id: 790_000, ...FIELDS }, { 'Idempotency-Key': 'signup' });
  const { id } = body.data;
  const digest = homeOfId(id).d1.prepare('select hex(creation_request) from businesses where id = ?').bind(id);
  expect(await digest.raw()).toEqual([['D7139E82743E526710B4D8C152A2A331']]);
});

test('deleting a business with 100,000 ids and 9,000 changes finishes within several purge runs, whichever statement is interrupted, and never frees its id', {
  tags: 'slow',
}, async () => {
  const { id, name, db, home, user_id } = await newBusiness({ sites: ['https://shop.example'] });
  const many = (count: number, insert: string) =>
    home.d1
      .prepare(
        insert.replace(
          'select',
          `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) select`,
        ),
      )
      .bind(id);
  const LEDGER = 'insert into ledger (business_id, digest, day, forget_on, quantity)';
  await home.d1.batch([
    many(100_000, `${LEDGER} select ?, unhex(printf('%032x', i)), 20527, 20568, 1 from n`),
    many(
      9000,
      `${INSERT_CHANGES} select 'business', ?, i, '${STAMP}', 'operator', 'update_business', null, '{}' from n`,
    ),
  ]);
  expect((await send('DELETE', `/business/${id}?name=${encodeURIComponent(name)}`)).status).toBe(200);
  for (let minute = 0; (await db.$count(deletions, eq(deletions.business_id, id))) > 0; minute++) {
    // Every eighth run finishes. The others stop after 0 to 6 statements, as if the instance were killed.
    let left = minute % 8 === 7 ? Number.POSITIVE_INFINITY : minute % 8;
    const prepare = (sql: string) => ({
      bind(...values: unknown[]) {
        left -= 1;
        if (left < 0) throw new Error('killed');
        return home.d1.prepare(sql).bind(...values);
      },
    });
    await purge(drizzle({ prepare } as unknown as D1Database), later(minute * 60_000)).catch(() => {});
    expect(minute).toBeLessThan(200);
    expect(answerOf(await send('PATCH', `/business/${id}`, { body: { status: 'active' } }))).toEqual(UNKNOWN);
  }
  expect(await db.$count(ledger, eq(ledger.business_id, id))).toBe(0);
  const left = await db.select({ action: changes.action }).from(changes).where(eq(changes.subject_id, id));
  expect(left).toEqual([{ action: 'delete_business' }]);
  expect((await create({ user_id, ...FIELDS })).body.data.id).toBeGreaterThan(id);
});
