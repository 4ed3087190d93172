// A rate limiter that fails blocks nothing: requests pass, refused origins are not stored, and the log names the limiter.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { seenOrigins } from '../src/db/schema.ts';
import { call, later, newBusiness } from './support.ts';

const ADDRESS = { 'CF-Connecting-IP': '192.0.2.7' };
const FAULTS: [string, () => Promise<{ success: boolean }>, RegExp][] = [
  ['throws', () => Promise.reject(new Error('limiter is broken')), /^Error: limiter is broken\n/],
  ['never responds', () => new Promise(() => {}), /^Error: no response within 500 ms/],
];
const faulty = (limit: () => Promise<{ success: boolean }>) => ({ limit }) as RateLimit;
/** Advances the clock until the response arrives. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let isDone = false;
  const done = answer.finally(() => {
    isDone = true;
  });
  while (!isDone) await vi.advanceTimersByTimeAsync(500);
  return done;
}
afterEach(() => {
  vi.useRealTimers();
});

describe.each(FAULTS)('a limiter that %s', (_, limit, error) => {
  test.each(['ADDRESS_LIMIT', 'CREDENTIAL_LIMIT'] as const)('allows every request if it is %s', async (limiter) => {
    const { usage, key } = await newBusiness();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const bindings = { [limiter]: faulty(limit) };
    const { status, errors, headers } = await inTime(call('GET', usage, { as: key, headers: ADDRESS, bindings }));
    expect(status).toBe(200);
    const request_id = headers.get('X-Request-Id');
    expect(errors).toEqual([{ operation: 'rate_limit', limiter, request_id, error: expect.stringMatching(error) }]);
  });

  test.each(['REFUSED_ORIGIN_LIMIT', 'REFUSED_BUSINESS_LIMIT'])(
    'prevents the storage of refused origins if it is %s',
    async (limiter) => {
      const { usage, token, db } = await newBusiness({ sites: ['https://shop.example'] });
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const bindings = { [limiter]: faulty(limit) };
      const refused = call('GET', usage, { as: token, origin: 'https://copycat.example', bindings });
      const { status, errors } = await inTime(refused);
      expect(status).toBe(403);
      expect(errors).toMatchObject([{ operation: 'rate_limit', limiter }]);
      expect(await db.$count(seenOrigins)).toBe(0);
    },
  );
});

test('the log line of a rate-limited request names the limiter and the caller’s unverified credential', async () => {
  const { id, usage, key } = await newBusiness();
  const bindings = { ADDRESS_LIMIT: faulty(async () => ({ success: false })) };
  const base = { method: 'GET', route: '/api/v1/business/usage/:business_id', status: 429, refusal: 'rate_limited' };
  const credential = { kind: 'key', last_four: key.slice(-4) };
  const byAddress = await call('GET', usage, { as: key, headers: ADDRESS, bindings, at: later(1) });
  expect(byAddress.lines).toMatchObject([
    { ...base, limiter: 'ADDRESS_LIMIT', operation: null, business_id: null, credential },
  ]);
  const byKey = await call('GET', usage, { as: key, bindings: { CREDENTIAL_LIMIT: bindings.ADDRESS_LIMIT } });
  expect(byKey.lines).toMatchObject([
    { ...base, limiter: 'CREDENTIAL_LIMIT', operation: 'read_usage', business_id: id, credential },
  ]);
  expect(byKey.cost.round_trips).toBe(0);
});
