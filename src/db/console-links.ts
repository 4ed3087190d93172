// How the operator creates console links. A link has a code, which starts a session (sessions.ts) and is stored as its hash.
import { and, isNull, sql } from 'drizzle-orm';
import { Conflict } from '../core/conflict.ts';
import { hashOf, newCode } from '../core/credential.ts';
import { CODE_MINUTES, LINK_MINUTES } from '../core/session.ts';
import { timestampOf } from '../core/time.ts';
import type { BoundDatabases } from './batch.ts';
import { knownHome, raiseIds } from './homes.ts';
import { isOfBusiness } from './keys.ts';
import { isInTime, readVerdict, statement } from './permission.ts';
import { codes, type Optional } from './schema.ts';
import { builder, columnsFrom } from './statement.ts';

/** `business_id` makes its session one for that business only. `minutes` is how long the session lasts. */
export type ConsoleLink = { user_id: number } & Optional<{
  business_id: number;
  role: 'full' | 'read';
  minutes: number;
}>;

const insertCode = statement(['link'], (permission, $) =>
  builder
    .insert(codes)
    .select(
      sql`select ${columnsFrom(codes, $.link)} from ${permission}
        where ${and(isNull(permission.refusal), isInTime, isOfBusiness($.link))}`,
    )
    .returning({ expires_at: codes.expires_at }),
);

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
  const hash = await hashOf(code);
  const link = { hash, user_id, business_id, read_only: Number(role === 'read'), minutes, expires_at };
  const { created } = await databases.askIn(home)(readVerdict, {
    ...raiseIds(home),
    created: insertCode({ link: JSON.stringify(link) }),
  });
  if (created[0] === undefined) throw new Conflict('business_id', `must be a business of user ${user_id}`);
  return { code, expires_at };
}
