// Deletes a business. One batch deletes its row and all rows that can affect a request. The purge deletes its use ids and changes later,
// because there can be millions of them. Without the business's row, no request can reach them.
import { eq, getTableName, sql } from 'drizzle-orm';
import { Conflict } from '../core/field-errors.ts';
import type { Ask } from '../db/batch.ts';
import { $call } from '../db/call.ts';
import { change, decidedId, isDecided } from '../db/change.ts';
import { jsonObject, selectOne } from '../db/json.ts';
import { rowValues } from '../db/new-row.ts';
import { permittedId } from '../db/permission.ts';
import {
  alerts,
  apiKeys,
  billingChanges,
  businesses,
  codes,
  dailyUsage,
  deletions,
  extraRequests,
  extras,
  formerLimits,
  formerTokens,
  importedDays,
  limitRefusals,
  seenOrigins,
  sites,
  sources,
} from '../db/schema.ts';
import { statement, withVerdict } from '../db/statement.ts';
import { builder } from '../db/text.ts';

const readDeleted = statement([], (permission) => {
  const id = permittedId(permission);
  const name = sql<string>`(select ${businesses.name} from ${businesses} where ${eq(businesses.id, id)})`;
  return withVerdict(permission, { name });
})({});

/** The tables that refer to a business. No reference cascades: a migration that rebuilds `businesses` would delete their rows. */
const OWN_TABLES = [
  apiKeys,
  codes,
  sites,
  dailyUsage,
  sources,
  importedDays,
  billingChanges,
  formerLimits,
  extras,
  extraRequests,
  formerTokens,
  seenOrigins,
  limitRefusals,
  alerts,
];
const deleteFrom = (table: (typeof OWN_TABLES)[number]) => () =>
  builder.delete(table).where(eq(table.business_id, decidedId));

const deletion = change('delete_business', ['name'], {
  decideIf: ($) => sql`${eq(businesses.name, $.name)}`,
  before() {
    const { id, user_id, name, main_domain } = businesses;
    const ofBusiness = sql`from ${businesses} where ${eq(id, $call.business_id)}`;
    return selectOne(jsonObject({ user_id, name, main_domain }), ofBusiness);
  },
  apply: {
    begun: () =>
      builder
        .insert(deletions)
        .select(
          sql`select ${rowValues(deletions, { business_id: businesses.id })} from ${businesses} where ${isDecided}`,
        ),
    ...Object.fromEntries(OWN_TABLES.map((table) => [getTableName(table), deleteFrom(table)])),
    applied: () => builder.delete(businesses).where(isDecided),
  },
});

/**
 * Deletes a business and its tokens. Throws a Conflict if the business's name is not `name`. Retains the change that records the deletion,
 * and the hashes of the imported tokens, so these tokens cannot be imported again.
 */
export async function deleteBusiness(ask: Ask, name: string): Promise<void> {
  const { row, decided } = await ask(readDeleted, deletion({ name }));
  if (decided.length === 0) throw new Conflict('name', `must be the name of the business: ${row.name}`);
}
