// What is asked of the service, each time of the same business.
import { BUSINESS } from './data.ts';
import type { Call } from './load.ts';

const DAY_MS = 86_400_000;
const PATH = `/api/v1/business/usage/${BUSINESS.id}`;

export const RANGE_DAYS = 31;

/** The day so many days before today, UTC. */
export const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

const page = { Authorization: `Bearer ${BUSINESS.token}`, Origin: BUSINESS.origin };
const server = { Authorization: `Bearer ${BUSINESS.key}` };

export const reportOf = (days: number, headers: Record<string, string> = page): Call => ({
  method: 'GET',
  path: `${PATH}?from=${dayAgo(days - 1)}&to=${dayAgo(0)}`,
  headers,
});

const record = (headers: Record<string, string>): Call => ({ method: 'POST', path: PATH, headers });

export const CALLS = {
  report: reportOf(RANGE_DAYS),
  reportByServer: reportOf(RANGE_DAYS, server),
  record: record(page),
  recordByServer: record(server),
  // autocannon puts another id into each request.
  recordOnce: record({ ...server, 'Idempotency-Key': '[<id>]' }),
  preflight: {
    method: 'OPTIONS',
    path: PATH,
    headers: {
      Origin: BUSINESS.origin,
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization',
    },
  },
  notFound: { method: 'GET', path: '/api/v1/businesses', headers: page },
  malformed: { method: 'GET', path: PATH, headers: { Authorization: 'Bearer bua_pk_short' } },
} satisfies Record<string, Call>;
