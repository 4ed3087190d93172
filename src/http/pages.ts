// Pagination. The operator's lists cover all databases, but each page comes from a single one.
import { formatCursor } from '../core/cursor.ts';
import { databaseOfId, startOfNextDatabase } from '../core/database.ts';
import { readFirstPage } from '../db/homes.ts';
import { type Json, parseJson } from '../db/json.ts';
import type { Verdict } from '../db/permission.ts';
import type { Statement } from '../db/statement.ts';
import type { ContextOf, Guarded } from '../env.ts';
import type { Alerts, AllAlerts, Changes } from '../wire/responses.ts';

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
function cutToPage<Entry extends { id: number }>(
  entries: Entry[],
  found: number,
  { limit }: { limit: number },
  next: number | null = null,
) {
  const page = entries.slice(0, limit - 1);
  return { page, next: found > page.length ? (page.at(-1)?.id ?? null) : next };
}

export function shownChanges(row: { list: Json<Changes & { found: number }> }, read: { limit: number }): Changes {
  const { found, changes, next } = parseJson(row.list);
  const shownPage = cutToPage(changes, found, read, next);
  return { changes: shownPage.page, next: shownPage.next };
}

export function shownAlerts(row: { alerts: Json<Alerts['alerts']> }, read: { limit: number }): Alerts {
  const alerts = parseJson(row.alerts);
  const { page, next } = cutToPage(alerts, alerts.length, read);
  return { alerts: page, next };
}

/** Returns a page from database `number`. After that database's last alert, the list continues in the next database of `numbers`. */
export function shownAllAlerts(
  row: { alerts: Json<AllAlerts['alerts']> },
  read: { limit: number },
  number: number,
  numbers: readonly number[],
): AllAlerts {
  const alerts = parseJson(row.alerts);
  const { page, next } = cutToPage(alerts, alerts.length, read);
  if (next !== null) return { alerts: page, next: formatCursor({ number, before: next }) };
  const following = numbers.find((other) => other > number);
  return { alerts: page, next: following === undefined ? null : formatCursor({ number: following, before: null }) };
}
