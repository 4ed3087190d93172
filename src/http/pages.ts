// Pagination. The operator's lists cover all databases, but each page comes from a single one.
import { databaseOfId, startOfNextDatabase } from '../core/database.ts';
import { readFirstPage } from '../db/homes.ts';
import type { Verdict } from '../db/permission.ts';
import type { Statement } from '../db/statement.ts';
import type { ContextOf, Guarded } from '../env.ts';

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
