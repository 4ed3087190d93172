// Deletes a business. One batch deletes its row and all rows that can affect a request. The purge deletes its use ids and changes later,
// because there can be millions of them. Without the business's row, no request can reach them.
import { eq, type SQL, sql } from 'drizzle-orm';
import { Conflict } from '../core/conflict.ts';
import { sha256Hex } from '../core/credential.ts';
import type { Ask } from './batch.ts';
import { $call } from './call.ts';
import { change, type Decision, decidedId, isDecided } from './change.ts';
import { type Json, jsonObject, parseJson, selectOne } from './json.ts';
import { rowValues } from './new-row.ts';
import { permittedId } from './permission.ts';
import {
  access,
  apiKeys,
  businesses,
  codes,
  dailyUsage,
  deletions,
  formerTokens,
  refusedOrigins,
  retiredTokens,
} from './schema.ts';
import { statement, withVerdict } from './statement.ts';
import { builder } from './text.ts';

/** Selects a business's current and former tokens that this service did not issue. Only such tokens can be imported again. */
const foreignTokens = (
  business_id: SQL,
) => sql`(select ${businesses.token} as token from ${businesses} where ${eq(businesses.id, business_id)}
  union select ${formerTokens.token} from ${formerTokens} where ${eq(formerTokens.business_id, business_id)})
  where token not glob 'bua_*'`;

const readDeleted = statement([], (permission) => {
  const id = permittedId(permission);
  const name = sql<string>`(select ${businesses.name} from ${businesses} where ${eq(businesses.id, id)})`;
  const tokens = sql<Json<string[]>>`(select json_group_array(token) from ${foreignTokens(id)})`;
  return withVerdict(permission, { name: name.as('name'), tokens: tokens.as('tokens') });
})({});

/** The tables that contain a business's rows, except those with `on delete cascade`. */
const OWN_ROWS = {
  keys: apiKeys,
  codes,
  entries: access,
  counts: dailyUsage,
  former: formerTokens,
  refused: refusedOrigins,
};
type OwnTable = (typeof OWN_ROWS)[keyof typeof OWN_ROWS];
const deleteFrom = (table: OwnTable) => ($: Decision) =>
  builder.delete(table).where(eq(table.business_id, decidedId($)));

const deletion = change('delete_business', ['name', 'retired'], {
  decideIf($) {
    const isRetired = sql`token in (select key from json_each(${$.retired}))`;
    const open = sql`exists (select 1 from ${foreignTokens(sql`${$.business_id}`)} and not ${isRetired})`;
    return sql`${eq(businesses.name, $.name)} and not ${open}`;
  },
  before() {
    const { id, user_id, name, main_domain } = businesses;
    const ofBusiness = sql`from ${businesses} where ${eq(id, $call.business_id)}`;
    return selectOne(jsonObject({ user_id, name, main_domain }), ofBusiness);
  },
  apply: {
    begun: ($) =>
      builder
        .insert(deletions)
        .select(
          sql`select ${rowValues(deletions, { business_id: businesses.id })} from ${businesses} where ${isDecided($)}`,
        ),
    retired: ($) =>
      builder
        .insert(retiredTokens)
        .select(sql`select value from ${businesses} cross join json_each(${$.retired}) where ${isDecided($)}`)
        .onConflictDoNothing({ target: retiredTokens.hash }),
    ...Object.fromEntries(Object.entries(OWN_ROWS).map(([rows, table]) => [rows, deleteFrom(table)])),
    applied: ($) => builder.delete(businesses).where(isDecided($)),
  },
});

/**
 * Deletes a business and its tokens. Throws a Conflict if the business's name is not `name`. Retains the change that records the deletion,
 * and the hashes of the imported tokens, so these tokens cannot be imported again.
 */
export async function deleteBusiness(ask: Ask, name: string): Promise<void> {
  // SQLite cannot compute a SHA-256, so imported tokens are hashed here. Most businesses have none and are deleted in the first iteration.
  let retired: Record<string, string> = {};
  while (true) {
    const { row, decided } = await ask(readDeleted, deletion({ name, retired: JSON.stringify(retired) }));
    if (decided.length > 0) return;
    if (row.name !== name) throw new Conflict('name', `must be the name of the business: ${row.name}`);
    const tokens = parseJson(row.tokens);
    retired = Object.fromEntries(
      await Promise.all(tokens.map(async (token) => [token, await sha256Hex(token)] as const)),
    );
  }
}
