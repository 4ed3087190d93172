// The former tokens of a business that still work, as responses and the list of changes name them.
import { type Column, eq, type SQL, sql } from 'drizzle-orm';
import { $call } from '../db/call.ts';
import { jsonList, jsonObject, selectOne } from '../db/json.ts';
import { formerTokens } from '../db/schema.ts';

/** Selects a business's former tokens that still work. */
export const workingTokens = (business_id: SQL | Column) =>
  sql`from ${formerTokens} where ${eq(formerTokens.business_id, business_id)} and ${formerTokens.expires_at} > ${$call.now}`;

const { token, expires_at, place, last_used_on } = formerTokens;
export const namedToken = { last_four: sql<string>`substr(${token}, -4)`, expires_at };

/** A business's former tokens that still work, for responses, in the order in which they were replaced. */
export const formerTokensOf = (business_id: SQL | Column) =>
  selectOne(jsonList(jsonObject({ ...namedToken, last_used_on }), place), workingTokens(business_id));
