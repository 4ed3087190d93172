// The former tokens of a business that still work, as responses and the list of changes name them.
import { and, type Column, eq, type SQL, sql } from 'drizzle-orm';
import { $call } from '../db/call.ts';
import { jsonList, jsonObject, selectOne } from '../db/json.ts';
import { formerTokens } from '../db/schema.ts';

const { id, token, expires_at, last_used_on, last_used_from } = formerTokens;

/** Selects a business's former tokens that still work, or those of them that match `condition`. */
export const workingTokens = (business_id: SQL | Column, condition?: SQL) =>
  sql`from ${formerTokens} where ${and(eq(formerTokens.business_id, business_id), condition)} and ${expires_at} > ${$call.now}`;

export const namedToken = { last_four: sql<string>`substr(${token}, -4)`, expires_at };

/** A business's former tokens that still work, for responses, in the order in which they were replaced. */
export const formerTokensOf = (business_id: SQL | Column) =>
  selectOne(jsonList(jsonObject({ id, ...namedToken, last_used_on, last_used_from }), id), workingTokens(business_id));
