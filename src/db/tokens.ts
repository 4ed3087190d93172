// The statements that give a business a new token, and show those that it had before.
import { and, desc, eq, type SQL, sql } from 'drizzle-orm';
import { $call } from './call.ts';
import { lastFour, recordChange } from './changes.ts';
import { decidedId, decideIf, isDecided, newDecision } from './decision.ts';
import { jsonList, jsonObject, selectOne } from './json.ts';
import { statement } from './permission.ts';
import { businesses, formerTokens } from './schema.ts';
import { builder } from './statement.ts';

const MAX_FORMER_TOKENS = 5;

/** The former tokens of a business that still work, as responses show them: the one that was replaced first comes first. */
export function formerTokensOf(business_id: SQL) {
  const { token, expires_at, place } = formerTokens;
  return selectOne(
    jsonList(jsonObject({ last_four: sql<string>`substr(${token}, -4)`, expires_at }), place, expires_at),
    sql`from ${formerTokens} where ${eq(formerTokens.business_id, business_id)} and ${expires_at} > ${$call.now}`,
  );
}

const decideAlways = statement(['decision'], (permission, $) => decideIf(permission, $, sql`true`));
const recordRotation = statement(['token', 'decision'], (permission, $) =>
  recordChange(
    permission,
    $,
    'rotate_token',
    selectOne(
      jsonObject({ token: lastFour(sql`${businesses.token}`) }),
      sql`from ${businesses} where ${eq(businesses.id, $.business_id)}`,
    ),
    jsonObject({ token: lastFour(sql`${$.token}`) }),
  ),
);
/** Behind the former tokens of the business that was decided on. */
const nextPlace = sql`(select coalesce(max(${formerTokens.place}), 0) + 1 from ${formerTokens}
  where ${formerTokens.business_id} = ${businesses.id})`;
const keepToken = statement(['expires_at', 'decision'], (_, $) =>
  builder
    .insert(formerTokens)
    .select(
      // The columns of the table, in their order.
      sql`select ${businesses.token}, ${businesses.id}, ${$.expires_at}, ${nextPlace} from ${businesses} where ${isDecided($)}`,
    )
    // An imported token may have been the former token of another business.
    .onConflictDoUpdate({
      target: formerTokens.token,
      set: { business_id: sql`excluded.business_id`, expires_at: sql`excluded.expires_at`, place: sql`excluded.place` },
    }),
);
const setToken = statement(['token', 'decision'], (_, $) =>
  builder
    .update(businesses)
    .set({ token: sql`${$.token}` })
    .where(isDecided($)),
);
/** Drops those that do not work any more, and of more than MAX_FORMER_TOKENS those that were replaced first. */
const dropExcess = statement(['decision'], (_, $) => {
  const ofBusiness = eq(formerTokens.business_id, decidedId($));
  const latest = builder
    .select({ token: formerTokens.token })
    .from(formerTokens)
    .where(and(ofBusiness, sql`${formerTokens.expires_at} > ${$.now}`))
    .orderBy(desc(formerTokens.place), desc(formerTokens.expires_at), formerTokens.token)
    .limit(MAX_FORMER_TOKENS);
  return builder.delete(formerTokens).where(and(ofBusiness, sql`${formerTokens.token} not in ${latest}`));
});
const dropFormer = statement(['decision'], (_, $) =>
  builder.delete(formerTokens).where(eq(formerTokens.business_id, decidedId($))),
);

/**
 * Gives the business a new token. The old one works until `keepUntil`; if that is null, it and all earlier ones stop working at once.
 * The deciding step returns the business as it was, except for `updated_at`.
 */
export function rotateToken(token: string, keepUntil: string | null) {
  const decision = newDecision();
  const decided = { decided: decideAlways({ decision }), recorded: recordRotation({ token, decision }) };
  const applied = setToken({ token, decision });
  if (keepUntil === null) return { ...decided, applied, dropped: dropFormer({ decision }) };
  return {
    ...decided,
    kept: keepToken({ expires_at: keepUntil, decision }),
    applied,
    dropped: dropExcess({ decision }),
  };
}
