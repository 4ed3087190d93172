// The operator's requests for businesses and users: their input and what they cost. The simulator (test/sim) checks what they do.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { deletions, ledger } from '../src/db/schema.ts';
import { purge } from '../src/purge.ts';
import { answerOf } from './answers.ts';
import {
  type CallOptions,
  call,
  dumpAll,
  type Home,
  homeOfId,
  homes,
  INSERT_CHANGES,
  inBatches,
  NOW,
  newBusiness,
  OPERATOR,
  STAMP,
  TABLES,
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

test('texts are stored and compared in NFC, however an accent is written', async () => {
  const [written, composed] = ['Cafe\u0301', 'Caf\u00e9'];
  const user_id = newUser();
  const of = (text: string) => ({ user_id, ...FIELDS, name: text, main_domain: text, business_size: text });
  const KEY = { 'Idempotency-Key': 'signup-1' };
  const { id, ...business } = (await create(of(written), KEY)).body.data;
  expect(business).toMatchObject(of(composed));
  expect((await create(of(composed), KEY)).body.data.id).toBe(id);
  for (const name of [written, composed])
    expect((await send('POST', `/user/${user_id}/keys`, { body: { name } })).body.data.name).toBe(composed);
  for (const text of [written, composed, 'CAFE\u0301']) {
    const { changes } = (await send('GET', `/business/${id}/changes?search=${encodeURIComponent(text)}`)).body.data;
    expect(changes).toMatchObject([{ action: 'create_business', after: { name: composed } }]);
  }
  expect((await send('PATCH', `/business/${id}`, { body: { name: written } })).body.data.name).toBe(composed);
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

describe('deleting a business', () => {
  const remove = ({ id, name }: { id: number; name: string }) =>
    send('DELETE', `/business/${id}?name=${encodeURIComponent(name)}`);
  /** The rows of a business in all tables of its database. */
  const rowsOf = async (id: number, { d1 }: Home) => {
    const names = (await d1.prepare(TABLES).all<{ name: string }>()).results.map(({ name }) => name);
    const tables = await d1.batch<Record<string, unknown>>(names.map((name) => d1.prepare(`select * from "${name}"`)));
    return tables.flatMap(({ results }, index) => {
      const isOwn = (row: Record<string, unknown>) =>
        row.business_id === id || row.subject_id === id || (names[index] === 'businesses' && row.id === id);
      return results.filter(isOwn).map((row) => ({ name: names[index], action: row.action }));
    });
  };

  test('requires the business’s exact name', async () => {
    const { id, name } = await newBusiness();
    const before = await dumpAll();
    const given = 'must be the name of the business, and must appear only once';
    for (const query of ['', '?name=', `?name=${name.toUpperCase()}`, `?name=${name}&name=${name}`]) {
      const isGuess = query.startsWith('?name=') && !query.includes('&');
      const required = query === '' ? 'is required, and ' : '';
      const rule = isGuess ? `must be the name of the business: ${name}` : `${required}${given}`;
      expect(answerOf(await send('DELETE', `/business/${id}${query}`)), query).toEqual(refusal('name', rule));
    }
    const long = await send('DELETE', `/business/${id}?name=${'x'.repeat(256)}`);
    expect(answerOf(long)).toEqual(refusal('name', given));
    expect(await dumpAll()).toBe(before);
  });

  test('with 100,000 ids and 9,000 changes finishes within several purge runs, whichever statement is interrupted, and never frees the business’s id', {
    tags: 'slow',
  }, async () => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    const { id, db, home, user_id } = business;
    await home.d1
      .prepare(`insert into ledger (business_id, digest, day, forget_on, quantity) with recursive n(i) as (select 1 union all select i + 1 from n
        where i < 100000) select ?, unhex(printf('%032x', i)), 20527, 20568, 1 from n`)
      .bind(id)
      .run();
    await home.d1
      .prepare(`${INSERT_CHANGES} with recursive n(i) as (select 1 union all select i + 1 from n where i < 9000)
        select 'business', ?, i, '${STAMP}', 'operator', 'update_business', null, '{}' from n`)
      .bind(id)
      .run();
    expect((await remove(business)).status).toBe(200);
    let runs = 0;
    for (let minute = 0; (await db.$count(deletions, eq(deletions.business_id, id))) > 0; minute++) {
      // Every eighth run finishes. The others stop after 0 to 6 statements, as if the instance were killed.
      let left = minute % 8 === 7 ? Number.POSITIVE_INFINITY : minute % 8;
      const interrupted = {
        prepare: (sql: string) => ({
          bind: (...values: unknown[]) => {
            left -= 1;
            if (left < 0) throw new Error('killed');
            return home.d1.prepare(sql).bind(...values);
          },
        }),
      };
      const { drizzle } = await import('drizzle-orm/d1');
      await purge(drizzle(interrupted as unknown as D1Database), new Date(NOW.getTime() + minute * 60_000)).catch(
        () => {},
      );
      runs += 1;
      expect(runs).toBeLessThan(200);
      expect(answerOf(await send('PATCH', `/business/${id}`, { body: { status: 'active' } }))).toEqual(UNKNOWN);
    }
    expect(await db.$count(ledger, eq(ledger.business_id, id))).toBe(0);
    expect(await rowsOf(id, home)).toEqual([{ name: 'changes', action: 'delete_business' }]);
    expect((await create({ user_id, ...FIELDS })).body.data.id).toBeGreaterThan(id);
  });
});

test('a user’s keys are an empty list for an unknown user and cannot be found through another user', async () => {
  const path = (user_id: number) => `/user/${user_id}/keys`;
  const [mine, other] = [await newBusiness(), await newBusiness()];
  const before = await dumpAll();
  expect((await send('GET', path(newUser()))).body).toEqual({ status: true, data: { keys: [] } });
  expect((await send('GET', `/user/${newUser()}/changes`)).body.data).toEqual({ changes: [], next: null });
  const [key] = (await send('GET', path(other.user_id))).body.data.keys;
  const unknownKey = { status: 404, body: { status: false, message: 'Key id is not valid' } };
  for (const [user_id, id] of [
    [mine.user_id, key.id],
    [newUser(), key.id],
    [mine.user_id, 'x'],
    [mine.user_id, 0],
  ]) {
    const answer = await send('DELETE', `/user/${user_id}/keys/${id}`);
    expect(answerOf(answer)).toEqual(unknownKey);
    expect(answer.headers.get('Error-Code')).toBe('unknown_entry');
  }
  for (const user_id of ['0', 'x', '01', '9007199254740993'])
    for (const [method, rest] of [
      ['GET', 'keys'],
      ['POST', 'keys'],
      ['DELETE', 'keys/1'],
      ['GET', 'changes'],
    ] as const)
      expect(answerOf(await send(method, `/user/${user_id}/${rest}`))).toEqual({
        status: 404,
        body: { status: false, message: 'User id is not valid' },
      });
  expect(await dumpAll()).toBe(before);
});
