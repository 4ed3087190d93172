// The operator's requests for businesses and users, from creation to deletion.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { databaseOfId } from '../src/core/database.ts';
import { apiKeys, changes, deletions, ledger } from '../src/db/schema.ts';
import { purge } from '../src/purge.ts';
import { answerOf, granted } from './answers.ts';
import {
  type CallOptions,
  call,
  dumpAll,
  env,
  failingWith,
  type Home,
  homeOfId,
  homes,
  INSERT_CHANGES,
  inBatches,
  NOW,
  newBusiness,
  newCode,
  newKey,
  OPERATOR,
  STAMP,
  setCount,
  TABLES,
  TODAY,
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

describe('creating a business', () => {
  test('returns the business with a working token, and assigns a new owner a home', async () => {
    const user_id = newUser();
    const { status, body } = await create({ user_id, ...FIELDS });
    expect(status).toBe(200);
    const { id, token } = body.data;
    const business = { id, user_id, ...FIELDS, token, status: 'active', created_at: STAMP, updated_at: STAMP };
    expect(body).toEqual({ status: true, data: { ...business, access_list: [] } });
    expect((await send('GET', `/business/${id}/access`)).body).toEqual(body);
    expect((await call('POST', `/api/v1/business/usage/${id}`, { as: token })).status).toBe(200);
    const home = await env.DB.prepare('select database from homes where user_id = ?').bind(user_id).first('database');
    expect(home).toBe(databaseOfId(id));
    const made = await send('GET', `/business/${id}/changes`);
    const after = { user_id, ...FIELDS, token: `…${token.slice(-4)}`, status: 'active' };
    const change = {
      id: 1,
      at: STAMP,
      actor: 'operator (…ffff)',
      key_name: null,
      actor_name: null,
      action: 'create_business',
      before: null,
      after,
    };
    expect(made.body.data).toEqual({ changes: [change], next: null });
  });

  test('accepts sites, limits and a token from another system', async () => {
    const [user_id, token] = [newUser(), `Token-of-another-system-${user}`];
    const sites = ['https://Shop.example/path', 'https://shop.example', 'https://*.acme.example'];
    const { body } = await create({
      user_id,
      ...FIELDS,
      name: '  Acme ',
      token,
      sites,
      daily_limit: 5,
      monthly_limit: null,
    });
    const { id, access_list } = body.data;
    expect(body.data).toMatchObject({ name: 'Acme', token });
    const entry = { business_id: id, created_at: STAMP, updated_at: STAMP };
    expect(access_list).toEqual([
      { id: access_list[0].id, site: 'https://shop.example', ...entry },
      { id: access_list[0].id + 1, site: 'https://*.acme.example', ...entry },
    ]);
    expect((await send('GET', `/business/${id}`)).body.data.limits).toMatchObject({
      daily: 5,
      monthly: null,
      remaining: 5,
    });
    const visit = (origin: string) => call('POST', `/api/v1/business/usage/${id}`, { as: token, origin });
    expect((await visit('https://shop.example')).body.data).toEqual({ date: TODAY, count: 1, remaining: 4 });
    expect((await visit('https://evil.example')).status).toBe(403);
    const [change] = (await send('GET', `/business/${id}/changes`)).body.data.changes;
    expect(change.after).toEqual({
      ...{ user_id, ...FIELDS, daily_limit: 5, monthly_limit: null, token: `…${token.slice(-4)}`, status: 'active' },
      sites: ['https://shop.example', 'https://*.acme.example'],
    });
  });

  test('takes two round trips, or for a new owner three plus one per database, and reads about the same number of rows, however much is stored', async () => {
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

  test.each([
    ['user_id', [0, -1, 1.5, '7', null, 2 ** 53], 'must be a positive whole number, such as 7'],
    ['country_id', [0, '1', 1e300], 'must be a positive whole number, such as 7'],
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
    [
      'daily_limit',
      [-1, 1.5, '5', 1e12 + 1, true],
      'must be a whole number from 0 to 1000000000000, or null for no limit',
    ],
    ['monthly_limit', [-1, 1.5, 'none'], 'must be a whole number from 0 to 1000000000000, or null for no limit'],
    ['database', [-1, 62, '0', 0.5], 'must be the number of a database: 0 for DB, 1 for DB_1, up to 61'],
    ['sites', [[], 'https://a.example', null], 'must be a list of 1 to 100 URLs, such as ["https://example.com"]'],
  ])('rejects invalid values of %s and stores nothing', async (field, values, rule) => {
    const before = await dumpAll();
    for (const value of values) {
      const answer = await create({ user_id: 7, ...FIELDS, [field]: value });
      expect(answerOf(answer), `${value}`).toEqual(refusal(field, rule));
      expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    }
    expect(await dumpAll()).toBe(before);
  });

  test('rejects a missing field, invalid sites and input that contradicts stored data, and stores nothing', async () => {
    const taken = await newBusiness({ token: `Taken-token-of-somebody-${newUser()}` });
    const before = await dumpAll();
    const { name: _, ...nameless } = FIELDS;
    const unbound = `must be the number of a bound database: ${homes.map(({ number }) => number).join(', ')}`;
    const bound = `must be ${taken.home.number}, the database of user ${taken.user_id}`;
    const other = homes.find(({ number }) => number !== taken.home.number);
    const rule =
      'must be one line of 1 to 255 characters with visible text, and without control characters or direction overrides';
    for (const [body, expected] of [
      [{ user_id: 7, ...nameless }, refusal('name', `is required, and ${rule}`)],
      [
        { user_id: newUser(), ...FIELDS, token: taken.token },
        refusal('token', 'must not be a current or former token of any business'),
      ],
      [
        { user_id: taken.user_id, ...FIELDS, token: taken.token },
        refusal('token', 'must not be a current or former token of any business'),
      ],
      [{ user_id: newUser(), ...FIELDS, database: 61 }, refusal('database', unbound)],
      [{ user_id: newUser(), ...FIELDS, sites: ['https://*.co.uk'] }, null],
      [{ user_id: newUser(), ...FIELDS, sites: ['nonsense'] }, null],
      ...(other
        ? [[{ user_id: taken.user_id, ...FIELDS, database: other.number }, refusal('database', bound)] as const]
        : []),
    ] as const) {
      const answer = await create(body);
      if (expected === null) expect(answer.status).toBe(422);
      else expect(answerOf(answer)).toEqual(expected);
    }
    expect(await dumpAll()).toBe(before);
  });

  test('accepts another system’s id if it is greater than every earlier id and leaves room for later ones', async () => {
    for (const { number, d1 } of homes) {
      const last = `select seq from sqlite_sequence where name = 'businesses'`;
      const id = Number(await d1.prepare(last).first('seq')) + 1000;
      const body = { user_id: newUser(), ...FIELDS, database: number, id };
      const most = number * 1_000_000_000 + 500_000_000;
      for (const wrong of [most + 1, Number.MAX_SAFE_INTEGER])
        expect(answerOf(await create({ ...body, id: wrong }))).toEqual(
          refusal('id', `must be at most ${most}, to leave room for later ids`),
        );
      const made = await create(body);
      expect([made.status, made.body.data.id, made.cost.round_trips]).toEqual([200, id, 2]);
      const before = await dumpAll();
      for (const taken of [id, id - 1, 1])
        expect(answerOf(await create({ ...body, id: taken }))).toEqual(
          refusal('id', `must be greater than ${id}, the last id of its database`),
        );
      for (const wrong of [0, -1, 1.5, '7', null, 2 ** 53])
        expect((await create({ ...body, id: wrong })).body.errors).toEqual({ id: [expect.any(String)] });
      expect(await dumpAll()).toBe(before);
      expect((await create({ ...body, id: undefined })).body.data.id).toBe(id + 1);
    }
  });

  test('stores the business in the requested database', async () => {
    for (const { number } of homes) {
      const { body } = await create({ user_id: newUser(), ...FIELDS, database: number });
      expect(databaseOfId(body.data.id)).toBe(number);
    }
  });
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

test('a text of a million combining marks is rejected without being normalized', async () => {
  const name = `e${'\u0301\u0316'.repeat(250_000)}`; // normalizing it would take minutes
  expect((await create({ user_id: newUser(), ...FIELDS, name })).status).toBe(422);
});

describe('an Idempotency-Key for creating a business', () => {
  const KEY = { 'Idempotency-Key': 'signup-1' };
  const alreadyUsedFor = (id: number) => {
    const wayOn = `GET /business/${id} shows it, and PATCH changes it`;
    return refusal('Idempotency-Key', `was already used for business ${id} with a different body: ${wayOn}`);
  };

  test('returns the same business in its current state for the same request, but a new one for another user or key, or after deletion', async () => {
    const body = { user_id: newUser(), ...FIELDS, sites: ['https://shop.example'] };
    const first = await create(body, KEY);
    expect(first.status).toBe(200);
    const { sites, ...others } = body;
    expect(answerOf(await create({ sites, ...others }, { 'Idempotency-Key': '"signup-1"' }))).toEqual(answerOf(first));
    const { id } = first.body.data;
    await send('PATCH', `/business/${id}`, { body: { name: 'Renamed' } });
    expect((await create(body, KEY)).body.data).toMatchObject({ id, name: 'Renamed' });
    const stranger = await create({ ...body, user_id: newUser() }, KEY);
    expect(stranger.body.data.id).not.toBe(id);
    expect((await create(body, { 'Idempotency-Key': 'signup-2' })).body.data.id).not.toBe(id);
    await send('DELETE', `/business/${id}?name=Renamed`);
    const again = (await create(body, KEY)).body.data.id;
    expect(again).toBeGreaterThan(id);
  });

  test('is refused with a different request from the same user, and nothing changes', async () => {
    const body = { user_id: newUser(), ...FIELDS };
    const { id } = (await create(body, KEY)).body.data;
    const before = await dumpAll();
    for (const other of [{ name: 'Other' }, { sites: ['https://a.example'] }, { daily_limit: 1 }])
      expect(answerOf(await create({ ...body, ...other }, KEY))).toEqual(alreadyUsedFor(id));
    for (const header of ['two words', '"open', 'x'.repeat(256)])
      expect(Object.keys((await create(body, { 'Idempotency-Key': header })).body.errors)).toEqual(['Idempotency-Key']);
    expect(await dumpAll()).toBe(before);
  });

  test('is rejected if the response was lost and the customer then corrected the name, and the error shows how to continue', async () => {
    for (const { number } of homes) {
      const user_id = newUser();
      const { id } = (await create({ user_id, ...FIELDS, database: number }, KEY)).body.data;
      const corrected = { user_id, ...FIELDS, name: 'Acme Ltd', database: number };
      expect(answerOf(await create(corrected, KEY))).toEqual(alreadyUsedFor(id));
      const found = (await send('GET', `/business?user_id=${user_id}`)).body.data.businesses;
      expect(found).toMatchObject([{ id, name: 'Acme' }]);
      const changed = await send('PATCH', `/business/${id}`, { body: { name: 'Acme Ltd' } });
      expect(changed.body.data).toMatchObject({ id, name: 'Acme Ltd' });
    }
  });

  test('does not return a business and its token to a former owner', async () => {
    const body = { user_id: newUser(), ...FIELDS };
    const { id } = (await create(body, KEY)).body.data;
    await send('PATCH', `/business/${id}`, { body: { user_id: newUser() } });
    const rule = 'must be a new key: the business that it created now belongs to another user';
    for (const sent of [body, { ...body, name: 'Other' }])
      expect(answerOf(await create(sent, KEY))).toEqual(refusal('Idempotency-Key', rule));
  });

  test('is refused with another token or another database', async () => {
    const user_id = newUser();
    const body = { user_id, ...FIELDS, token: `Imported-with-a-key-${user_id}` };
    const made = await create(body, KEY);
    const { id } = made.body.data;
    const other = { ...body, token: `Imported-with-the-same-key-${user_id}` };
    for (const wrong of [other, { ...body, database: databaseOfId(id) }])
      expect(answerOf(await create(wrong, KEY))).toEqual(alreadyUsedFor(id));
  });

  test('does not let a user import another user’s token, in any database', async () => {
    for (const home of homes) {
      const first = { user_id: newUser(), ...FIELDS, token: `Token-that-is-taken-${user}`, database: home.number };
      expect((await create(first)).status).toBe(200);
      for (const { number } of homes) {
        const theirs = { user_id: newUser(), ...FIELDS, database: number };
        await create(theirs); // assigns the user a home
        const before = await dumpAll();
        const stolen = { ...theirs, token: first.token };
        expect(answerOf(await create(stolen, KEY))).toEqual(
          refusal('token', 'must not be a current or former token of any business'),
        );
        expect(await dumpAll()).toBe(before);
      }
    }
  });

  test('returns the same business for a repeated import', async () => {
    const body = { user_id: newUser(), ...FIELDS, token: `Imported-and-repeated-${user}` };
    const first = await create(body, KEY);
    expect(answerOf(await create(body, KEY))).toEqual(answerOf(first));
  });

  test('is refused with another business id, and the digest of requests without an id never changes', async () => {
    const last = Number(await env.DB.prepare('select max(id) as id from businesses').first('id'));
    const body = { user_id: newUser(), ...FIELDS, database: 0, id: last + 1000 };
    const sign = (fields: object) => create({ ...body, ...fields }, { 'Idempotency-Key': 'signup' });
    const made = await sign({});
    expect(made.body.data.id).toBe(last + 1000);
    const before = await dumpAll();
    expect((await sign({})).body).toEqual(made.body);
    for (const id of [undefined, last + 1001])
      expect(answerOf(await sign({ id }))).toEqual(alreadyUsedFor(last + 1000));
    expect(await dumpAll()).toBe(before);

    const { body: old } = await create({ user_id: 790_000, ...FIELDS }, { 'Idempotency-Key': 'signup' });
    const [row] = await homeOfId(old.data.id)
      .d1.prepare('select hex(creation_request) as request from businesses where id = ?')
      .bind(old.data.id)
      .all()
      .then(({ results }) => results);
    expect(row).toEqual({ request: 'D7139E82743E526710B4D8C152A2A331' });
  });
});

describe('the list of a user’s businesses', () => {
  test('is read in pages, ordered by id, from one database, and is empty for an unknown user', async () => {
    for (const _ of homes) {
      const user_id = newUser();
      const ids: number[] = [];
      for (let count = 0; count < 3; count++) ids.push((await create({ user_id, ...FIELDS })).body.data.id);
      const page = async (query: string) => {
        const { body, cost } = await send('GET', `/business?user_id=${user_id}${query}`);
        expect(cost.round_trips).toBe(2);
        return { ids: body.data.businesses.map(({ id }: { id: number }) => id), next: body.data.next };
      };
      expect(await page('')).toEqual({ ids, next: null });
      expect(await page('&limit=2')).toEqual({ ids: ids.slice(0, 2), next: ids[1] });
      expect(await page(`&limit=2&after=${ids[1]}`)).toEqual({ ids: ids.slice(2), next: null });
    }
    const { body } = await send('GET', `/business?user_id=${newUser()}`);
    expect(body).toEqual({ status: true, data: { businesses: [], next: null, read_only: false } });
  });

  test('is only for the operator: an API key cannot use user_id', async () => {
    const { key, user_id } = await newBusiness();
    const rule = 'is not a parameter of this list, which accepts limit and after';
    expect(answerOf(await send('GET', `/business?user_id=${user_id}`, { as: key }))).toEqual(refusal('user_id', rule));
    expect(answerOf(await send('GET', '/business?user_id=x'))).toEqual(
      refusal('user_id', 'must be the id of a user, such as 7, and must appear only once'),
    );
    expect((await send('GET', '/business?form=1')).body.message).toBe(
      'form is not a parameter of this list, which accepts limit, after, and user_id',
    );
  });
});

describe('changing a business', () => {
  const patch = (id: number, body: unknown) => send('PATCH', `/business/${id}`, { body });

  test('returns the updated business and stores one change with only the changed fields', async () => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    const fields = { name: ' New name ', status: 'suspended', daily_limit: 5, country_id: 1 };
    const later = new Date('2026-03-16T00:00:00Z');
    const { body, cost } = await send('PATCH', `/business/${business.id}`, { body: fields, at: later });
    expect(cost.round_trips).toBe(1);
    expect(body.data).toMatchObject({
      ...{ id: business.id, name: 'New name', status: 'suspended', updated_at: '2026-03-16T00:00:00.000000Z' },
      limits: { daily: 5, monthly: null, remaining: 5 },
      former_tokens: [],
    });
    expect((await send('GET', `/business/${business.id}`, { at: later })).body).toEqual(body);
    expect(answerOf(await send('PATCH', `/business/${business.id}`, { body: fields, at: later }))).toEqual({
      status: 200,
      body,
    });
    const made = (await send('GET', `/business/${business.id}/changes`)).body.data.changes;
    expect(made).toEqual([
      {
        ...{
          id: 1,
          at: '2026-03-16T00:00:00.000000Z',
          actor: 'operator (…ffff)',
          key_name: null,
          actor_name: null,
          action: 'update_business',
        },
        before: { name: business.name, status: 'active', daily_limit: null },
        after: { name: 'New name', status: 'suspended', daily_limit: 5 },
      },
    ]);
    expect((await call('GET', business.usage, { as: business.token })).status).toBe(401);
  });

  test('can change every field', async () => {
    const { id, user_id } = await newBusiness();
    const fields = {
      ...{
        name: 'New',
        main_domain: 'new.example',
        site: 'https://new.example',
        country_id: 2,
        business_size: 'large',
      },
      ...{ status: 'closed', user_id },
    };
    expect((await patch(id, fields)).body.data).toMatchObject(fields);
  });

  test('removes a limit with null, and sets a limit that applies from the next use', async () => {
    const { id, usage, key } = await newBusiness();
    await call('POST', usage, { as: key });
    expect((await patch(id, { monthly_limit: 2 })).body.data.limits).toMatchObject({
      daily: null,
      monthly: 2,
      remaining: 1,
    });
    expect((await patch(id, { daily_limit: 0 })).body.data.limits).toMatchObject({
      daily: 0,
      monthly: 2,
      remaining: 0,
    });
    expect((await call('POST', usage, { as: key })).status).toBe(429);
    expect((await patch(id, { daily_limit: null, monthly_limit: null })).body.data.limits).toBeNull();
    expect((await call('POST', usage, { as: key })).status).toBe(200);
  });

  test('transfers the business to a user in the same database, or to a new user, whose home becomes that database', async () => {
    const [mine, other] = [await newBusiness(), await newBusiness()];
    const answer = await patch(mine.id, { user_id: other.user_id });
    const { number } = mine.home;
    const rule = `must be a user of database ${number}, which contains the business: user ${other.user_id} is in database ${other.home.number}`;
    if (mine.home === other.home) expect(answer.body.data.user_id).toBe(other.user_id);
    else expect(answerOf(answer)).toEqual(refusal('user_id', rule));
    const user_id = newUser();
    expect((await patch(mine.id, { user_id })).body.data.user_id).toBe(user_id);
    expect(databaseOfId((await create({ user_id, ...FIELDS })).body.data.id)).toBe(number);
    expect((await call('GET', mine.usage, { as: mine.key })).status).toBe(422);
  });

  test('permanently ends the keys, sessions and links for that business alone if its owner changes, even if it is transferred back', async () => {
    const given = await newBusiness();
    const other = await newBusiness({ user_id: given.user_id });
    const heir = given.user_id + homes.length * 400_000;
    const { id: business_id, home } = given;
    const ends_at = '2026-03-16T00:00:00.000000Z';
    const alone = await newKey(given, { business_id });
    const ended = [
      alone,
      await newKey(given, { business_id, role: 'read' }),
      await newKey(given, { business_id, ends_at, session_of: alone.id }),
      await newKey(given, { business_id, ends_at }),
    ];
    const kept = [
      { key: given.key },
      await newKey(given),
      await newKey(given, { ends_at }),
      await newKey(given, { business_id: other.id }),
    ];
    const codes = [await newCode(given, { business_id }), await newCode(given)];
    const statuses = (keys: { key: string }[], { usage }: { usage: string }) =>
      Promise.all(keys.map(async ({ key: as }) => (await call('GET', usage, { as })).status));
    await patch(given.id, { user_id: given.user_id, name: 'Other' });
    expect(await statuses([...ended, ...kept], given)).toEqual([200, 200, 200, 200, 200, 200, 200, 422]);

    expect((await patch(given.id, { user_id: heir })).status).toBe(200);
    const own = await newKey({ user_id: heir, home }, { business_id });
    expect(await statuses([...ended, ...kept, own], given)).toEqual([401, 401, 401, 401, 422, 422, 422, 422, 200]);
    expect((await patch(given.id, { user_id: given.user_id })).status).toBe(200);
    expect(await statuses([...ended, ...kept, own], given)).toEqual([401, 401, 401, 401, 200, 200, 200, 422, 401]);
    expect(await statuses(kept, other)).toEqual([200, 200, 200, 200]);

    const { keys } = (await send('GET', `/user/${given.user_id}/keys`)).body.data;
    const revoked = (keys as { id: number; revoked_at: string | null }[]).filter(
      ({ revoked_at }) => revoked_at !== null,
    );
    expect(revoked).toMatchObject(ended.slice(0, 2).map(({ id }) => ({ id, revoked_at: STAMP })));
    const redeemed = codes.map((code) => call('POST', '/api/v1/session', { body: { code } }));
    expect((await Promise.all(redeemed)).map(({ status }) => status)).toEqual([401, 200]);
  });

  test('rejects invalid fields, an empty body and fields that cannot change, and changes nothing', async () => {
    const { id } = await newBusiness();
    const before = await dumpAll();
    const empty = 'must be a JSON object with at least one field to change, such as {"status":"suspended"}';
    for (const [body, field, rule] of [
      [{}, 'body', empty],
      [[], 'body', empty],
      ['null', 'body', empty],
      ['', 'body', 'must be valid JSON'],
      [{ status: 'Active' }, 'status', 'must be active, suspended or closed'],
      [{ status: null }, 'status', 'must be active, suspended or closed'],
      [{ user_id: '7' }, 'user_id', 'must be a positive whole number, such as 7'],
      [{ daily_limit: -1 }, 'daily_limit', 'must be a whole number from 0 to 1000000000000, or null for no limit'],
    ] as const)
      expect(answerOf(await patch(id, body)), JSON.stringify(body)).toEqual(refusal(field, rule));
    for (const member of ['token', 'id', 'database', 'sites', 'created_at'])
      expect(Object.keys((await patch(id, { name: 'x', [member]: 'y' })).body.errors)).toEqual([member]);
    expect(answerOf(await patch(999_999_999, { user_id: newUser() }))).toEqual(UNKNOWN);
    expect(await dumpAll()).toBe(before);
  });
});

describe('deleting a business', () => {
  const remove = ({ id, name }: { id: number; name: string }) =>
    send('DELETE', `/business/${id}?name=${encodeURIComponent(name)}`);
  /** Returns the rows of all tables in all databases: only the rows of the business if `isOwn` is true, otherwise only all other rows. */
  const tablesWith = async (id: number, isOwn: boolean) => {
    const all = homes.map(async ({ d1 }) => {
      const names = (await d1.prepare(TABLES).all<{ name: string }>()).results.map(({ name }) => name);
      const tables = await d1.batch<Record<string, unknown>>(
        names.map((name) => d1.prepare(`select * from "${name}"`)),
      );
      return tables.map(({ results }, index) => {
        const isOf = (row: Record<string, unknown>) =>
          row.business_id === id || row.subject_id === id || (names[index] === 'businesses' && row.id === id);
        return { name: names[index], rows: results.filter((row) => isOf(row) === isOwn) };
      });
    });
    return (await Promise.all(all)).flat();
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

  test('takes effect immediately for every credential and list, leaves one change, and affects no other business', async () => {
    for (const _ of homes) {
      const business = await newBusiness({ sites: ['https://shop.example'] });
      const { id, name, user_id, usage, access, key, token, db } = business;
      const sibling = await newBusiness({ user_id });
      const narrow = (await newKey(business, { business_id: id })).key;
      const former = (await call('POST', `/api/v1/business/${id}/token`, { as: key, body: { keep_old: '24h' } })).body
        .data;
      for (const of of [business, sibling]) {
        await setCount(of.id, '2026-03-01', 5);
        await call('POST', of.usage, { as: key, headers: { 'Idempotency-Key': 'order-1' } });
      }
      await call('GET', usage, { as: former.token, origin: 'https://evil.example' });
      const others = await tablesWith(id, false);
      const answer = await remove(business);
      expect(await tablesWith(id, false)).toEqual(others);
      expect(answerOf(answer)).toEqual(granted({ deleted: { id, name } }));
      expect(answer.cost.round_trips).toBe(1);

      for (const as of [token, former.token, narrow])
        expect((await call('GET', usage, { as, origin: 'https://shop.example' })).status).toBe(401);
      for (const as of [key, OPERATOR.full]) {
        expect((await call('GET', usage, { as })).status).toBe(422);
        expect((await call('POST', usage, { as })).status).toBe(422);
        for (const path of ['', '/access', '/changes', '/alerts', '/access/refused'])
          expect(answerOf(await send('GET', `/business/${id}${path}`, { as }))).toEqual(UNKNOWN);
        expect(answerOf(await call('POST', access, { as, body: { sites: ['https://a.example'] } }))).toEqual(UNKNOWN);
      }
      expect(answerOf(await send('PATCH', `/business/${id}`, { body: { status: 'active' } }))).toEqual(UNKNOWN);
      expect(answerOf(await remove(business))).toEqual(UNKNOWN);
      const listed = async (path: string, as: string, of: string) =>
        (await send('GET', path, { as })).body.data[of].map(
          (row: { id?: number; business_id?: number }) => row.id ?? row.business_id,
        );
      expect(await listed('/business', key, 'businesses')).toEqual([sibling.id]);
      expect(await listed(`/business?user_id=${user_id}`, OPERATOR.full, 'businesses')).toEqual([sibling.id]);
      expect(await listed(`/business?after=${id - 1}&limit=1`, OPERATOR.full, 'businesses')).not.toContain(id);
      expect(await listed(`/usage?after=${id - 1}&limit=1`, OPERATOR.full, 'usage')).not.toContain(id);

      for (let minute = 0; minute < 3; minute++) await purge(db, new Date(NOW.getTime() + minute * 60_000));
      const rows = await db.select().from(changes).where(eq(changes.subject_id, id));
      const before = JSON.stringify({ user_id, name, main_domain: 'acme.example' });
      expect(rows).toEqual([
        {
          subject: 'business',
          subject_id: id,
          id: 2,
          at: STAMP,
          actor: 'operator (…ffff)',
          action: 'delete_business',
          before,
          after: null,
          actor_name: null,
          actor_user_id: null,
        },
      ]);
    }
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
    const left = (await tablesWith(id, true)).flatMap(({ name, rows }) => rows.map(({ action }) => ({ name, action })));
    expect(left).toEqual([{ name: 'changes', action: 'delete_business' }]);
    expect((await create({ user_id, ...FIELDS })).body.data.id).toBeGreaterThan(id);
  });

  test('never frees an imported token for another import', async () => {
    const body = { user_id: newUser(), ...FIELDS, token: `Imported-and-deleted-${user}` };
    const { id, name } = (await create(body)).body.data;
    expect(answerOf(await remove({ id, name }))).toEqual(granted({ deleted: { id, name } }));
    expect(answerOf(await create(body))).toEqual(
      refusal('token', 'must not be a current or former token of any business'),
    );
  });
});

describe('a user’s keys', () => {
  const path = (user_id: number) => `/user/${user_id}/keys`;

  test('are created, listed without their secrets, used and revoked, and creation and revocation each store a change for the user', async () => {
    for (const role of ['full', 'read', 'record'] as const) {
      const { user_id, usage, key: _, ...business } = await newBusiness();
      const body = { name: ' Server ', role, expires_on: TODAY };
      const { status, body: made } = await send('POST', path(user_id), { body });
      expect(status).toBe(200);
      const { api_key, ...key } = made.data;
      expect(key).toEqual({
        ...{ id: key.id, user_id, name: 'Server', last_four: api_key.slice(-4), created_at: STAMP, expires_on: TODAY },
        ...{ revoked_at: null, business_id: null, last_used_on: null, read_only: role === 'read', role },
      });
      expect((await call('GET', usage, { as: api_key })).status).toBe(200);
      expect((await call('POST', usage, { as: api_key })).status).toBe(role === 'read' ? 403 : 200);
      const { body: list } = await send('GET', path(user_id));
      expect(list.data.keys).toHaveLength(2);
      expect(list.data.keys[1]).toEqual({ ...key, last_used_on: TODAY });
      expect(JSON.stringify(list)).not.toContain(api_key);
      const revoked = { ...key, last_used_on: TODAY, revoked_at: STAMP };
      for (const _ of [1, 2]) {
        const { body } = await send('DELETE', `${path(user_id)}/${key.id}`);
        expect(body).toEqual({ status: true, data: { key: revoked } });
      }
      expect((await call('GET', usage, { as: api_key })).status).toBe(401);
      const { body: seen } = await send('GET', `/user/${user_id}/changes`);
      const shown = { key: `…${key.last_four}`, name: 'Server' };
      const actor = { at: STAMP, actor: 'operator (…ffff)', key_name: null, actor_name: null };
      const after = { id: key.id, ...shown, expires_on: TODAY, business_id: null, read_only: role === 'read', role };
      expect(seen.data).toEqual({
        changes: [
          { id: 2, ...actor, action: 'revoke_key', before: { id: key.id, ...shown }, after: null },
          { id: 1, ...actor, action: 'create_key', before: null, after },
        ],
        next: null,
      });
      expect((await send('GET', `/business/${business.id}/changes`)).body.data.changes).toEqual([]);
    }
  });

  test('keep their first revocation time if revoked again', async () => {
    const { user_id } = await newBusiness();
    const { id } = (await send('POST', path(user_id))).body.data;
    const first = await send('DELETE', `${path(user_id)}/${id}`);
    const again = await send('DELETE', `${path(user_id)}/${id}`, { at: new Date(NOW.getTime() + 1000) });
    expect(answerOf(again)).toEqual(answerOf(first));
  });

  test('can be limited to one of the user’s businesses but to no other, and that business’s list of changes shows their creation', async () => {
    const [mine, other] = [await newBusiness(), await newBusiness()];
    const { body } = await send('POST', path(mine.user_id), { body: { business_id: mine.id } });
    expect(body.data).toMatchObject({ name: 'API key', role: 'full', business_id: mine.id });
    expect((await call('GET', mine.usage, { as: body.data.api_key })).status).toBe(200);
    expect((await send('GET', `/business/${mine.id}/changes`)).body.data.changes).toMatchObject([
      { action: 'create_key' },
    ]);
    const before = await dumpAll();
    for (const user_id of [mine.user_id, newUser()]) {
      const rule = `must be a business of user ${user_id}`;
      for (const business_id of [other.id, 999_999_999, 61_000_000_001]) {
        const answer = await send('POST', path(user_id), { body: { business_id } });
        expect(answerOf(answer)).toEqual(refusal('business_id', rule));
      }
    }
    expect(await dumpAll()).toBe(before);
  });

  test('are an empty list for an unknown user and cannot be found through another user', async () => {
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

  test('are not created from invalid input, and nothing is stored', async () => {
    const { user_id } = await newBusiness();
    const before = await dumpAll();
    for (const [field, value, rule] of [
      ['role', 'owner', 'must be full, read, or record'],
      ['role', null, 'must be full, read, or record'],
      ['expires_on', '2026-03-14', 'must be today or a later date, in the format YYYY-MM-DD'],
      ['expires_on', '2026-02-30', 'must be today or a later date, in the format YYYY-MM-DD'],
      ['expires_on', 5, 'must be today or a later date, in the format YYYY-MM-DD'],
      ['business_id', '1', 'must be a positive whole number, such as 7'],
      ['business_id', 0, 'must be a positive whole number, such as 7'],
    ] as const)
      expect(answerOf(await send('POST', path(user_id), { body: { [field]: value } }))).toEqual(refusal(field, rule));
    expect(await dumpAll()).toBe(before);
  });

  test('can be created for a new user, which assigns the user a home', async () => {
    const user_id = newUser();
    const { body } = await send('POST', path(user_id));
    const made = await create({ user_id, ...FIELDS });
    expect(databaseOfId(made.body.data.id)).toBe(databaseOfId(body.data.id));
    expect((await call('GET', `/api/v1/business/usage/${made.body.data.id}`, { as: body.data.api_key })).status).toBe(
      200,
    );
    expect(await homeOfId(body.data.id).db.$count(apiKeys, eq(apiKeys.user_id, user_id))).toBe(1);
  });
});

describe('while a database is unavailable', () => {
  const post = async (failed: Home, user_id: number) => {
    const bindings = failingWith('D1_ERROR: Network connection lost.', 'before', failed);
    const headers = { 'Idempotency-Key': 'signup-1' };
    return (await send('POST', '/business', { body: { user_id, ...FIELDS }, headers, bindings })).status;
  };

  test('nothing is created, even partly, if that database is DB', async () => {
    const { user_id } = await newBusiness();
    const before = await dumpAll();
    for (const id of [user_id, newUser()]) expect(await post(homes[0], id)).toBe(503);
    expect(await dumpAll()).toBe(before);
  });

  test('creating a business returns 503 for owners in that database and succeeds for owners in the others', async () => {
    for (const failed of homes.slice(1)) {
      const owners = await Promise.all(homes.map(() => newBusiness()));
      for (const { user_id, home } of owners) expect(await post(failed, user_id)).toBe(home === failed ? 503 : 200);
    }
  });
});
