// Registers a site, records uses with each kind of body, rotates the token, and reads a report and paginated lists.
import createClient from 'openapi-fetch';
import type { components, paths } from './usage.d.ts';

const { API = '', API_KEY, SHOP } = process.env;
const usage = createClient<paths, 'application/json'>({
  baseUrl: new URL(API).origin,
  headers: { Authorization: `Bearer ${API_KEY}` },
});
const params = { path: { business_id: Number(SHOP) } };

const access = await usage.POST('/api/v1/business/{business_id}/access', {
  params,
  body: { sites: ['https://shop.example'] },
});
if (access.error) throw new Error(access.error.message);
const { name, access_list } = access.data.data;
console.log(`${name}: ${access_list.map(({ site }) => site)}`);

type Recorded = components['schemas']['RecordedUse'] | components['schemas']['RecordedUses'];
const words = (result: Recorded) =>
  'recorded' in result
    ? `${result.recorded} new, ${result.duplicates} known`
    : `number ${result.count} on ${result.date}`;

for (const body of [undefined, {}, { uses: [{ id: 'order-2' }, { id: 'order-2' }] }]) {
  const { data, error } = await usage.POST('/api/v1/business/usage/{business_id}', {
    params,
    ...(body && { body }),
  });
  if (error) throw new Error('errors' in error ? JSON.stringify(error.errors) : error.message);
  console.log(words(data.data));
}

const report = await usage.GET('/api/v1/business/usage/{business_id}', {
  params: { ...params, query: { from: '2026-03-01', to: '2026-03-03' } },
});
if (report.error) throw new Error(report.error.message);
console.log(report.data.data.used.map(({ date, count }) => `${date}: ${count}`).join());

const rotated = await usage.POST('/api/v1/business/{business_id}/token', { params, body: { keep_old: '24h' } });
if (rotated.error) throw new Error(rotated.error.message);

const one = await usage.GET('/api/v1/business/{business_id}', { params });
if (one.error) throw new Error(one.error.message);
const { former_tokens, limits } = one.data.data;
const ends = former_tokens.map(({ last_four, expires_at }) => `${last_four} until ${expires_at}`);
console.log(`former: ${ends.join()}; ${limits?.remaining ?? 'any number'} left`);

const stopped = await usage.DELETE('/api/v1/business/{business_id}/token/former', { params });
if (stopped.error) throw new Error(stopped.error.message);
console.log(`former: ${stopped.data.data.former_tokens.length}`);

// A page can be empty even if more pages follow.
type Page = components['schemas']['Businesses'];
for (let after: Page['next'] = 0; after !== null; ) {
  const page: { data?: { data: Page } } = await usage.GET('/api/v1/business', {
    params: { query: after === 0 ? {} : { after } },
  });
  for (const { name, token, used, limits } of page.data?.data.businesses ?? []) {
    const today = used.at(-1)?.count ?? 0;
    const isNew = token === rotated.data.data.token;
    console.log(
      `${name}: ${today} uses today, ${limits?.remaining ?? 'any number'} left, ${isNew ? 'new' : 'old'} token`,
    );
  }
  after = page.data?.data.next ?? null;
}

const changes = await usage.GET('/api/v1/business/{business_id}/changes', {
  params: { ...params, query: { limit: 1 } },
});
if (changes.error) throw new Error(changes.error.message);
for (const { id, action, before } of changes.data.data.changes) console.log(`${id} ${action} ${typeof before?.tokens}`);
