// How the operator creates console links. A link has a code, which starts a session (sessions.ts) and is stored as its hash.
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { Conflict } from '../core/conflict.ts';
import { hashOf, newCode } from '../core/credential.ts';
import { CODE_MINUTES, LINK_MINUTES } from '../core/session.ts';
import { timestampOf } from '../core/time.ts';
import type { BoundDatabases } from './batch.ts';
import { knownHome, raiseIds } from './homes.ts';
import { isInTime, readVerdict, statement } from './permission.ts';
import { businesses, codes, type Optional } from './schema.ts';
import { builder } from './statement.ts';

/** `business_id` makes its session one for that business only. `minutes` is how long the session lasts. */
export type ConsoleLink = { user_id: number } & Optional<{
  business_id: number;
  role: 'full' | 'read';
  minutes: number;
}>;

/** Where the link is for one business, that must be the user's. */
const insertCode = statement(['link', 'hash', 'expires_at'], (permission, $) => {
  const field = (name: string) => sql`${$.link} ->> ${sql.raw(`'${name}'`)}`;
  const values: Record<keyof typeof codes.$inferSelect, SQL> = {
    hash: sql`${$.hash}`,
    user_id: field('user_id'),
    business_id: field('business_id'),
    read_only: sql`${field('role')} = 'read'`,
    minutes: field('minutes'),
    expires_at: sql`${$.expires_at}`,
  };
  const isOwn = and(eq(businesses.id, field('business_id')), eq(businesses.user_id, field('user_id')));
  const mayHave = sql`(${field('business_id')} is null or exists (select 1 from ${businesses} where ${isOwn}))`;
  return builder
    .insert(codes)
    .select(
      // The columns of the table, in their order.
      sql`select ${sql.join(Object.values(values), sql`, `)} from ${permission}
        where ${and(isNull(permission.refusal), isInTime, mayHave)}`,
    )
    .returning({ expires_at: codes.expires_at });
});

/**
 * Creates the code of a link for a user. Null if the user has no home, and so nothing to open. Throws a Conflict if the business is not
 * the user's. The session can be the first key of the database, so this raises its ids.
 */
export async function createConsoleLink(
  databases: BoundDatabases,
  { user_id, business_id, role = 'full', minutes = LINK_MINUTES }: ConsoleLink,
  now: Date,
): Promise<{ code: string; expires_at: string } | null> {
  const home = await knownHome(databases, user_id);
  if (home === null) return null;
  const code = newCode(home);
  const expires_at = timestampOf(new Date(now.getTime() + CODE_MINUTES * 60_000));
  const link = JSON.stringify({ user_id, business_id: business_id ?? null, role, minutes });
  const { created } = await databases.askIn(home)(readVerdict, {
    ...raiseIds(home),
    created: insertCode({ link, hash: await hashOf(code), expires_at }),
  });
  if (created[0] === undefined) throw new Conflict('business_id', `must be a business of user ${user_id}`);
  return { code, expires_at };
}
