// Pagination. The operator's lists cover all databases, but each page comes from a single one.
import type { FieldErrors } from '../core/conflict.ts';
import { formatCursor, parseCursor } from '../core/cursor.ts';
import { databaseOfId, startOfNextDatabase } from '../core/database.ts';
import { formatTimestamp, parseInstant } from '../core/time.ts';
import { readFirstPage } from '../db/homes.ts';
import { type Json, parseJson } from '../db/json.ts';
import type { Verdict } from '../db/permission.ts';
import type { Statement } from '../db/statement.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { CURSOR_RULE } from '../wire/requests.ts';
import type { Alerts, Changes } from '../wire/responses.ts';

/** Reads a page of businesses. If the caller is the operator, the page comes from the database to which the id `after + 1` belongs. */
export async function readPage<Row extends Verdict>(
  c: ContextOf<Guarded>,
  after: number,
  page: Statement<Row>,
): Promise<Row> {
  if (c.get('call').credential.kind !== 'operator') return (await c.get('ask')(page)).row;
  const databases = c.get('databases');
  const number = databaseOfId(after + 1);
  if (number === 0 || !databases.numbers.includes(number)) return readFirstPage(databases, page);
  return (await databases.askIn(number)(page)).row;
}

/**
 * Returns the `after` of the next page, or null on the last page. When a page is not full, the operator's list continues in the next
 * database, unless the list covers only one database (`isInOne`).
 */
export function nextAfter(
  c: ContextOf<Guarded>,
  { after, limit, ids, isInOne = false }: { after: number; limit: number; ids: number[]; isInOne?: boolean },
): number | null {
  if (ids.length === limit) return ids.at(-1) ?? null;
  if (isInOne || c.get('call').credential.kind !== 'operator') return null;
  return startOfNextDatabase(after, (name) => c.env[name] !== undefined);
}

export const DEFAULT_PER_PAGE = 20;

/** Returns which rows to read for a newest-first page. One extra row shows whether there are more. */
export const pageBefore = (query: { limit?: string | undefined; before?: string | number | undefined }) => ({
  limit: Number(query.limit ?? DEFAULT_PER_PAGE) + 1,
  before: Number(query.before ?? Number.MAX_SAFE_INTEGER),
});

/** Drops the extra entry. The next page starts after the last entry, or at `next`, where the search stopped. */
export function shownChanges(row: { list: Json<Changes & { found: number }> }, { limit }: { limit: number }): Changes {
  const { found, changes: entries, next } = parseJson(row.list);
  const changes = entries.slice(0, limit - 1);
  return { changes, next: found > changes.length ? (changes.at(-1)?.id ?? null) : next };
}

type AlertsQuery = { limit?: string | undefined; since?: string | undefined; cursor?: string | undefined };

/** Returns the error of a cursor that names none of the databases `numbers`. */
export const cursorErrors = ({ cursor }: AlertsQuery, numbers: readonly number[]): FieldErrors => {
  const position = cursor === undefined ? null : parseCursor(cursor);
  return position === null || numbers.includes(position.number) ? {} : { cursor: [`cursor ${CURSOR_RULE}`] };
};

/**
 * Returns the database that contains the page, by default `first`, and which alerts to read. One extra row shows whether there are more.
 */
export function pageOfAlerts({ limit, since, cursor }: AlertsQuery, first: number) {
  const { number, after } = (cursor === undefined ? null : parseCursor(cursor)) ?? { number: first, after: null };
  const page = {
    limit: Number(limit ?? DEFAULT_PER_PAGE) + 1,
    since: since === undefined ? '' : formatTimestamp(new Date(parseInstant(since) ?? 0)),
    before_at: after?.at ?? AFTER_EVERY_TIME,
    before_id: after?.id ?? '',
  };
  return { number, page };
}
const AFTER_EVERY_TIME = '~';

/** Returns a page from database `number`. After that database's last alert, the list continues in the next database of `numbers`. */
export function shownAlerts(
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
