// The statements that give a business a new token.
import { and, desc, eq, sql } from 'drizzle-orm';
import { lastFour, recordChange } from './changes.ts';
import { decidedId, decideIf, isDecided, newDecision } from './decision.ts';
import { jsonObject, selectOne } from './json.ts';
import { statement } from './permission.ts';
import { businesses, formerTokens } from './schema.ts';
import { builder } from './statement.ts';

const MAX_FORMER_TOKENS = 5;

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
const keepToken = statement(['expires_at', 'decision'], (_, $) =>
  builder
    .insert(formerTokens)
    .select(sql`select ${businesses.token}, ${businesses.id}, ${$.expires_at} from ${businesses} where ${isDecided($)}`)
    // An imported token may have been the former token of another business.
    .onConflictDoUpdate({
      target: formerTokens.token,
      set: { business_id: sql`excluded.business_id`, expires_at: sql`excluded.expires_at` },
    }),
);
const setToken = statement(['token', 'decision'], (_, $) =>
  builder
    .update(businesses)
    .set({ token: sql`${$.token}` })
    .where(isDecided($)),
);
/** Of more than MAX_FORMER_TOKENS, those that work longest stay. */
const dropExcess = statement(['decision'], (_, $) => {
  const ofBusiness = eq(formerTokens.business_id, decidedId($));
  const kept = builder.select({ token: formerTokens.token }).from(formerTokens).where(ofBusiness);
  const longest = kept.orderBy(desc(formerTokens.expires_at)).limit(MAX_FORMER_TOKENS);
  return builder.delete(formerTokens).where(and(ofBusiness, sql`${formerTokens.token} not in ${longest}`));
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
