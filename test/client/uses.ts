// Records one use, then a list: two responses of one operation, which a client tells apart by their fields.
import createClient from 'openapi-fetch';
import type { components, paths } from './usage.d.ts';

const { USAGE_URL = '', API_KEY, BUSINESS } = process.env;
const usage = createClient<paths>({ baseUrl: USAGE_URL, headers: { Authorization: `Bearer ${API_KEY}` } });
const params = { path: { business_id: Number(BUSINESS) } };

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
