// The statements that give a business a new token.
import { and, desc, eq, type SQL, sql } from 'drizzle-orm';
import { touch, touchedId } from './business.ts';
import { changeByKey, lastFour } from './changes.ts';
import { permittedId, statement } from './permission.ts';
import { businesses, formerTokens } from './schema.ts';
import { builder } from './statement.ts';

const MAX_FORMER_TOKENS = 5;

/** The former tokens of a business beyond the MAX_FORMER_TOKENS that work longest. */
export const excessOf = (business_id: SQL) => {
  const kept = builder
    .select({ token: formerTokens.token })
    .from(formerTokens)
    .where(eq(formerTokens.business_id, business_id))
    .orderBy(desc(formerTokens.expires_at))
    .limit(MAX_FORMER_TOKENS);
  return and(eq(formerTokens.business_id, business_id), sql`${formerTokens.token} not in ${kept}`);
};

const touchAlways = statement([], (permission) => touch(permission, sql`true`))({});
const recordRotation = statement(['token'], (permission, $) =>
  changeByKey(
    permission,
    'rotate_token',
    sql`(select json_object('token', ${lastFour(sql`${businesses.token}`)}) from ${businesses}
      where ${eq(businesses.id, permittedId(permission))})`,
    sql`json_object('token', ${lastFour(sql`${$.token}`)})`,
  ),
);
const keepToken = statement(['expires_at'], (permission, $) =>
  builder
    .insert(formerTokens)
    .select(
      sql`select ${businesses.token}, ${businesses.id}, ${$.expires_at} from ${businesses}
        where ${eq(businesses.id, touchedId(permission))}`,
    )
    // An imported token may have been the former token of another business.
    .onConflictDoUpdate({
      target: formerTokens.token,
      set: { business_id: sql`excluded.business_id`, expires_at: sql`excluded.expires_at` },
    }),
);
const setToken = statement(['token'], (permission, $) =>
  builder
    .update(businesses)
    .set({ token: sql`${$.token}` })
    .where(eq(businesses.id, touchedId(permission))),
);
const dropExcess = statement([], (permission) => builder.delete(formerTokens).where(excessOf(touchedId(permission))))(
  {},
);
const dropFormer = statement([], (permission) =>
  builder.delete(formerTokens).where(eq(formerTokens.business_id, touchedId(permission))),
)({});

/**
 * Gives the business a new token. The old one works until `keepUntil`; if that is null, it and all earlier ones stop working at once.
 * The first statement returns the business as it was, except for `updated_at`.
 */
export const rotateToken = (token: string, keepUntil: string | null) =>
  [
    touchAlways,
    recordRotation({ token }),
    ...(keepUntil === null ? [] : [keepToken({ expires_at: keepUntil })]),
    setToken({ token }),
    keepUntil === null ? dropFormer : dropExcess,
  ] as const;
