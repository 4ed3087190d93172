// The statements that give a business a new token, and show and stop those that it had before.
import { and, type Column, desc, eq, type SQL, sql } from 'drizzle-orm';
import { $call } from './call.ts';
import { lastFour, recordChange } from './changes.ts';
import { decidedId, decideIf, isDecided, newDecision } from './decision.ts';
import { asJson, jsonList, jsonObject, selectOne } from './json.ts';
import { statement } from './permission.ts';
import { businesses, formerTokens } from './schema.ts';
import { builder, newRow } from './statement.ts';

const MAX_FORMER_TOKENS = 5;

/** A former token of the business that still works. */
const formerToken = (business_id: SQL | Column) =>
  sql`from ${formerTokens} where ${eq(formerTokens.business_id, business_id)} and ${formerTokens.expires_at} > ${$call.now}`;

/** The former tokens of a business that still work, as they are shown: the one that was replaced first comes first. */
export function formerTokensOf(business_id: SQL | Column) {
  const { token, expires_at, place } = formerTokens;
  const shown = jsonObject({ last_four: sql<string>`substr(${token}, -4)`, expires_at });
  return selectOne(jsonList(shown, place, expires_at), formerToken(business_id));
}

const decideAlways = statement(['decision'], (permission, $) => decideIf(permission, $, sql`true`));
const oldToken = selectOne(
  jsonObject({ token: lastFour(sql`${businesses.token}`) }),
  sql`from ${businesses} where ${eq(businesses.id, $call.business_id)}`,
);
const recordRotation = statement(['token', 'decision'], (permission, $) =>
  recordChange(permission, $, 'rotate_token', oldToken, jsonObject({ token: lastFour(sql`${$.token}`) })),
);
const recordKeptRotation = statement(['token', 'expires_at', 'decision'], (permission, $) => {
  const after = { token: lastFour(sql`${$.token}`), former_works_until: sql`${$.expires_at}` };
  return recordChange(permission, $, 'rotate_token', oldToken, jsonObject(after));
});
/** Behind the former tokens of the business that was decided on. */
const nextPlace = sql`(select coalesce(max(${formerTokens.place}), 0) + 1 from ${formerTokens}
  where ${formerTokens.business_id} = ${businesses.id})`;
const keepToken = statement(['expires_at', 'decision'], (_, $) =>
  builder
    .insert(formerTokens)
    .select(
      sql`select ${newRow(formerTokens, {
        token: businesses.token,
        business_id: businesses.id,
        expires_at: $.expires_at,
        place: nextPlace,
      })} from ${businesses} where ${isDecided($)}`,
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
  const decided = decideAlways({ decision });
  const applied = setToken({ token, decision });
  if (keepUntil === null) {
    return { decided, recorded: recordRotation({ token, decision }), applied, dropped: dropFormer({ decision }) };
  }
  return {
    decided,
    recorded: recordKeptRotation({ token, expires_at: keepUntil, decision }),
    kept: keepToken({ expires_at: keepUntil, decision }),
    applied,
    dropped: dropExcess({ decision }),
  };
}

const decideIfFormer = statement(['decision'], (permission, $) =>
  decideIf(permission, $, sql`exists (select 1 ${formerToken(businesses.id)})`),
);
const recordStopped = statement(['decision'], (permission, $) =>
  recordChange(
    permission,
    $,
    'stop_former_tokens',
    jsonObject({ tokens: asJson(formerTokensOf(sql`${$.business_id}`)) }),
    sql`null`,
  ),
);

/** Stops the former tokens now. The business comes back if any of them still worked. */
export function stopFormerTokens() {
  const values = { decision: newDecision() };
  return { decided: decideIfFormer(values), recorded: recordStopped(values), applied: dropFormer(values) };
}
