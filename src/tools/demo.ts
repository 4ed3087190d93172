// Creates the demo of `npm run dev` over HTTP (demo-businesses.ts), with what the owner, a colleague and the operator have changed.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Service } from '../cli/client.ts';
import { addDays, dayOf } from '../core/time.ts';
import { businessesAt, type Dated } from './demo-businesses.ts';

const USER = 1;
/** The people who make the changes in the console. */
const [OWNER, COLLEAGUE] = ['Anna Keller', 'Ben Ortiz'];
/** Uses of these days are recorded with their sources. Earlier days are imported, because a use can be at most 35 days late. */
const RECORDED_DAYS = 27;

type Business = { id: number; main_domain: string; token: string };

/**
 * Creates the demo businesses that do not exist, and a new key, because the key of the last start cannot be read. `refusing` is the id of the
 * business with refused origins.
 */
export async function prepareDemo(service: Service, now: Date) {
  const { businesses } = await service.ok<{ businesses: Business[] }>(`GET /business?user_id=${USER}&limit=50`);
  const found = new Map(businesses.map((business) => [business.main_domain, business]));
  const missing = businessesAt(now).filter(({ main_domain }) => !found.has(main_domain));
  for (const { main_domain, created } of missing) {
    const address = { site: `https://${main_domain}`, country_id: 1, business_size: 'small' };
    found.set(main_domain, await service.ok('POST /business', { body: { user_id: USER, ...created, ...address } }));
  }
  const of = (main_domain: string) => found.get(main_domain) as Business;
  const api_key = await replaceKey(service, 'npm run dev');
  if (missing.length > 0) {
    const [owner, colleague] = [await startSession(service, OWNER), await startSession(service, COLLEAGUE)];
    const by = { key: api_key, owner, colleague, today: dayOf(now) };
    await Promise.all(missing.map((business) => fill(service, { ...business, ...of(business.main_domain), ...by })));
  }
  return { charts: of('charts.example'), shop: of('shop.example'), refusing: of('cafe.example').id, api_key };
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

/** Revokes the keys with this name, and returns a new one. */
async function replaceKey(service: Service, name: string): Promise<string> {
  const path = `/user/${USER}/keys`;
  const { keys } = await service.ok<{ keys: { id: number; name: string; revoked_at: string | null }[] }>(`GET ${path}`);
  for (const key of keys)
    if (key.name === name && key.revoked_at === null) await service.ok(`DELETE ${path}/${key.id}`);
  return (await service.ok<{ api_key: string }>(`POST ${path}`, { body: { name } })).api_key;
}

async function startSession(service: Service, as: string): Promise<string> {
  const { url } = await service.ok<{ url: string }>(`POST /user/${USER}/console-link`, { body: { as } });
  const body = { code: new URL(url).hash.replace('#code=', '') };
  return (await service.ok<{ session_key: string }>('POST /session', { key: null, body })).session_key;
}

type ToFill = Dated & Business & Record<'today' | 'key' | 'owner' | 'colleague', string>;

/** Adds the sites, uses and changes of a new business. */
async function fill(service: Service, { id, token, today, key, owner, colleague, ...business }: ToFill): Promise<void> {
  const [path, usage] = [`/business/${id}`, `/business/usage/${id}`];
  const sources = Object.entries(business.sources);
  const sites = sources.flatMap(([source]) => (source.includes('://') ? [source] : []));
  for (const [index, site] of sites.entries())
    await service.ok(`POST ${path}/access`, { key: index === 0 ? owner : colleague, body: { sites: [site] } });
  if (business.isReplacing) await service.ok(`POST ${path}/token`, { key: colleague, body: { keep_old: '7d' } });
  const firstRecorded = sources.length === 0 ? today : addDays(today, -RECORDED_DAYS);
  const days = business.counts.filter(({ date }) => date < firstRecorded);
  if (days.length > 0) await service.ok(`PUT ${path}/history`, { body: { days } });

  const recorded = business.counts.filter(({ date }) => date >= firstRecorded);
  for (const [index, [source, share]] of sources.entries()) {
    const isSite = sites.includes(source);
    const uses = recorded.flatMap(({ date, count }) => {
      const quantity = Math.round(count * share);
      const at = date === today ? {} : { at: `${date}T12:00:00Z` };
      return quantity === 0
        ? []
        : [{ id: `demo-${index}-${date}`, quantity, ...at, ...(!isSite && { label: source }) }];
    });
    const headers = isSite ? { Origin: source.replace('*', 'www') } : {};
    if (uses.length > 0) await service.ok(`POST ${usage}`, { key, headers, body: { uses } });
  }
  if (business.isReplacing) await service.ok(`POST ${usage}`, { key: token, headers: { Origin: `${sites[0]}` } });
  for (const Origin of business.refused ?? []) await service.send(`GET ${usage}`, { key: token, headers: { Origin } });
  if (business.isSuspended) await service.ok(`PATCH ${path}`, { body: { status: 'suspended' } });
}
