// Creates the demo data for local development over HTTP: a business with three months of uses and no sites, so that its token works
// everywhere, and another business for trying out domains. With several databases, a third business belongs to another user in another
// database.
import { addDays, dayOf } from '../core/time.ts';
import type { Service } from './service.ts';

const USER = 1;
const OTHER_USER = 2;
const DAYS = 92;

type Business = { id: number; name: string; token: string };

/**
 * Creates the missing demo businesses, and new keys, because existing keys cannot be read. Each port uses its own keys, because two
 * servers can share a database. `other` is null if there is only one database.
 */
export async function prepareDemo(service: Service, now: Date, port: number, hasSeveral: boolean) {
  const keyName = `npm run dev, port ${port}`;
  const [charts, shop] = await ensureBusinesses(service, USER, ['Charts', 'Shop']);
  await ensureHistory(service, charts.id, dayOf(now));
  const api_key = await replaceKey(service, USER, keyName);
  if (!hasSeveral) return { charts, shop, api_key, other: null };
  const [business] = await ensureBusinesses(service, OTHER_USER, ['Abroad']);
  return { charts, shop, api_key, other: { ...business, api_key: await replaceKey(service, OTHER_USER, keyName) } };
}

/** Returns a user's demo businesses, and creates missing ones. The idempotency key prevents duplicates if two servers start together. */
async function ensureBusinesses<const Names extends string[]>(service: Service, user_id: number, names: Names) {
  const { businesses } = await service.ok<{ businesses: Business[] }>(`GET /business?user_id=${user_id}`);
  const ensured: Business[] = [];
  for (const word of names) {
    const [name, main_domain] = [`Demo ${word}`, `${word.toLowerCase()}.example`];
    const body = { user_id, name, main_domain, site: `https://${main_domain}`, country_id: 1, business_size: 'small' };
    const headers = { 'Idempotency-Key': `npm-run-dev-${main_domain}` };
    const known = businesses.find((business) => business.name === name);
    ensured.push(known ?? (await service.ok<Business>('POST /business', { body, headers })));
  }
  return ensured as { [index in keyof Names]: Business };
}

/** Imports a history that ends yesterday, unless those days already have uses. */
async function ensureHistory(service: Service, id: number, today: string): Promise<void> {
  const from = addDays(today, -DAYS);
  const { used } = await service.ok<{ used: { count: number }[] }>(
    `GET /business/usage/${id}?from=${from}&to=${today}`,
  );
  if (used.some(({ count }) => count > 0)) return;
  const days = Array.from({ length: DAYS }, (_, index) => {
    const date = addDays(from, index);
    return { date, count: believableCount(date, index) };
  }).filter(({ count }) => count > 0);
  await service.ok(`PUT /business/${id}/history`, { body: { days } });
}

/** Revokes the keys with this name, and returns a new one. */
async function replaceKey(service: Service, user_id: number, name: string): Promise<string> {
  const path = `/user/${user_id}/keys`;
  const { keys } = await service.ok<{ keys: { id: number; name: string; revoked_at: string | null }[] }>(`GET ${path}`);
  for (const key of keys)
    if (key.name === name && key.revoked_at === null) await service.ok(`DELETE ${path}/${key.id}`);
  return (await service.ok<{ api_key: string }>(`POST ${path}`, { body: { name } })).api_key;
}

/** Simulates slow growth, quiet weekends, noise, and an occasional day without uses. */
function believableCount(day: string, index: number): number {
  const noise = (Math.imul(index + 1, 2_654_435_761) >>> 0) / 2 ** 32;
  const weekend = [0, 6].includes(new Date(day).getUTCDay());
  if (noise < 0.02) return 0;
  return Math.round((120 + index * 1.5) * (weekend ? 0.4 : 1) * (0.8 + noise * 0.4));
}
