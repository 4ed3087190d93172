// Stopping former tokens: the response, the tokens that still work, the cost, and a concurrent rotation.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { formerTokens } from '../src/db/schema.ts';
import { answerOf, UNAUTHENTICATED } from './answers.ts';
import {
  addFormerToken,
  type Business,
  type CallOptions,
  call,
  dumpAll,
  homes,
  newBusiness,
  newKey,
  OPERATOR,
} from './support.ts';

const LATER = new Date('2026-03-15T13:00:00.000Z');

const stop = ({ id, key }: Business, options: CallOptions = {}) =>
  call('DELETE', `/api/v1/business/${id}/token/former`, { as: key, ...options });
const read = async ({ id, key }: Business) => (await call('GET', `/api/v1/business/${id}`, { as: key })).body.data;
const rotate = async ({ id, key }: Business, keep_old?: string): Promise<string> =>
  (await call('POST', `/api/v1/business/${id}/token`, { as: key, body: { keep_old } })).body.data.token;
async function use({ usage }: Business, as: string) {
  const { status, body } = await call('GET', usage, { as });
  return { status, body };
}
const statusesOf = async (business: Business, tokens: string[]) =>
  (await Promise.all(tokens.map((token) => use(business, token)))).map(({ status }) => status);
const stored = ({ id, db }: Business) => db.$count(formerTokens, eq(formerTokens.business_id, id));

test('after former tokens are stopped, the next requests with them return 401 and the current token keeps working', async () => {
  for (const _ of homes) {
    const business = await newBusiness();
    const second = await rotate(business, '24h');
    const third = await rotate(business, '30d');
    expect(await statusesOf(business, [business.token, second, third])).toEqual([200, 200, 200]);
    expect((await stop(business)).status).toBe(200);
    for (const token of [business.token, second]) expect(await use(business, token)).toEqual(UNAUTHENTICATED);
    expect((await use(business, third)).status).toBe(200);
    expect(await stored(business)).toBe(0);
  }
});

test('stopping former tokens returns the updated business', async () => {
  const business = await newBusiness({ sites: ['https://b.example', 'https://a.example'] });
  await business.home.d1.prepare('update businesses set monthly_limit = 9 where id = ?').bind(business.id).run();
  await call('POST', business.usage, { as: business.key });
  for (const as of [business.key, (await newKey(business, { business_id: business.id })).key, OPERATOR.full]) {
    await addFormerToken(business);
    const before = await read(business);
    expect(before.former_tokens).toHaveLength(1);
    const { status, body, headers } = await stop(business, { as, at: LATER });
    const data = { ...before, updated_at: '2026-03-15T13:00:00.000000Z', former_tokens: [] };
    expect({ status, body }).toEqual({ status: 200, body: { status: true, data } });
    expect(body.data.limits).toMatchObject({ daily: null, monthly: 9, remaining: 8 });
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(await read(business)).toEqual(data);
  }
});

describe('stopping former tokens changes nothing', () => {
  test('if it is repeated', async () => {
    const business = await newBusiness({ sites: ['https://a.example'] });
    await addFormerToken(business);
    const first = await stop(business);
    const before = await dumpAll();
    const again = await stop(business, { at: LATER });
    expect(answerOf(again)).toEqual({ status: 200, body: first.body });
    expect(again.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(await dumpAll()).toBe(before);
  });

  test('if the only former token has expired but is not purged yet', async () => {
    const business = await newBusiness();
    await addFormerToken(business, '2026-03-15T13:00:00.000000Z');
    const before = await dumpAll();
    const { status, body } = await stop(business, { at: LATER });
    const data = { ...(await read(business)), former_tokens: [] };
    expect({ status, body }).toEqual({ status: 200, body: { status: true, data } });
    expect(await dumpAll()).toBe(before);
  });
});

test('stopping former tokens does not affect those of other businesses', async () => {
  const business = await newBusiness();
  const sibling = await newBusiness({ user_id: business.user_id });
  const [own, other] = [await addFormerToken(business), await addFormerToken(sibling)];
  await stop(business);
  expect(await use(business, own)).toEqual(UNAUTHENTICATED);
  expect((await use(sibling, other)).status).toBe(200);
});

test('a suspended business’s stopped tokens do not work again when it becomes active', async () => {
  const business = await newBusiness({ status: 'suspended' });
  const former = await addFormerToken(business);
  expect((await stop(business)).body.data).toMatchObject({ status: 'suspended', former_tokens: [] });
  await business.home.d1.prepare(`update businesses set status = 'active' where id = ?`).bind(business.id).run();
  expect(await statusesOf(business, [former, business.token])).toEqual([401, 200]);
});

test('an imported former token can be stopped like any other', async () => {
  const business = await newBusiness({ token: 'Imported.Token_that~stops/early=' });
  const token = await rotate(business, '24h');
  await stop(business);
  expect(await statusesOf(business, [business.token, token])).toEqual([401, 200]);
});

describe('a rotation that keeps the old token', () => {
  test('leaves one working former token if the earlier ones were stopped', async () => {
    const business = await newBusiness();
    const former = await addFormerToken(business);
    await stop(business);
    const token = await rotate(business, '1h');
    expect(await statusesOf(business, [former, business.token, token])).toEqual([401, 200, 200]);
  });
});
