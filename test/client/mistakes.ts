// Mistakes that the types generated from openapi.json reject. This file compiles only if each line below a comment is an error.
import createClient from 'openapi-fetch';
import type { paths } from './usage.d.ts';

const usage = createClient<paths, 'application/json'>({ baseUrl: '' });
const path = { business_id: 1 };
const { data } = await usage.GET('/api/v1/business/usage/{business_id}', { params: { path } });
// @ts-expect-error a field that no response has
data?.data.used[0]?.counted;
// @ts-expect-error a path that does not exist
await usage.GET('/api/v1/business/{business_id}/acces', { params: { path } });
// @ts-expect-error a method that the path does not support
await usage.DELETE('/api/v1/business/usage/{business_id}', { params: { path } });
// @ts-expect-error a body with the wrong shape
await usage.POST('/api/v1/business/{business_id}/access', { params: { path }, body: { sites: 'https://a.example' } });
// @ts-expect-error a use without an id
await usage.POST('/api/v1/business/usage/{business_id}', { params: { path }, body: { uses: [{ at: '…' }] } });
const recorded = await usage.POST('/api/v1/business/usage/{business_id}', { params: { path } });
// @ts-expect-error a field of one of the two responses, without narrowing
recorded.data?.data.count;
if (recorded.data && 'recorded' in recorded.data.data) {
  const { recorded: fresh, duplicates } = recorded.data.data;
  console.log(fresh.toFixed(), duplicates.toFixed());
  // @ts-expect-error a field of the response to one use, in the response to a list
  recorded.data.data.date;
}
if (recorded.data && 'count' in recorded.data.data) {
  const { date, count, remaining } = recorded.data.data;
  console.log(date.slice(5), count.toFixed(), remaining?.toFixed());
  // @ts-expect-error a field of the response to a list, in the response to one use
  recorded.data.data.duplicates;
}
// @ts-expect-error a number of hours without its unit
await usage.POST('/api/v1/business/{business_id}/token', { params: { path }, body: { keep_old: 24 } });
const { data: one } = await usage.GET('/api/v1/business/{business_id}', { params: { path } });
// @ts-expect-error a limit can be null
one?.data.limits.daily.toFixed();
// @ts-expect-error a complete former token
one?.data.former_tokens[0]?.token;
const { data: page } = await usage.GET('/api/v1/business');
// @ts-expect-error a limit can be null
page?.data.businesses[0]?.limits.daily.toFixed();
// @ts-expect-error an unknown status
await usage.PATCH('/api/v1/business/{business_id}', { params: { path }, body: { status: 'paused' } });
