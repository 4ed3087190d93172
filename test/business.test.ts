// Reading one business: its fields, entries, limits and former tokens, and the cost.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { businesses, dailyUsage } from '../src/db/schema.ts';
import { granted } from './answers.ts';
import {
  addFormerToken,
  addSite,
  type Business,
  call,
  homes,
  later,
  NOW,
  newBusiness,
  newKey,
  OPERATOR,
  setCount,
  TODAY,
} from './support.ts';

const HOUR = 3_600_000;

const read = (business: Business, options: Parameters<typeof call>[2] = {}) =>
  call('GET', `/api/v1/business/${business.id}`, { as: business.key, ...options });
async function shown(business: Business, options: Parameters<typeof call>[2] = {}) {
  const { status, body } = await read(business, options);
  expect(status).toBe(200);
  return body.data;
}
const limit = ({ id, db }: Business, daily_limit: number | null, monthly_limit: number | null) =>
  db.update(businesses).set({ daily_limit, monthly_limit }).where(eq(businesses.id, id));
const rotate = async ({ id, key }: Business, keep_old: string, at = NOW): Promise<string> =>
  (await call('POST', `/api/v1/business/${id}/token`, { as: key, body: { keep_old }, at })).body.data.token;

test('reading a business returns the same fields as reading its sites, plus limits and former tokens', async () => {
  for (const _ of homes) {
    const business = await newBusiness({ sites: ['https://b.example', 'https://a.example'] });
    const { body: sites } = await call('GET', business.access, { as: business.key });
    for (const as of [business.key, (await newKey(business, { business_id: business.id })).key, OPERATOR.full]) {
      const { status, body, headers } = await read(business, { as });
      expect({ status, body }).toEqual(
        granted({ ...sites.data, limits: null, refused_by_limit: 0, former_tokens: [] }),
      );
      expect(headers.get('Cache-Control')).toBe('no-store');
    }
  }
});

test('an owner can read an inactive business', async () => {
  const business = await newBusiness({ status: 'suspended' });
  await addFormerToken(business);
  expect(await shown(business)).toMatchObject({ status: 'suspended', former_tokens: [{}] });
});

test('reading a business with a read-only key shows only the token’s last four characters', async () => {
  const business = await newBusiness({ sites: ['https://a.example'] });
  const former = await addFormerToken(business);
  const { key } = await newKey(business, { role: 'read' });
  const { text, body } = await read(business, { as: key });
  expect(body.data).toEqual({ ...(await shown(business)), token: `bua_pk_…${business.token.slice(-4)}` });
  expect(text).not.toContain(former.slice(-5));
});

describe('limits', () => {
  test.each([
    [null, null, null],
    [10, 100, 5],
    [100, 37, 2],
    [10, null, 5],
    [null, 100, 65],
    [4, null, 0],
    [0, 0, 0],
  ])(
    'of %j per day and %j per month leave %j uses, whether the business is read alone or in a list',
    async (daily, monthly, remaining) => {
      const business = await newBusiness();
      await setCount(business.id, '2026-02-28', 50);
      await setCount(business.id, '2026-03-01', 30);
      await setCount(business.id, TODAY, 5);
      await limit(business, daily, monthly);
      const { limits } = await shown(business);
      if (remaining === null) expect(limits).toBeNull();
      else expect(limits).toMatchObject({ daily, monthly, remaining });
      const { body } = await call('GET', '/api/v1/business', { as: business.key });
      expect(body.data.businesses).toMatchObject([{ limits }]);
    },
  );

  test('include every property for an unused business', async () => {
    const business = await newBusiness();
    await limit(business, 7, 9);
    expect((await shown(business)).limits).toMatchObject({ daily: 7, monthly: 9, remaining: 7 });
  });
});

describe('former tokens', () => {
  test('are shown until they expire, oldest first', async () => {
    const business = await newBusiness();
    const second = await rotate(business, '9h');
    const third = await rotate(business, '1h');
    await rotate(business, '5h');
    const [first, last] = [business.token, third].map((token) => token.slice(-4));
    const former = [
      { last_four: first, expires_at: '2026-03-15T21:00:00.000000Z' },
      { last_four: second.slice(-4), expires_at: '2026-03-15T13:00:00.000000Z' },
      { last_four: last, expires_at: '2026-03-15T17:00:00.000000Z' },
    ];
    const at = (ms: number) => shown(business, { at: later(ms) });
    expect((await at(0)).former_tokens).toEqual(former);
    expect((await at(HOUR - 1)).former_tokens).toEqual(former);
    expect((await at(HOUR)).former_tokens).toEqual([former[0], former[2]]);
    expect((await at(9 * HOUR)).former_tokens).toEqual([]);
  });

  test('are shown for exactly as long as they are accepted', async () => {
    const business = await newBusiness();
    await rotate(business, '1h');
    for (const [ms, status, count] of [
      [HOUR - 1, 200, 1],
      [HOUR, 401, 0],
    ] as const) {
      const at = later(ms);
      expect((await call('GET', business.usage, { as: business.token, at })).status).toBe(status);
      expect((await shown(business, { at })).former_tokens).toHaveLength(count);
    }
  });

  test('of another business are never shown', async () => {
    const business = await newBusiness();
    const sibling = await newBusiness({ user_id: business.user_id });
    const former = await addFormerToken(sibling);
    expect((await shown(business)).former_tokens).toEqual([]);
    expect((await shown(sibling)).former_tokens).toMatchObject([{ last_four: former.slice(-4) }]);
  });
});

describe('reading a business', () => {
  const costs = async (business: Business, origin?: string) => {
    const { status, cost } = await read(business, origin === undefined ? {} : { origin });
    expect({ status, cost }).toMatchObject({ status: 200, cost: { round_trips: 1, rows_written: 0 } });
    return cost.rows_read;
  };

  test('takes one round trip and reads the same number of rows, however much else is stored', async () => {
    const business = await newBusiness({ sites: ['https://a.example'] });
    await addFormerToken(business);
    await limit(business, 10, 10);
    await setCount(business.id, TODAY, 1);
    async function store(amount: number, until: string) {
      const others = Array.from({ length: amount }, () => newBusiness({ user_id: business.user_id }));
      for (const other of await Promise.all(others)) {
        await addFormerToken(other);
        await addSite(other.id, 'https://a.example');
        await setCount(other.id, TODAY, 1);
        await newKey(business);
      }
      const days = Array.from({ length: amount }, (_, day) => ({ day: addDays(until, -day), count: 1 }));
      await business.db.insert(dailyUsage).values(days.map((counted) => ({ ...counted, business_id: business.id })));
    }
    await store(1, '2026-02-28'); // an index lookup reads one row past the match
    const before = await costs(business);
    await store(20, '2026-01-31');
    expect(await costs(business)).toBe(before);
  });

  test('reads no counts if the business has no limit', async () => {
    const business = await newBusiness();
    const before = await costs(business);
    for (let day = 1; day <= 15; day++) await setCount(business.id, `2026-03-${String(day).padStart(2, '0')}`, 1);
    expect(await costs(business)).toBe(before);
    await limit(business, null, 100);
    expect(await costs(business)).toBeGreaterThan(before);
  });
});
