// Rotating a business's token: the response, the lifetime of former tokens, the cost, and concurrent rotations.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { formerTokens } from '../src/db/schema.ts';
import { answerOf, granted, invalid, UNAUTHENTICATED } from './answers.ts';
import { type Business, type CallOptions, call, dumpAll, homes, later, NOW, newBusiness, newKey } from './support.ts';

const HOUR = 3_600_000;
const rotate = ({ id, key }: Business, options: CallOptions = {}) =>
  call('POST', `/api/v1/business/${id}/token`, { as: key, ...options });
async function rotated(business: Business, options: CallOptions = {}): Promise<string> {
  const { status, body } = await rotate(business, options);
  expect(status).toBe(200);
  return body.data.token;
}
const statusOf = async ({ usage }: Business, as: string, at = NOW) => (await call('GET', usage, { as, at })).status;
const formerOf = ({ id, db }: Business) =>
  db.select().from(formerTokens).where(eq(formerTokens.business_id, id)).orderBy(formerTokens.expires_at);
const tokenOf = async ({ access, key }: Business): Promise<string> =>
  (await call('GET', access, { as: key })).body.data.token;

describe('a rotation returns the business, its new token and its sites', () => {
  test.each<[string, CallOptions]>([
    ['no body', {}],
    ['an empty body of any type', { body: '', headers: { 'Content-Type': 'text/plain' } }],
    ['white space', { body: ' \n' }],
    ['an empty object', { body: {} }],
    ['keep_old', { body: { keep_old: '24h' } }],
  ])('with %s', async (_, options) => {
    for (const _ of homes) {
      const business = await newBusiness({ sites: ['https://b.example', 'https://a.example'] });
      const before = (await call('GET', business.access, { as: business.key })).body.data;
      const at = later(HOUR);
      const { status, body, headers } = await rotate(business, { ...options, at });
      expect({ status, body }).toEqual(
        granted({ ...before, token: body.data.token, updated_at: '2026-03-15T13:00:00.000000Z' }),
      );
      expect(body.data.access_list.map(({ site }: { site: string }) => site)).toEqual([
        'https://b.example',
        'https://a.example',
      ]);
      expect(body.data.token).toMatch(/^bua_pk_[0-9A-Za-z]{34}$/);
      expect(body.data.token[7]).toBe(`${business.home.number}`);
      expect(body.data.token).not.toBe(business.token);
      expect(headers.get('Cache-Control')).toBe('no-store');
      expect((await call('GET', business.access, { as: business.key })).body).toEqual(body);
    }
  });
});

test('a rotation without keep_old invalidates all former tokens immediately', async () => {
  const business = await newBusiness();
  const second = await rotated(business, { body: { keep_old: '24h' } });
  expect(await Promise.all([business.token, second].map((as) => statusOf(business, as)))).toEqual([200, 200]);
  const third = await rotated(business);
  const refused = await call('GET', business.usage, { as: business.token });
  expect(answerOf(refused)).toEqual(UNAUTHENTICATED);
  expect(await Promise.all([second, third].map((as) => statusOf(business, as)))).toEqual([401, 200]);
  expect(await formerOf(business)).toEqual([]);
});

test.each([
  ['1h', HOUR],
  ['24h', 24 * HOUR],
  ['720h', 720 * HOUR],
  ['1d', 24 * HOUR],
  ['30d', 720 * HOUR],
])('with keep_old %s, the old token works for that time, and only for its business and sites', async (keep_old, ms) => {
  const business = await newBusiness({ sites: ['https://a.example'] });
  const token = await rotated(business, { body: { keep_old } });
  const visit = async (as: string, at: Date, { usage } = business, origin = 'https://a.example') =>
    (await call('POST', usage, { as, at, origin })).status;
  expect(await visit(business.token, NOW)).toBe(200);
  expect(await visit(business.token, NOW, business, 'https://evil.example')).toBe(403);
  expect(await visit(business.token, NOW, await newBusiness())).toBe(422);
  expect(await visit(business.token, later(ms - 1))).toBe(200);
  expect(await visit(business.token, later(ms))).toBe(401);
  expect(await visit(token, later(ms))).toBe(200);
});

describe('a rotation gets 422 and does not change the token for', () => {
  const BODY = 'body must be empty, or a JSON object with keep_old only, such as {"keep_old":"24h"}';
  const KEEP = 'keep_old must be a whole number of hours or days, from 1h to 30d, such as 24h';
  const JSON_ONLY = 'body must be valid JSON';
  const wrong = [
    ...['', '0h', '00h', '01h', '1', 'h', '1m', '1H', '1.5h', '-1h', ' 1h', '1h ', '+1h', '721h', '31d', '999d'],
  ];
  const unknown = (name: string) => `${name} is not a member of this object, which accepts keep_old`;
  type Wrong = [field: string, body: unknown, message: string];
  const refused: Wrong[] = [
    ...wrong.map((keep_old): Wrong => ['keep_old', { keep_old }, KEEP]),
    ...[24, null, true, ['24h'], { h: 24 }].map((keep_old): Wrong => ['keep_old', { keep_old }, KEEP]),
    ['keepold', { keepold: '24h' }, unknown('keepold')],
    ['keep_Old', { keep_Old: '24h' }, unknown('keep_Old')],
    ['keepold', { keep_old: '24h', keepold: '24h' }, unknown('keepold')],
    ['token', { keep_old: '24h', token: 'bua_pk_mine' }, unknown('token')],
    ['__proto__', '{"__proto__":"24h"}', unknown('__proto__')],
    ['body', [], BODY],
    ['body', [{ keep_old: '24h' }], BODY],
    ...['null', 'true', '24', '"24h"', '"keep_old"'].map((body): Wrong => ['body', body, BODY]),
    ...['24h', 'keep_old=24h', '{', '{"keep_old":"24h"', '{}{}', "{'keep_old':'24h'}"].map(
      (body): Wrong => ['body', body, JSON_ONLY],
    ),
  ];
  test.each(refused)('an invalid %s: %j', async (field, body, message) => {
    const business = await newBusiness();
    const before = await dumpAll();
    const answer = await rotate(business, { body });
    expect(answerOf(answer)).toEqual(invalid(field, message));
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(await dumpAll()).toBe(before);
  });

  test('keep_old as a query parameter', async () => {
    const business = await newBusiness();
    const before = await dumpAll();
    const path = `/api/v1/business/${business.id}/token?keep_old=24h`;
    const { status, body } = await call('POST', path, { as: business.key });
    const message = 'keep_old is not a parameter of this operation, which accepts none';
    expect({ status, body }).toEqual(invalid('keep_old', message));
    expect(await dumpAll()).toBe(before);
  });
});

describe('former tokens', () => {
  test('number at most five, and a sixth replaces the oldest', async () => {
    const business = await newBusiness();
    const tokens = [business.token];
    for (const keep_old of ['9h', '3h', '7h', '1h', '5h', '8h', '2h']) {
      tokens.push(await rotated(business, { body: { keep_old } }));
    }
    const works = await Promise.all(tokens.map((token) => statusOf(business, token)));
    expect(works).toEqual([401, 401, 200, 200, 200, 200, 200, 200]);
  });

  test('include the most recently replaced token, even if it expires first', async () => {
    const business = await newBusiness();
    for (let index = 0; index < 5; index++) await rotated(business, { body: { keep_old: '7d' } });
    const token = await tokenOf(business);
    await rotated(business, { body: { keep_old: '1h' } });
    expect(await statusOf(business, token)).toBe(200);
    expect(await statusOf(business, token, later(HOUR))).toBe(401);
  });

  test('that have expired are dropped before a working token, even if the working token is older', async () => {
    const business = await newBusiness();
    for (const keep_old of ['7d', '1h', '1h', '1h', '1h']) await rotated(business, { body: { keep_old } });
    const latest = await tokenOf(business);
    const at = later(2 * HOUR);
    await rotated(business, { body: { keep_old: '7d' }, at });
    expect((await formerOf(business)).map(({ token }) => token).sort()).toEqual([business.token, latest].sort());
    expect(await statusOf(business, business.token, at)).toBe(200);
  });

  test('are limited separately for each business', async () => {
    const business = await newBusiness();
    const sibling = await newBusiness({ user_id: business.user_id });
    await rotated(sibling, { body: { keep_old: '1h' } });
    for (let index = 0; index < 7; index++) await rotated(business, { body: { keep_old: '24h' } });
    await rotated(business);
    expect(await statusOf(sibling, sibling.token)).toBe(200);
    expect(await statusOf(business, sibling.token)).toBe(422);
  });
});

test('an imported token can be rotated, but not imported again', async () => {
  const business = await newBusiness({ token: 'Imported.Token_from~else+where/1=' });
  const token = await rotated(business, { body: { keep_old: '1h' } });
  expect(token).toMatch(new RegExp(`^bua_pk_${business.home.number}[0-9A-Za-z]{33}$`));
  expect(await Promise.all([business.token, token].map((as) => statusOf(business, as)))).toEqual([200, 200]);
  expect(await statusOf(business, business.token, later(HOUR))).toBe(401);
  const again = () => newBusiness({ token: business.token });
  await expect(again()).rejects.toThrow('token must not be a current or former token of any business');
  await business.db.delete(formerTokens).where(eq(formerTokens.token, business.token)); // simulates the purge
  await expect(again()).rejects.toThrow('token must not be a current or former token of any business');
  await rotated(business);
  expect(await Promise.all([business.token, token].map((as) => statusOf(business, as)))).toEqual([401, 401]);
});

test('a suspended business’s token can be rotated, and the new token works after reactivation', async () => {
  const business = await newBusiness({ status: 'suspended' });
  const token = await rotated(business);
  expect(await statusOf(business, token)).toBe(401);
  await business.home.d1.prepare(`update businesses set status = 'active' where id = ?`).bind(business.id).run();
  expect(await Promise.all([business.token, token].map((as) => statusOf(business, as)))).toEqual([401, 200]);
});

describe('two concurrent rotations', () => {
  const twice = (business: Business, body?: object) =>
    Promise.all(Array.from({ length: 2 }, () => rotated(business, body === undefined ? {} : { body })));

  test('with keep_old leave one current token, and the other tokens still work', async () => {
    const business = await newBusiness();
    const made = await twice(business, { keep_old: '1h' });
    const current = await tokenOf(business);
    expect(made).toContain(current);
    const tokens = [business.token, ...made];
    expect(await Promise.all(tokens.map((as) => statusOf(business, as)))).toEqual([200, 200, 200]);
    const former = (await formerOf(business)).map(({ token }) => token);
    expect(former.sort()).toEqual(tokens.filter((token) => token !== current).sort());
  });

  test('without keep_old leave one working token', async () => {
    const business = await newBusiness();
    const made = await twice(business);
    const current = await tokenOf(business);
    expect(made).toContain(current);
    const works = await Promise.all([business.token, ...made].map((as) => statusOf(business, as)));
    expect(works).toEqual([business.token, ...made].map((token) => (token === current ? 200 : 401)));
  });
});

describe('a rotation costs one round trip', () => {
  const costs = async (business: Business, options: CallOptions) => {
    const { cost } = await rotate(business, options);
    expect(cost.round_trips).toBe(1);
    return cost;
  };
  const keep = { body: { keep_old: '1h' } };

  test('and writes the business, the change, the former token and their indexes', async () => {
    const business = await newBusiness({ sites: ['https://a.example'] });
    for (let former = 0; former < 5; former++)
      expect((await costs(business, keep)).rows_written, `rows written with ${former} former tokens`).toBe(8);
    // With five former tokens, each rotation also deletes one.
    const full = [await costs(business, keep), await costs(business, keep)];
    for (const { rows_written } of full) expect(rows_written, 'rows written with 5 former tokens').toBe(9);
    expect((await costs(business, {})).rows_written).toBe(5 + 5);
    expect((await costs(business, {})).rows_written).toBe(5);
  });

  test('and reads at most 50 rows, however many rows are stored', {
    tags: 'slow',
  }, async () => {
    const business = await newBusiness({ sites: ['https://a.example'] });
    const others = async (count: number) => {
      for (let other = 0; other < count; other++) await rotate(await newBusiness({ user_id: business.user_id }), keep);
    };
    await others(2);
    for (let former = 0; former < 6; former++) await rotate(business, keep);
    const before = await costs(business, keep);
    expect(before.rows_read, 'rows read').toBeLessThanOrEqual(50);
    await others(20);
    for (let change = 0; change < 20; change++) await rotate(business, keep);
    expect(await costs(business, keep)).toEqual({ ...before, ms: expect.any(Number) });
  });
});

test('a key for one business can rotate that business’s token', async () => {
  const business = await newBusiness();
  const { key, actor } = await newKey(business, { business_id: business.id });
  const token = await rotated(business, { as: key });
  expect(await statusOf(business, token)).toBe(200);
  const [change] = (await call('GET', `/api/v1/business/${business.id}/changes`, { as: key })).body.data.changes;
  expect(change).toMatchObject({ actor, action: 'rotate_token' });
});
