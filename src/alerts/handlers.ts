// Lists alerts.

import { DEFAULT_PER_PAGE } from '../core/request.ts';
import { formatTimestamp, parseInstant } from '../core/time.ts';
import { type Json, parseJson } from '../db/json.ts';
import { readFirstPage } from '../homes/homes.ts';
import { success } from '../http/response.ts';
import { serve } from '../serve.ts';
import type { Alerts } from './description.ts';
import { operations } from './operations.ts';
import { formatCursor, parseCursor } from './rules.ts';
import { alertsBefore, allAlertsBefore } from './statements.ts';

type AlertsQuery = { limit?: string | undefined; since?: string | undefined; cursor?: string | undefined };

/**
 * Returns the database that contains the page, by default `first`, and which alerts to read. One extra row shows whether there are more.
 */
function pageOfAlerts({ limit, since, cursor }: AlertsQuery, first: number) {
  const { number, after } = (cursor === undefined ? null : parseCursor(cursor)) ?? { number: first, after: null };
  const page = {
    limit: Number(limit ?? DEFAULT_PER_PAGE) + 1,
    // An offset can lead to the year 10000, which would sort before all others.
    since: since === undefined ? '' : formatTimestamp(new Date(Math.min(parseInstant(since) ?? 0, LAST_INSTANT))),
    before_at: after?.at ?? AFTER_EVERY_TIME,
    before_id: after?.id ?? '',
  };
  return { number, page };
}
const AFTER_EVERY_TIME = '~';
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

/** Returns a page from database `number`. After that database's last alert, the list continues in the next database of `numbers`. */
function shownAlerts(
  row: { alerts: Json<Alerts['alerts']> },
  { limit }: { limit: number },
  number: number,
  numbers: readonly number[],
): Alerts {
  const found = parseJson(row.alerts);
  const alerts = found.slice(0, limit - 1);
  const last = alerts.at(-1);
  if (found.length > alerts.length && last !== undefined)
    return { alerts, next: formatCursor({ number, after: last }) };
  const following = numbers.find((other) => other > number);
  return { alerts, next: following === undefined ? null : formatCursor({ number: following, after: null }) };
}

export const routes = serve(operations, {
  async readAlerts(c) {
    const database = c.get('database');
    const { number, page } = pageOfAlerts(c.req.valid('query'), database);
    const { row } = await c.get('ask')(alertsBefore(page));
    return success<Alerts>(c, shownAlerts(row, page, number, [database]));
  },

  async readAllAlerts(c) {
    const databases = c.get('databases');
    const { numbers, askIn } = databases;
    const { number, page } = pageOfAlerts(c.req.valid('query'), 0);
    const read = allAlertsBefore(page);
    const row = number === 0 ? await readFirstPage(databases, read) : (await askIn(number)(read)).row;
    return success<Alerts>(c, shownAlerts(row, page, number, numbers));
  },
});
