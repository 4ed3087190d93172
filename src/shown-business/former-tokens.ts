// The former tokens of a business that still work, as responses and the list of changes name them.
import { and, type Column, eq, type SQL, sql } from 'drizzle-orm';
import { $call } from '../db/call.ts';
import { type Json, jsonList, jsonObject, selectOne } from '../db/json.ts';
import { formerTokens } from '../db/schema.ts';

const { id, token, expires_at, last_used_on, used_from } = formerTokens;

/** The pages, those that used the token last first, as they are stored. */
const pages = sql<
  Json<{ origin: string; last_used_on: string }[]>
>`(select json_group_array(json_object('origin', key, 'last_used_on', value))
  from json_each(coalesce(${used_from}, '{}')))`;

/** Selects a business's former tokens that still work, or those of them that match `condition`. */
export const workingTokens = (business_id: SQL | Column, condition?: SQL) =>
  sql`from ${formerTokens} where ${and(eq(formerTokens.business_id, business_id), condition)} and ${expires_at} > ${$call.now}`;

export const namedToken = { last_four: sql<string>`substr(${token}, -4)`, expires_at };

/** A business's former tokens that still work, for responses, in the order in which they were replaced. */
export const formerTokensOf = (business_id: SQL | Column) =>
  selectOne(
    jsonList(jsonObject({ id, ...namedToken, last_used_on, used_from: pages }), id),
    workingTokens(business_id),
  );
