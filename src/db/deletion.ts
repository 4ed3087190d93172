// Deletes a business. One batch deletes its row and everything that affects a decision or a response. Its ids and changes, which can be
// millions and cannot be reached without the row, are purged later.
import { eq, type SQL, sql } from 'drizzle-orm';
import { Conflict } from '../core/conflict.ts';
import { sha256Hex } from '../core/credential.ts';
import type { Ask } from './batch.ts';
import { $call } from './call.ts';
import { change, type Decision, decidedId, isDecided } from './change.ts';
import { type Json, jsonObject, parseJson, selectOne } from './json.ts';
import { newRow } from './new-row.ts';
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

/** The current and former tokens of a business that this service did not issue. Only those could be imported again. */
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

/** The tables with rows of a business, except those whose rows are deleted with it (`on delete cascade`). */
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
          sql`select ${newRow(deletions, { business_id: businesses.id })} from ${businesses} where ${isDecided($)}`,
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
 * Deletes a business with its tokens. Throws a Conflict if its name is not `name`. One change remains, which records the deletion, and the
 * hashes of its imported tokens, so that none can be imported again. The purge deletes the remaining ids and changes.
 */
export async function deleteBusiness(ask: Ask, name: string): Promise<void> {
  // SQLite has no SHA-256. Most businesses have no imported tokens and are deleted in the first iteration.
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
