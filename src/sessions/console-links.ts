// Creates users' console links, for the operator. The code in a link starts a session (statements.ts). Only the code's hash is stored.
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod/mini';
import { newCode, sha256Hex } from '../core/credential.ts';
import { formatTimestamp, MINUTE_MS } from '../core/time.ts';
import type { BoundDatabases } from '../db/batch.ts';
import { isBeforeDeadline } from '../db/call.ts';
import { beginIds } from '../db/ids.ts';
import { rowIn, rowValues } from '../db/new-row.ts';
import { isPermitted } from '../db/permission.ts';
import { apiKeys, businesses, codes } from '../db/schema.ts';
import { operatorStatement, withVerdict } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { findHome } from '../homes/homes.ts';
import { isOfBusiness, isWorking, notOwned } from '../keys/statements.ts';
import type { consoleLinkBody } from './operations.ts';
import { CODE_MINUTES, DEFAULT_LINK_MINUTES } from './rules.ts';

/**
 * `business_id` restricts the session to that business. `minutes` is its duration. The console links back to `return_url`. `as` names the
 * person in the session's changes. `can_create_keys` lets the session list, create and revoke API keys.
 */
type LinkRequest = { user_id: number } & z.output<typeof consoleLinkBody>;

/** Tests whether the console can show the user anything: a business, or a valid key for all businesses. */
function canOpenConsole({ link, today }: Placeholders<'link' | 'today'>): SQL {
  const user_id = sql`${link} ->> 'user_id'`;
  const isUnrestricted = and(isNull(apiKeys.ends_at), isNull(apiKeys.business_id));
  return sql`(exists (select 1 from ${businesses} where ${eq(businesses.user_id, user_id)})
    or exists (select 1 from ${apiKeys} where ${and(eq(apiKeys.user_id, user_id), isUnrestricted, isWorking(today))}))`;
}

const readUser = operatorStatement(['link'], (permission, $) => {
  return withVerdict(permission, { is_known: sql<number>`${canOpenConsole($)}` });
});

const insertCode = operatorStatement(['link'], (permission, $) =>
  builder
    .insert(codes)
    .select(
      sql`select ${rowValues(codes, rowIn(codes, $.link))} from ${permission}
        where ${and(isPermitted(permission), isBeforeDeadline, canOpenConsole($), isOfBusiness($.link, $))}`,
    )
    .returning({ expires_at: codes.expires_at }),
);

/**
 * Creates the code of a console link for a user. Returns null if the console has nothing to show the user. Throws a Conflict if the
 * business does not belong to the user. Begins the ids, because the session can be the database's first row in api_keys.
 */
export async function createConsoleLink(
  databases: BoundDatabases,
  { user_id, role = 'full', minutes = DEFAULT_LINK_MINUTES, as, can_create_keys, ...link }: LinkRequest,
  now: Date,
): Promise<{ code: string; expires_at: string } | null> {
  const home = await findHome(databases, user_id);
  if (home === null) return null;
  const code = newCode(home);
  const expires_at = formatTimestamp(new Date(now.getTime() + CODE_MINUTES * MINUTE_MS));
  const hash = sha256Hex(code);
  const values = { ...link, user_id, hash, role, minutes, expires_at, actor_name: as };
  const columns = JSON.stringify({ ...values, can_create_keys: can_create_keys ? 1 : null });
  const { row, created } = await databases.askIn(home)(readUser({ link: columns }), {
    ...beginIds(home),
    created: insertCode({ link: columns }),
  });
  if (!row.is_known) return null;
  if (created[0] === undefined) throw notOwned(user_id);
  return { code, expires_at };
}
