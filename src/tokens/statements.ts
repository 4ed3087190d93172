// Statements that replace a business's token, and stop its former tokens.
import { and, desc, eq, type SQL, sql } from 'drizzle-orm';
import { $call } from '../db/call.ts';
import { change, decidedId, isDecided, lastFour } from '../db/change.ts';
import { asJson, jsonList, jsonObject, selectOne } from '../db/json.ts';
import { NEW_ID, rowValues } from '../db/new-row.ts';
import { businesses, formerTokens } from '../db/schema.ts';
import { builder } from '../db/text.ts';
import { namedToken, workingTokens } from '../shown-business/former-tokens.ts';
import { MAX_FORMER_TOKENS } from '../shown-business/rules.ts';

const { id } = formerTokens;

const oldToken = selectOne(
  jsonObject({ token: lastFour(sql`${businesses.token}`) }),
  sql`from ${businesses} where ${eq(businesses.id, $call.business_id)}`,
);
/** The tokens that are stopped, for the list of changes. */
const stopped = (condition?: SQL) => {
  const tokens = workingTokens(sql`${$call.business_id}`, condition);
  return jsonObject({ tokens: asJson(selectOne(jsonList(jsonObject(namedToken), id), tokens)) });
};

/**
 * Replaces the business's token. The old token works until `keep_until`. If that is null, the old token and all earlier tokens stop working
 * immediately. The deciding step returns the business's old values, except for `updated_at`.
 */
export const rotateToken = change('rotate_token', ['token', 'keep_until'], {
  decideIf: () => sql`true`,
  before: () => oldToken,
  after($) {
    const former = jsonObject({ former_works_until: sql`${$.keep_until}` });
    return sql`json_patch(${jsonObject({ token: lastFour(sql`${$.token}`) })}, ${former})`; // json_patch drops a null
  },
  apply: {
    kept: ($) =>
      builder.insert(formerTokens).select(
        sql`select ${rowValues(formerTokens, {
          id: NEW_ID,
          token: businesses.token,
          business_id: businesses.id,
          expires_at: $.keep_until,
        })} from ${businesses} where ${isDecided} and ${$.keep_until} is not null`,
      ),
    applied: ($) =>
      builder
        .update(businesses)
        .set({ token: sql`${$.token}` })
        .where(isDecided),
    /**
     * Deletes expired former tokens, and the oldest ones if there are more than MAX_FORMER_TOKENS. If `keep_until` is null, deletes all
     * former tokens.
     */
    dropped($) {
      const ofBusiness = eq(formerTokens.business_id, decidedId);
      const stillWorks = sql`${$.keep_until} is not null and ${formerTokens.expires_at} > ${$.now}`;
      const latest = builder
        .select({ id })
        .from(formerTokens)
        .where(and(ofBusiness, stillWorks))
        .orderBy(desc(id))
        .limit(MAX_FORMER_TOKENS);
      return builder.delete(formerTokens).where(and(ofBusiness, sql`${id} not in ${latest}`));
    },
  },
});

/** Invalidates all former tokens immediately. Returns the business if any of them still worked. */
export const stopFormerTokens = change('stop_former_tokens', [], {
  decideIf: () => sql`exists (select 1 ${workingTokens(businesses.id)})`,
  before: () => stopped(),
  apply: { applied: () => builder.delete(formerTokens).where(eq(formerTokens.business_id, decidedId)) },
});

/** Invalidates one former token immediately. Returns the business if the token still worked. */
export const stopFormerToken = change('stop_former_tokens', ['former_id'], {
  decideIf: ($) => sql`exists (select 1 ${workingTokens(businesses.id, eq(id, $.former_id))})`,
  before: ($) => stopped(eq(id, $.former_id)),
  apply: {
    applied: ($) =>
      builder.delete(formerTokens).where(and(eq(id, $.former_id), eq(formerTokens.business_id, decidedId))),
  },
});
