// Lists of businesses that come in pages. The operator's go through all databases, and a page comes from one.
import { nextDatabase } from '../core/database.ts';
import { idOf } from '../core/request.ts';
import type { ContextOf, Guarded } from '../env.ts';

/** The first id that a page can have, whatever was sent as `after`: the guard needs it before the query is read. */
export const firstAfter = (after: string | undefined): number => (idOf(after ?? '') ?? 0) + 1;

/**
 * What to send as `after` for the next page, or null on the last one. A full page ends where the next begins. Behind any other, the next
 * database follows, but for a key, whose businesses are all in one.
 */
export function nextAfter(
  c: ContextOf<Guarded>,
  { after, limit, ids }: { after: number; limit: number; ids: number[] },
): number | null {
  if (ids.length === limit) return ids.at(-1) ?? null;
  if (c.get('call').credential.kind !== 'operator') return null;
  return nextDatabase(after, (name) => c.env[name] !== undefined);
}
