import { describe, expect, test } from 'vitest';
import { type BoundDatabase, Databases } from '../../src/cli/databases.ts';
import { hashOf } from '../../src/core/credential.ts';
import { apiKeys, businesses } from '../../src/db/schema.ts';
import { prepareDemo } from '../../src/tools/demo.ts';
import { businessesIn, insert, openFor, rowsOf, threeDatabases } from '../cli/support.ts';

const allThree = openFor(await threeDatabases());
const oneAlone = () => new Databases([allThree().first]);

const NOW = new Date('2026-03-15T12:00:00.000Z');
const LATER = new Date('2026-03-16T12:00:00.000Z');

test('makes a business with three months of use and one to try domains on, open to every site, and a key', async () => {
  const databases = oneAlone();
  const { charts, shop, api_key } = await prepareDemo(databases, NOW, 8787);
  expect(await businessesIn(databases)).toEqual([charts, shop]);
  expect(charts).toMatchObject({ user_id: 1, name: 'Demo Charts', status: 'active' });
  expect(shop).toMatchObject({ user_id: 1, name: 'Demo Shop', status: 'active' });
  expect(await rowsOf(databases, 'access')).toEqual([]);
  const key = { user_id: 1, hash: await hashOf(api_key), expires_on: null, revoked_at: null };
  expect(await rowsOf(databases, 'api_keys')).toEqual([expect.objectContaining(key)]);

  const uses = (await rowsOf(databases, 'daily_usage')) as { business_id: number; day: string; count: number }[];
  const days = uses.map(({ day }) => day).sort();
  expect([days.at(0), days.at(-1)]).toEqual(['2025-12-13', '2026-03-14']);
  expect(new Set(days).size).toBe(days.length);
  expect(days.length).toBeGreaterThan(85);
  expect(uses.filter(({ business_id, count }) => business_id !== charts.id || count < 1)).toEqual([]);
});

test('run again, keeps businesses and uses, and makes a new key in place of the one before', async () => {
  const own = { user_id: 1, name: 'own', hash: 'a'.repeat(64), last_four: 'aaaa', created_at: '2026-01-01' };
  const databases = oneAlone();
  await insert(databases, 'api_keys', own);
  const one = await prepareDemo(databases, NOW, 8787);
  const uses = await rowsOf(databases, 'daily_usage');
  const second = await prepareDemo(databases, LATER, 8787);
  expect([second.charts, second.shop]).toEqual([one.charts, one.shop]);
  expect(await businessesIn(databases)).toEqual([one.charts, one.shop]);
  expect(await rowsOf(databases, 'daily_usage')).toEqual(uses);
  expect((await rowsOf(databases, 'api_keys')).map(({ hash, revoked_at }) => ({ hash, revoked_at }))).toEqual([
    { hash: own.hash, revoked_at: null },
    { hash: await hashOf(one.api_key), revoked_at: '2026-03-16T12:00:00.000000Z' },
    { hash: await hashOf(second.api_key), revoked_at: null },
  ]);
});

test('run for another port, leaves the key of the first as it is', async () => {
  const databases = oneAlone();
  const one = await prepareDemo(databases, NOW, 8787);
  const second = await prepareDemo(databases, LATER, 8788);
  expect((await rowsOf(databases, 'api_keys')).map(({ hash, revoked_at }) => ({ hash, revoked_at }))).toEqual([
    { hash: await hashOf(one.api_key), revoked_at: null },
    { hash: await hashOf(second.api_key), revoked_at: null },
  ]);
});

describe('with three databases', () => {
  test('makes a business and a key of another user in another database, and keeps the business', async () => {
    const databases = allThree();
    const { charts, shop, other } = await prepareDemo(databases, NOW, 8787);
    expect([charts.id, shop.id]).toEqual([1, 2]);
    const business = { id: 1_000_000_001, user_id: 2, name: 'Demo Abroad', status: 'active' };
    expect(other?.business).toMatchObject({ ...business, token: expect.stringMatching(/^bua_pk_1/) });
    expect(other?.api_key).toMatch(/^bua_sk_1/);
    expect(await rows(databases, 1, businesses)).toMatchObject([other?.business]);
    expect(await rows(databases, 2, businesses)).toEqual([]);

    const second = await prepareDemo(databases, LATER, 8787);
    expect(second.other?.business).toEqual(other?.business);
    const keys = await rows(databases, 1, apiKeys);
    expect(keys.map(({ hash, revoked_at }) => ({ hash, revoked_at }))).toEqual([
      { hash: await hashOf(`${other?.api_key}`), revoked_at: '2026-03-16T12:00:00.000000Z' },
      { hash: await hashOf(`${second.other?.api_key}`), revoked_at: null },
    ]);
  });

  test('keeps what one database had, which is without the other user', async () => {
    const one = await prepareDemo(oneAlone(), NOW, 8787);
    expect(one.other).toBeNull();
    const three = await prepareDemo(allThree(), NOW, 8787);
    expect([three.charts, three.shop]).toEqual([one.charts, one.shop]);
    expect(three.other?.business.id).toBe(1_000_000_001);
  });
});

const rows = <T extends typeof businesses | typeof apiKeys>(databases: Databases, number: number, table: T) =>
  (databases.numbered(number) as BoundDatabase).db.select().from(table).orderBy(table.id);
