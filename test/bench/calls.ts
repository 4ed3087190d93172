// The requests to measure, most of them for the same business.
import { BUSINESS } from './data.ts';
import type { Call } from './load.ts';

const DAY_MS = 86_400_000;
const pathOf = (id: number) => `/api/v1/business/usage/${id}`;
const path = pathOf(BUSINESS.id);

export const RANGE_DAYS = 31;

/** The day `days` days before today, UTC. */
export const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

const page: Record<string, string> = { Authorization: `Bearer ${BUSINESS.token}`, Origin: BUSINESS.origin };
const server = { Authorization: `Bearer ${BUSINESS.key}` };

export const reportOf = (days: number, headers = page, id = BUSINESS.id): Call => ({
  method: 'GET',
  path: `${pathOf(id)}?from=${dayAgo(days - 1)}&to=${dayAgo(0)}`,
  headers,
});
export const recordOf = (headers: Record<string, string>, id = BUSINESS.id): Call => ({
  method: 'POST',
  path: pathOf(id),
  headers,
});
const asking = { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'authorization' };

export const CALLS = {
  report: reportOf(RANGE_DAYS),
  reportByServer: reportOf(RANGE_DAYS, server),
  record: recordOf(page),
  recordByServer: recordOf(server),
  // autocannon replaces [<id>] with a new id in each request.
  recordOnce: recordOf({ ...server, 'Idempotency-Key': '[<id>]' }),
  preflight: { method: 'OPTIONS', path, headers: { Origin: BUSINESS.origin, ...asking }, status: 204 },
  notFound: { method: 'GET', path: '/api/v1/businesses', headers: page, status: 404 },
  malformed: { method: 'GET', path, headers: { Authorization: 'Bearer bua_pk_short' }, status: 401 },
} satisfies Record<string, Call>;
