// The paginated list of the businesses whose usage the caller may read from its origin.
import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { businesses, dailyUsage, refusedOrigins } from '../src/db/schema.ts';
import { invalid, refused } from './answers.ts';
import { createKey, revokeKey } from './ask.ts';
import {
  addFormerToken,
  type Business,
  type CallOptions,
  call,
  later,
  NOW,
  newBusiness,
  OPERATOR,
  setCount,
  TODAY,
} from './support.ts';

type Listed = {
  id: number;
  token: string;
  used: { date: string; count: number }[];
  limits: object | null;
  refused_origins: number;
};
const list = async (query: string, options: CallOptions) => {
  const { status, body, cost } = await call('GET', `/api/v1/business${query}`, options);
  expect(status).toBe(200);
  const { businesses, next, read_only } = body.data as {
    businesses: Listed[];
    next: number | null;
    read_only: boolean;
  };
  return { businesses, ids: businesses.map(({ id }) => id), next, read_only, cost };
};
const USER = 7_000;
const siblings = (count: number, fields = {}) =>
  Promise.all(Array.from({ length: count }, () => newBusiness({ user_id: USER, ...fields })));

test('the list of businesses contains each business as other operations return it, with its uses in the last 56 days', async () => {
  const business = await newBusiness();
  await setCount(business.id, '2026-01-18', 3); // the day before the first
  await setCount(business.id, '2026-01-19', 5);
  await setCount(business.id, TODAY, 7);
  const shown = (await call('GET', business.access, { as: business.key })).body.data;
  const { access_list: _, ...fields } = shown;
  const used = (await call('GET', `${business.usage}?from=2026-01-19`, { as: business.key })).body.data.used;
  const answer = await call('GET', '/api/v1/business', { as: business.key });
  expect(answer.body).toEqual({
    status: true,
    data: {
      businesses: [{ ...fields, used, limits: null, refused_origins: 0, refused_by_limit: 0 }],
      next: null,
      read_only: false,
    },
  });
  expect(used).toHaveLength(56);
});

test('the list of businesses contains only the user’s businesses, including inactive ones', async () => {
  const other = await newBusiness();
  const suspended = await newBusiness({ status: 'suspended' });
  expect((await list('', { as: suspended.key })).ids).toEqual([suspended.id]);
  expect((await list('', { as: other.key })).ids).toEqual([other.id]);
});

test('the list of businesses contains each business once, in pages ordered by id', async () => {
  const made = await siblings(7);
  const [{ key }] = made as [Business];
  const ids = made.map(({ id }) => id).sort((a, b) => a - b);
  const pages: number[][] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page = await list(`?limit=3${after === 0 ? '' : `&after=${after}`}`, { as: key });
    pages.push(page.ids);
    after = page.next;
  }
  expect(pages).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
  expect((await list('', { as: key })).ids).toEqual(ids);
});

test('for an origin, the list of businesses contains only businesses without sites or with a site that covers it, and any page of the list can be empty', async () => {
  const user_id = 7_001;
  const shop = await newBusiness({ user_id, sites: ['https://shop.example'] });
  const wild = await newBusiness({ user_id, sites: ['https://*.shop.example'] });
  const open = await newBusiness({ user_id });
  const from = async (origin: string) => (await list('', { as: shop.key, origin })).ids;
  expect(await from('https://shop.example')).toEqual([shop.id, open.id]);
  expect(await from('https://a.shop.example')).toEqual([wild.id, open.id]);
  expect(await from('https://evil.example')).toEqual([open.id]);
  const first = await list('?limit=1', { as: shop.key, origin: 'https://evil.example' });
  expect(first).toMatchObject({ ids: [], next: shop.id });
});

test('the list of businesses contains the limits and the remaining uses', async () => {
  const business = await newBusiness();
  await setCount(business.id, '2026-02-28', 50);
  await setCount(business.id, '2026-03-01', 30);
  await setCount(business.id, TODAY, 5);
  for (const [daily, monthly, remaining] of [
    [10, 100, 5],
    [100, 37, 2],
    [null, 100, 65],
    [4, null, 0],
    [0, 0, 0],
  ] as const) {
    const limits = { daily_limit: daily, monthly_limit: monthly };
    await business.db.update(businesses).set(limits).where(eq(businesses.id, business.id));
    const {
      businesses: [listed],
    } = await list('', { as: business.key });
    expect(listed?.limits).toMatchObject({ daily, monthly, remaining });
  }
});

describe('the number of refused origins', () => {
  const EVIL = 'https://evil.example';
  const remember = async ({ id, db }: Business, origins: string[], last_seen: string) => {
    const rows = origins.map((origin) => ({ business_id: id, origin, count: 1, first_seen: last_seen, last_seen }));
    for (let start = 0; start < rows.length; start += 10)
      await db.insert(refusedOrigins).values(rows.slice(start, start + 10));
  };
  const counted = async ({ key }: Business, options: CallOptions = {}) =>
    (await list('', { as: key, ...options })).businesses[0]?.refused_origins;
  const minute = (at: number) => later(at * 60_000);
  const refuse = async ({ usage, token }: Business, origins: string[], at: number) => {
    for (const origin of origins)
      expect((await call('GET', usage, { as: token, origin, at: minute(at) })).status).toBe(403);
  };

  test('includes each of the business’s own refused origins once', async () => {
    const [business, other] = [await newBusiness({ sites: ['https://shop.example'] }), await newBusiness()];
    await refuse(business, [EVIL, EVIL, 'https://www.shop.example', 'https://Evil.example'], 1);
    await call('GET', business.usage, { as: business.token, origin: 'https://shop.example', at: minute(1) });
    expect(await counted(business)).toBe(2);
    expect(await counted(other)).toBe(0);
    await call('DELETE', `${business.access}/refused`, { as: business.key });
    expect(await counted(business)).toBe(0);
  });

  test('is shown to the operator and to read-only keys', async () => {
    const business = await newBusiness({ user_id: 7_003, sites: ['https://shop.example'] });
    await refuse(business, [EVIL], 1);
    await business.home.d1.prepare("update api_keys set role = 'read' where user_id = 7003").run();
    expect(await counted(business)).toBe(1);
    const { businesses } = await list('?user_id=7003', { as: OPERATOR.full });
    expect(businesses).toMatchObject([{ id: business.id, refused_origins: 1 }]);
  });

  test.each<[string, (business: Business) => [method: string, path: string, sites?: string[]], number]>([
    ['adding a site that covers the refused origins', ({ access }) => ['POST', access, ['https://*.evil.example']], 0],
    ['adding a site that covers none of them', ({ access }) => ['POST', access, ['https://other.example']], 1],
    ['removing all sites', ({ access }) => ['DELETE', access], 0],
    ['stopping former tokens', ({ id }) => ['DELETE', `/api/v1/business/${id}/token/former`], 1],
  ])('is 0 after %s, until an origin is refused again', async (_, change, again) => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    await addFormerToken(business);
    await refuse(business, ['https://a.evil.example', 'https://b.evil.example'], 1);
    expect(await counted(business)).toBe(2);
    const [method, path, sites] = change(business);
    const options = { as: business.key, at: minute(2), ...(sites && { body: { sites } }) };
    expect((await call(method, path, options)).status).toBe(200);
    expect(await counted(business)).toBe(0);
    await call('GET', business.usage, { as: business.token, origin: 'https://b.evil.example', at: minute(3) });
    expect(await counted(business)).toBe(again);
  });

  test('excludes origins last refused more than 90 days ago', async () => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    await business.home.d1
      .prepare(`update businesses set updated_at = '2025-01-01T00:00:00.000000Z' where id = ?`)
      .bind(business.id)
      .run();
    await remember(business, [EVIL], '2025-12-15T00:00:00.000000Z');
    await remember(business, ['https://old.example'], '2025-12-14T23:59:59.999999Z');
    expect(await counted(business)).toBe(1);
    expect(await counted(business, { at: new Date('2026-03-16T00:00:00Z') })).toBe(0);
  });
});

test.each([
  ['limit', '?limit=0', 'limit must be a whole number from 1 to 50'],
  ['limit', '?limit=51', 'limit must be a whole number from 1 to 50'],
  ['limit', '?limit=1&limit=2', 'limit must be a whole number from 1 to 50, and must appear only once'],
  ['after', '?after=x', 'after must be an id, such as 17, and must appear only once'],
  ['page', '?page=2', 'page is not a parameter of this list, which accepts limit and after'],
])('the list of businesses rejects an invalid %s: %s', async (field, query, message) => {
  const { key } = await newBusiness();
  const { status, body } = await call('GET', `/api/v1/business${query}`, { as: key });
  expect({ status, body }).toEqual(invalid(field, message));
});

test('the list of businesses refuses every request with a business token', async () => {
  const { token } = await newBusiness();
  const { status, body } = await call('GET', '/api/v1/business?limit=x', { as: token });
  const message = 'A business token cannot list businesses. Use an API key.';
  expect({ status, body }).toEqual(refused(message));
});

describe('listing businesses', () => {
  test('takes one round trip and reads one row for a revoked key, however many businesses its user has', async () => {
    const user_id = 7_300;
    const [first] = (await Promise.all(Array.from({ length: 20 }, () => newBusiness({ user_id })))) as [Business];
    const revoked = await createKey(first.home, { user_id, name: 'r' }, NOW);
    await revokeKey(first.db, revoked.id, user_id, NOW);
    const { status, cost } = await call('GET', '/api/v1/business', { as: revoked.api_key });
    expect({ status, cost }).toMatchObject({ status: 401, cost: { round_trips: 1, rows_read: 1 } });
  });

  const SIZE = 20;
  let key = '';
  beforeAll(async () => {
    const user_id = 7_002;
    const sites = ['https://shop.example', 'https://*.shop.example', 'https://b.example'];
    const made = await Promise.all(Array.from({ length: SIZE }, () => newBusiness({ user_id, sites })));
    for (const { id, db } of made) {
      const days = Array.from({ length: 400 }, (_, day) => ({ business_id: id, day: addDays(TODAY, -day), count: 1 }));
      for (let from = 0; from < 400; from += 30) await db.insert(dailyUsage).values(days.slice(from, from + 30));
      await db.update(businesses).set({ daily_limit: 1, monthly_limit: 1 }).where(eq(businesses.id, id));
    }
    ({ key } = made[0] as Business);
  });

  test.each([
    ['a server', undefined, 35],
    ['a page', 'https://shop.example', 35],
    ['a page on a deep subdomain', 'https://a.b.c.d.shop.example', 45],
  ])('from %s takes one round trip and reads a bounded number of rows for each business', async (_, origin, most) => {
    const { ids, cost } = await list(`?limit=${SIZE}`, origin === undefined ? { as: key } : { as: key, origin });
    expect(ids).toHaveLength(SIZE);
    expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(cost.rows_read / SIZE).toBeLessThanOrEqual(most);
  });

  test('from a page whose origin no business allows reads at most 6 rows for each business', async () => {
    const { ids, cost } = await list(`?limit=${SIZE}`, { as: key, origin: 'https://evil.example' });
    expect(ids).toEqual([]);
    expect(cost.rows_read / SIZE).toBeLessThanOrEqual(6);
  });
});
