// Who changed what, as the operator writes it down and reads it.
import { and, desc, eq, getTableColumns, is, SQL, sql } from 'drizzle-orm';
import type { Action } from '../core/change.ts';
import { timestampOf } from '../core/time.ts';
import { keyNameOf, nextId, shownTo } from '../db/changes.ts';
import { businesses, changes, type Database } from '../db/schema.ts';

/** What a change is about. Keys for all businesses of a user are about the user. */
export type Subject = { subject: 'business' | 'user'; subject_id: number | SQL };

/** What changed, without a secret; null if there was nothing before, or is nothing after. SQL gives JSON. */
export type Changed = { before: object | SQL | null; after: object | null };

/** Writes down a change by the operator if `condition` holds: by default, if the statement directly before changed anything. */
export function changeByOperator(
  db: Database,
  { subject, subject_id }: Subject,
  action: Action,
  { before, after }: Changed,
  now: Date,
  condition: SQL = sql`changes() > 0`,
) {
  const json = (value: Changed['before']) => {
    if (value === null) return sql`null`;
    return is(value, SQL) ? value : sql`${JSON.stringify(value)}`;
  };
  // The columns of the table, in their order.
  return db.insert(changes).select(
    sql`select ${subject}, ${subject_id}, ${nextId(sql`${subject}`, sql`${subject_id}`)}, ${timestampOf(now)}, 'operator', ${action},
      ${json(before)}, ${json(after)} where ${condition}`,
  );
}

/** The changes of a business or a user, newest first. */
export async function listChanges(db: Database, { subject, subject_id }: Subject) {
  const isOf = and(eq(changes.subject, subject), eq(changes.subject_id, subject_id));
  const owner = sql`(select ${businesses.user_id} from ${businesses} where ${eq(businesses.id, changes.subject_id)})`;
  const key_name = keyNameOf(changes.actor, subject === 'user' ? changes.subject_id : owner);
  const shown = { before: shownTo(owner, changes.before, changes), after: shownTo(owner, changes.after, changes) };
  const columns = {
    ...getTableColumns(changes),
    key_name,
    before: sql<string | null>`(${shown.before})`.as('shown_before'),
    after: sql<string | null>`(${shown.after})`.as('shown_after'),
  };
  const rows = await db.select(columns).from(changes).where(isOf).orderBy(desc(changes.id));
  return rows.map(({ id, at, actor, key_name, action, before, after }) => ({
    ...{ id, at, actor, key_name, action },
    before: before && JSON.parse(before),
    after: after && JSON.parse(after),
  }));
}

/** How a change shows a token or a key. */
export const lastFourOf = (credential: string): string => `…${credential.slice(-4)}`;
