// The steps of a change, all in one batch: decided, recorded (changes.ts), kept, applied, dropped. They must run in this order, because
// each reads what a later one overwrites.
import { and, eq, type SQL, sql } from 'drizzle-orm';
import { $call } from './call.ts';
import { isInTime, type Permission, permittedId } from './permission.ts';
import { businessColumns, businesses } from './schema.ts';
import { builder, type Placeholders } from './statement.ts';

/** The placeholder of the mark. */
export type Decision = Placeholders<'decision'>;

/** A mark for one change. Nobody can guess it, so only the deciding write of this change leaves it. */
export const newDecision = (): string => crypto.randomUUID();

/**
 * The write that decides a change: if the call is permitted and `condition` holds, it leaves the mark of this change in the business.
 * Whether the other steps do anything depends on that mark alone (`isDecided`), not on the step before them.
 */
export const decideIf = (permission: Permission, { decision }: Decision, condition: SQL) =>
  builder
    .update(businesses)
    .set({ updated_at: sql`${$call.now}`, decision: sql`${decision}` })
    .where(and(eq(businesses.id, sql`(select ${permittedId(permission)} from ${permission})`), isInTime, condition))
    .returning(businessColumns);

/** Whether a row of businesses is the one that this change is about, and the change was decided. */
export const isDecided = ({ decision }: Decision) =>
  and(eq(businesses.id, $call.business_id), eq(businesses.decision, decision));

/** The id of the business if the change was decided. Otherwise null, and a search for it reads nothing. */
export const decidedId = ($: Decision) => sql`(select ${businesses.id} from ${businesses} where ${isDecided($)})`;
