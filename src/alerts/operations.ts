// Alerts: when a business reached a threshold of a limit.
import * as z from 'zod/mini';
import { FULL_OPERATOR, READERS, reading } from '../core/policy.ts';
import { described, instant, limitParameter, type Query } from '../input.ts';
import { define } from '../operation.ts';
import { CURSOR, CURSOR_RULE, cursorErrors, MAX_PER_PAGE, parseCursor } from './rules.ts';

const alertsQuery = {
  name: 'this list',
  schema: z.object({
    limit: limitParameter(MAX_PER_PAGE),
    since: z.optional(instant),
    cursor: z.optional(
      described(z.string(CURSOR_RULE).check(z.refine((text) => parseCursor(text) !== null, CURSOR_RULE)), {
        pattern: CURSOR.source,
      }),
    ),
  }),
} satisfies Query;

export const operations = define({
  readAlerts: {
    ...reading(READERS),
    route: 'GET /business/:business_id/alerts',
    name: 'read_alerts',
    does: 'read alerts',
    query: alertsQuery,
    check: cursorErrors,
  },
  readAllAlerts: {
    ...reading(FULL_OPERATOR),
    route: 'GET /alerts',
    name: 'read_all_alerts',
    does: 'read the alerts of all businesses',
    query: alertsQuery,
    check: cursorErrors,
  },
});
