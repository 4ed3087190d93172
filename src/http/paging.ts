// Pagination. The operator's lists cover all databases, but each page comes from a single one.
import { databaseOfId, IDS_PER_DATABASE } from '../core/database.ts';
import type { Verdict } from '../db/permission.ts';
import type { Statement } from '../db/statement.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { askOfUser, readFirstPage } from '../homes/homes.ts';

/** The parameters of a list of businesses, which can be those of one user. */
export type BusinessesPage = { limit: number; after: number; user_id: number | undefined };
export const pageAfter = (query: { [name in keyof BusinessesPage]?: string | undefined }, defaultLimit: number) => ({
  limit: Number(query.limit ?? defaultLimit),
  after: Number(query.after ?? 0),
  user_id: query.user_id === undefined ? undefined : Number(query.user_id),
});

/**
 * Reads a page of businesses: those of one user, from that user's database, or all. If the caller is the operator, a page of all comes from
 * the database to which the id `after + 1` belongs.
 */
export async function readPage<Row extends Verdict>(
  c: ContextOf<Guarded>,
  { after, user_id }: BusinessesPage,
  ofAll: Statement<Row>,
  ofUser: (user_id: number) => Statement<Row>,
): Promise<Row> {
  const databases = c.get('databases');
  if (user_id !== undefined) return (await (await askOfUser(databases, user_id))(ofUser(user_id))).row;
  if (c.get('call').credential.kind !== 'operator') return (await c.get('ask')(ofAll)).row;
  const number = databaseOfId(after + 1);
  if (number === 0 || !databases.numbers.includes(number)) return readFirstPage(databases, ofAll);
  return (await databases.askIn(number)(ofAll)).row;
}

/**
 * Returns the `after` of the next page, or null on the last page. A page can contain fewer than it `found`. When a page is not full, the operator's list of all businesses continues
 * in the next database.
 */
export function nextAfter(
  c: ContextOf<Guarded>,
  { after, limit, user_id }: BusinessesPage,
  ids: number[],
  found = ids.length,
): number | null {
  if (found === limit || ids.length < found) return ids.at(-1) ?? null;
  if (user_id !== undefined || c.get('call').credential.kind !== 'operator') return null;
  const next = c.get('databases').numbers.find((number) => number > databaseOfId(after + 1));
  return next === undefined ? null : next * IDS_PER_DATABASE;
}
