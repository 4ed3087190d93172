// Rotating a business's token: the lifetime of the old one, and wrong bodies. The simulator (test/sim) checks the rest.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerOf, invalid } from './answers.ts';
import { type Business, type CallOptions, call, dumpAll, later, NOW, newBusiness } from './support.ts';

const HOUR = 3_600_000;
const rotate = ({ id, key }: Business, options: CallOptions = {}) =>
  call('POST', `/api/v1/business/${id}/token`, { as: key, ...options });
async function rotated(business: Business, options: CallOptions = {}): Promise<string> {
  const { status, body } = await rotate(business, options);
  expect(status).toBe(200);
  return body.data.token;
}

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

test('former tokens number at most five, and a sixth replaces the oldest', async () => {
  const business = await newBusiness();
  const tokens = [business.token];
  for (const keep_old of ['9h', '3h', '7h', '1h', '5h', '8h', '2h'])
    tokens.push(await rotated(business, { body: { keep_old } }));
  const read = async (as: string) => (await call('GET', business.usage, { as })).status;
  expect(await Promise.all(tokens.map(read))).toEqual([401, 401, 200, 200, 200, 200, 200, 200]);
});

test('a former token shows the day of its last permitted call, which is written once a day, and reads at most four rows more', async () => {
  const business = await newBusiness({ sites: ['https://a.example'] });
  const visit = async (day: string, origin = 'https://a.example') => {
    const at = new Date(`${day}T13:00:00Z`);
    const { cost, later } = await call('POST', business.usage, { as: business.token, origin, at });
    return { read: cost.rows_read, written: later.rows_written };
  };
  const details = (as: string) => call('GET', `/api/v1/business/${business.id}`, { as });
  const lastUse = async () => {
    const { body } = await details(business.key);
    return body.data.former_tokens.map(({ last_used_on }: { last_used_on: string | null }) => last_used_on);
  };
  await visit('2026-03-14');
  const { read, written } = await visit('2026-03-14'); // the current token
  expect(written).toBe(0);
  await rotated(business, { body: { keep_old: '7d' } });
  await visit('2026-03-14', 'https://evil.example');
  expect(await lastUse()).toEqual([null]);
  const marks: number[] = [];
  for (const day of ['2026-03-15', '2026-03-15', '2026-03-16']) {
    const cost = await visit(day);
    marks.push(cost.written);
    expect(cost.read).toBeLessThanOrEqual(read + 4);
  }
  expect(marks).toEqual([1, 0, 1]);
  expect(await lastUse()).toEqual(['2026-03-16']);
  expect((await details(business.token)).status).toBe(403); // anyone can copy a token from a page, so it may not read this
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
  let business: Business;
  let before: string;
  beforeAll(async () => {
    business = await newBusiness();
    before = await dumpAll();
  });
  afterAll(async () => expect(await dumpAll()).toBe(before));
  test.each(refused)('an invalid %s: %j', async (field, body, message) => {
    const answer = await rotate(business, { body });
    expect(answerOf(answer)).toEqual(invalid(field, message));
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
  });
});
