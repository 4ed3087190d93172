// A token that is replaced, and how long it keeps working.
import { describe, expect, test } from 'vitest';
import { purge } from '../src/db/purge.ts';
import { rotateToken } from './ask.ts';
import { call, NOW, newBusiness, OPERATOR } from './support.ts';

describe('a token that is replaced', () => {
  const HOUR = 3_600_000;
  const later = (hours: number) => new Date(NOW.getTime() + hours * HOUR);
  type Business = Awaited<ReturnType<typeof newBusiness>>;
  const status = async (business: Business, as: string, hours: number) =>
    (await call('GET', business.usage, { as, at: later(hours) })).status;

  test('is refused at once', async () => {
    const business = await newBusiness();
    const rotated = await rotateToken(business.home, business.id, NOW);
    expect(await status(business, business.token, 0)).toBe(401);
    expect(await status(business, rotated, 0)).toBe(200);
  });

  test('is accepted for the time it is kept, and not after it', async () => {
    const business = await newBusiness();
    const rotated = await rotateToken(business.home, business.id, NOW, 24 * HOUR);
    expect(await status(business, business.token, 23)).toBe(200);
    expect(await status(business, rotated, 23)).toBe(200);
    expect(await status(business, business.token, 24)).toBe(401);
    expect(await status(business, rotated, 24)).toBe(200);
  });

  test('is refused at once when the operator stops former tokens, once, and the present one stays', async () => {
    const business = await newBusiness();
    const rotated = await rotateToken(business.home, business.id, NOW, 24 * HOUR);
    for (let times = 2; times > 0; times--) {
      await call('DELETE', `/api/v1/business/${business.id}/token/former`, { as: OPERATOR.full });
      expect(await status(business, business.token, 0)).toBe(401);
      expect(await status(business, rotated, 0)).toBe(200);
    }
    const { body } = await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key });
    const made = body.data.changes.map(({ action, actor }: { action: string; actor: string }) => [action, actor]);
    expect(made.slice(0, 2)).toEqual([
      ['stop_former_tokens', 'operator (…ffff)'],
      ['rotate_token', 'operator'],
    ]);
  });

  test('stays restricted to the registered sites while it is kept, and to its own business', async () => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    const other = await newBusiness();
    await rotateToken(business.home, business.id, NOW, 24 * HOUR);
    const visit = async (origin: string) => (await call('GET', business.usage, { as: business.token, origin })).status;
    expect(await visit('https://shop.example')).toBe(200);
    expect(await visit('https://evil.example')).toBe(403);
    expect((await call('GET', other.usage, { as: business.token, origin: 'https://shop.example' })).status).toBe(422);
  });

  test('cannot be imported again, by whomever, neither while it is kept nor afterwards', async () => {
    const token = 'Imported-Token-of-Somebody';
    const business = await newBusiness({ token });
    await rotateToken(business.home, business.id, NOW, 24 * HOUR);
    await expect(newBusiness({ token })).rejects.toThrow('token must be one that no business has or had');
    expect(await status(business, token, 1)).toBe(200);
    await purge(business.db, later(25));
    await expect(newBusiness({ token })).rejects.toThrow('token must be one that no business has or had');
  });

  test('is refused at once, kept or not, when the next one is replaced without keeping it', async () => {
    const business = await newBusiness();
    const second = await rotateToken(business.home, business.id, NOW, 24 * HOUR);
    await rotateToken(business.home, business.id, NOW);
    expect(await status(business, business.token, 1)).toBe(401);
    expect(await status(business, second, 1)).toBe(401);
  });
});
