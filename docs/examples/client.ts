// Records a use and a list of uses, and reads the usage report, with types generated from openapi.json.
import createClient from 'openapi-fetch';
import type { paths } from './usage.d.ts';

const { API = '', API_KEY, SHOP } = process.env;
const usage = createClient<paths, 'application/json'>({
  baseUrl: new URL(API).origin,
  headers: { Authorization: `Bearer ${API_KEY}` },
  fetch: (request) => fetch(request, { signal: AbortSignal.timeout(15_000) }),
});
const path = { business_id: Number(SHOP) };

const use = await usage.POST('/api/v1/business/usage/{business_id}', {
  params: { path, header: { 'Idempotency-Key': 'invoice-1' } },
});
if (use.error) throw new Error(use.error.message);

const list = await usage.POST('/api/v1/business/usage/{business_id}', {
  params: { path },
  body: { uses: [{ id: 'invoice-1' }, { id: 'invoice-2' }] },
});
if (list.error) throw new Error(list.error.message);

// One operation has two results. `in` narrows the type.
for (const { data: result } of [use.data, list.data]) {
  if ('count' in result) console.log(`${result.date}: ${result.count}`);
  else console.log(`${result.recorded} new, ${result.duplicates} known`);
}

const report = await usage.GET('/api/v1/business/usage/{business_id}', { params: { path } });
if (report.error) throw new Error(report.error.message);
const total = report.data.data.used.reduce((sum, { count }) => sum + count, 0);
console.log(`${total} in the last 30 days`);
