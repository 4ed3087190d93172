// Creates the demo data for local development over HTTP. Two businesses are for trying out the API: one with three months of uses and no
// sites, so that its token works everywhere, and an empty one. Six are for the console (demo-customers.ts).
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addDays, dayOf } from '../core/time.ts';
import { customersAt, factorOf, fillCustomers, OWNER } from './demo-customers.ts';
import type { Service } from './service.ts';

const USER = 1;
const DAYS = 92;

type Business = { id: number; main_domain: string; token: string; used?: { count: number }[] };
type ToCreate = { name: string; main_domain: string; monthly_limit?: number; overage?: number; billing_day?: number };

const demo = (word: string): ToCreate => ({ name: `Demo ${word}`, main_domain: `${word.toLowerCase()}.example` });

/**
 * Creates the missing demo businesses, and new keys, because existing keys cannot be read. Each port uses its own keys, because two
 * servers can share a database. `refusing` is the id of the business with refused origins.
 */
export async function prepareDemo(service: Service, now: Date, port: number) {
  const keyName = `npm run dev, port ${port}`;
  const [charts, shop] = await ensureBusinesses(service, USER, [demo('Charts'), demo('Shop')]);
  const customers = customersAt(now);
  const found = await ensureBusinesses(
    service,
    USER,
    customers.map(({ created }) => created),
  );
  const shown = customers.map((one, index) => ({ ...one, business: found[index] as Business }));
  await ensureHistory(service, charts.id, dayOf(now));
  const api_key = await replaceKey(service, USER, keyName);
  await fillCustomers(service, USER, api_key, shown, now);
  const refusing = shown.find(({ customer }) => customer.refused)?.business.id;
  return { charts, shop, refusing, api_key };
}

/**
 * Redirects every request to a new console link of the demo's owner, because a link works for two minutes. Returns the URL, which only this
 * machine can reach.
 */
export async function serveConsole(service: Service): Promise<string> {
  const server = createServer((_, response) => {
    service.ok<{ url: string }>(`POST /user/${USER}/console-link`, { body: { as: OWNER, can_create_keys: true } }).then(
      ({ url }) => response.writeHead(303, { Location: url, 'Cache-Control': 'no-store' }).end(),
      ({ message }: Error) => response.writeHead(502).end(message),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns a user's demo businesses, and creates missing ones. The idempotency key prevents duplicates after a lost response. */
async function ensureBusinesses<const List extends ToCreate[]>(service: Service, user_id: number, list: List) {
  const { businesses } = await service.ok<{ businesses: Business[] }>(`GET /business?user_id=${user_id}`);
  const ensured: Business[] = [];
  for (const wanted of list) {
    const { main_domain } = wanted;
    const body = { user_id, ...wanted, site: `https://${main_domain}`, country_id: 1, business_size: 'small' };
    const headers = { 'Idempotency-Key': `npm-run-dev-${main_domain}` };
    const known = businesses.find((business) => business.main_domain === main_domain);
    ensured.push(known ?? (await service.ok<Business>('POST /business', { body, headers })));
  }
  return ensured as { [index in keyof List]: Business };
}

/** Imports a history that ends yesterday, unless those days already have uses. It grows slowly. */
async function ensureHistory(service: Service, id: number, today: string): Promise<void> {
  const from = addDays(today, -DAYS);
  const { used } = await service.ok<{ used: { count: number }[] }>(
    `GET /business/usage/${id}?from=${from}&to=${today}`,
  );
  if (used.some(({ count }) => count > 0)) return;
  const days = Array.from({ length: DAYS }, (_, index) => {
    const date = addDays(from, index);
    return { date, count: Math.round((120 + index * 1.5) * factorOf(date, index)) };
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
