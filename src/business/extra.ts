// Adds to the monthly limit of one billing month, exactly once for each Idempotency-Key (docs/api.md, "Extras").
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod/mini';
import { ofToday, storeReached } from '../alerts/statements.ts';
import { shortHashOf } from '../core/credential.ts';
import { Conflict } from '../core/field-errors.ts';
import { MAX_LIMIT } from '../core/limits.ts';
import type { Ask } from '../db/batch.ts';
import { $call } from '../db/call.ts';
import { change, decidedId, isDecided } from '../db/change.ts';
import { type Json, jsonObject, parseJson, selectOne } from '../db/json.ts';
import { rowValues } from '../db/new-row.ts';
import { permittedId } from '../db/permission.ts';
import { limitOn } from '../db/plan.ts';
import { businesses, extraRequests, extras } from '../db/schema.ts';
import { statement, withVerdict } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { billingMonth } from '../limits/billing.ts';
import type { extraBody } from './operations.ts';
import { extraRule, NO_MONTHLY_RULE, USED_EXTRA_RULE } from './rules.ts';

type Values = Placeholders<'digest' | 'request_hash' | 'added' | 'month'>;

const month = billingMonth(businesses, $call.today);
/** The first day of the month in question. */
const startsOn = ({ month: which }: Pick<Values, 'month'>) =>
  sql<string>`iif(${which} = 'next', date(${month.ends_on}, '+1 day'), ${month.starts_on})`;
/** The monthly limit of the month, by today's limits or, for the next month, by those of its first day. */
const monthlyLimit = ($: Pick<Values, 'month'>) =>
  limitOn('monthly_limit', businesses, sql`max(${$call.today}, ${startsOn($)})`);
const stored = ($: Pick<Values, 'month'>) => sql<number>`coalesce((select ${extras.uses} from ${extras}
  where ${and(eq(extras.business_id, businesses.id), sql`${extras.starts_on} = ${startsOn($)}`)}), 0)`;
/** D1 binds numbers as reals. */
const sum = ($: Pick<Values, 'month' | 'added'>) => sql<number>`(${stored($)} + cast(${$.added} as integer))`;

const isRequest = (business_id: SQL, { digest }: Pick<Values, 'digest'>) =>
  sql`${extraRequests.business_id} = ${business_id} and ${extraRequests.digest} = unhex(${digest})`;

type State = { starts_on: string; limit: number | null; extra: number };
type Known = { request: string; starts_on: string; extra: number };
/** Reads the verdict, the state of the month, and what an earlier request with the same key did. */
const readExtra = statement(['digest', 'month'], (permission, $) => {
  const id = permittedId(permission);
  const state = jsonObject({ starts_on: startsOn($), limit: monthlyLimit($), extra: stored($) });
  const known = jsonObject({
    request: sql<string>`lower(hex(${extraRequests.request}))`,
    starts_on: extraRequests.starts_on,
    extra: extraRequests.uses,
  });
  return withVerdict(permission, {
    state: sql<Json<State>>`${selectOne(state, sql`from ${businesses} where ${businesses.id} = ${id}`)}`,
    known: sql<Json<Known> | null>`${selectOne(known, sql`from ${extraRequests} where ${isRequest(id, $)}`)}`,
  });
});

const addition = change('add_extra', ['digest', 'request_hash', 'added', 'month'], {
  decideIf: ($) => sql`${monthlyLimit($)} is not null and ${sum($)} between 0 and ${sql.raw(`${MAX_LIMIT}`)}
    and not exists (select 1 from ${extraRequests} where ${isRequest(sql`${businesses.id}`, $)})`,
  before: ($) => selectOne(jsonObject({ extra: stored($) }), sql`from ${businesses} where ${isDecided}`),
  after: ($) =>
    selectOne(jsonObject({ extra: sum($), starts_on: startsOn($) }), sql`from ${businesses} where ${isDecided}`),
  apply: {
    requested: ($) =>
      builder.insert(extraRequests).select(
        sql`select ${rowValues(extraRequests, {
          business_id: businesses.id,
          digest: sql`unhex(${$.digest})`,
          request: sql`unhex(${$.request_hash})`,
          starts_on: startsOn($),
          uses: sum($),
          day: $call.today,
        })} from ${businesses} where ${isDecided}`,
      ),
    added: ($) =>
      builder
        .insert(extras)
        .select(
          sql`select ${rowValues(extras, { business_id: businesses.id, starts_on: startsOn($), uses: sum($) })}
            from ${businesses} where ${isDecided}`,
        )
        .onConflictDoUpdate({ target: [extras.business_id, extras.starts_on], set: { uses: sql`excluded.uses` } }),
    set: ($) =>
      builder
        .update(businesses)
        .set({ extras_until: sql`max(coalesce(${businesses.extras_until}, ''), ${startsOn($)})` })
        .where(isDecided),
    reached: () => storeReached(decidedId, ofToday),
  },
});

/** Adds to the extra of a month, and returns the month's extra. A retry returns the first result. */
export async function addExtra(ask: Ask, { uses, month }: z.output<typeof extraBody>, key: string) {
  const [digest, request_hash] = [shortHashOf(key), shortHashOf(JSON.stringify([uses, month]))];
  const { row, decided } = await ask(
    readExtra({ digest, month }),
    addition({ digest, request_hash, added: uses, month }),
  );
  const known = row.known && parseJson(row.known);
  if (known !== null) {
    if (known.request !== request_hash) throw new Conflict('Idempotency-Key', USED_EXTRA_RULE);
    return { starts_on: known.starts_on, extra: known.extra };
  }
  const { starts_on, limit, extra } = parseJson(row.state);
  if (limit === null) throw new Conflict('month', NO_MONTHLY_RULE);
  if (decided.length === 0) throw new Conflict('uses', extraRule(extra, MAX_LIMIT));
  return { starts_on, extra: extra + uses };
}
