// Records a use, registers a site and reads the usage report, with types generated from openapi.json.
import createClient from 'openapi-fetch';
import type { paths } from './usage.d.ts';

const { USAGE_URL = '', API_KEY, BUSINESS } = process.env;
const usage = createClient<paths, 'application/json'>({
  baseUrl: USAGE_URL,
  headers: { Authorization: `Bearer ${API_KEY}` },
  fetch: (request) => fetch(request, { signal: AbortSignal.timeout(15_000) }),
});
const path = { business_id: Number(BUSINESS) };

const use = await usage.POST('/api/v1/business/usage/{business_id}', {
  params: { path, header: { 'Idempotency-Key': 'order-1' } },
});
if (use.error) throw new Error(use.error.message);

const { data, error } = await usage.POST('/api/v1/business/{business_id}/access', {
  params: { path },
  body: { sites: ['https://shop.example'] },
});
if (error) throw new Error(error.message);
console.log(
  data.data.name,
  data.data.access_list.map(({ site }) => site),
);

const report = await usage.GET('/api/v1/business/usage/{business_id}', {
  params: { path, query: { from: '2026-03-01', to: '2026-03-03' } },
});
if (report.error) throw new Error(report.error.message);
for (const { date, count } of report.data.data.used) console.log(date, count);
