import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { noCost } from '../src/db/batch.ts';
import { markKeyUsed } from '../src/db/last-use.ts';
import { metered } from '../src/db/meter.ts';
import { apiKeys } from '../src/db/schema.ts';
import { type Business, type CallOptions, call, newBusiness } from './support.ts';

const SHOP = 'https://shop.example';
const EVIL = 'https://evil.example';
const restricted = () => newBusiness({ sites: [SHOP] });
const keyOf = async ({ db, user_id }: Business) => {
  const [key] = await db.select().from(apiKeys).where(eq(apiKeys.user_id, user_id));
  return key;
};

describe('the day on which a key was last used', () => {
  const at = (day: string) => ({ at: new Date(`${day}T12:00:00Z`) });

  test('is the day of its last permitted call', async () => {
    const business = await restricted();
    const use = (day: string, options: CallOptions = {}) =>
      call('GET', business.usage, { as: business.key, ...at(day), ...options });
    expect((await keyOf(business))?.last_used_on).toBeNull();
    await use('2026-03-15');
    expect((await keyOf(business))?.last_used_on).toBe('2026-03-15');
    await call('POST', business.access, { as: business.key, body: { sites: [SHOP] }, ...at('2026-03-17') });
    expect((await keyOf(business))?.last_used_on).toBe('2026-03-17');
    await call('GET', '/api/v1/business', { as: business.key, ...at('2026-03-18') });
    expect((await keyOf(business))?.last_used_on).toBe('2026-03-18');
  });

  test('is not the day of a refused call', async () => {
    const [business, other] = [await restricted(), await restricted()];
    const statuses = [
      await call('GET', business.usage, { as: business.key, origin: EVIL }),
      await call('GET', other.usage, { as: business.key }),
      await call('GET', `/api/v1/business/999999999/access`, { as: business.key }),
      await call('GET', business.usage, { as: business.token, origin: SHOP }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 422, 401, 200]);
    expect((await keyOf(business))?.last_used_on).toBeNull();
  });

  test('is written once a day, however many calls there are', async () => {
    const business = await restricted();
    const writes: number[] = [];
    for (const day of ['2026-03-15', '2026-03-15', '2026-03-16', '2026-03-16']) {
      const { later } = await call('GET', business.usage, { as: business.key, at: new Date(`${day}T12:00:00Z`) });
      writes.push(later.rows_written);
    }
    expect(writes).toEqual([1, 0, 1, 0]);
  });

  test('is written once by concurrent calls, and never moves to an earlier day', async () => {
    const business = await restricted();
    const { id = 0 } = (await keyOf(business)) ?? {};
    const cost = noCost();
    const mark = (day: string) => markKeyUsed(metered(business.home.d1, cost), id, day);
    await Promise.all(Array.from({ length: 20 }, () => mark('2026-03-16')));
    await mark('2026-03-15'); // a call made before midnight and written after midnight
    expect(cost.rows_written).toBe(1);
    const isKey = and(eq(apiKeys.id, id), eq(apiKeys.last_used_on, '2026-03-16'));
    expect(await business.db.$count(apiKeys, isKey)).toBe(1);
  });
});
