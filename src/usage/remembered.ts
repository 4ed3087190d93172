// Reads what the ledger remembers of a use, by its id (docs/api.md, "Looking up a use").
import { and, eq, gte, type Placeholder, type SQL, sql } from 'drizzle-orm';
import { asJson, jsonObject, selectOne } from '../db/json.ts';
import { type Permission, permittedId } from '../db/permission.ts';
import { dailyUsage, ledger, sources } from '../db/schema.ts';
import { statement, withVerdict } from '../db/statement.ts';
import { ofSource } from '../sources/sources.ts';
import { dayWithNumber, numberOfDay } from './ledger.ts';
import { firstLoweredDay, isImported } from './lowering.ts';

const date = dayWithNumber(ledger.day);
const remembered = {
  date,
  quantity: ledger.quantity,
  imported: asJson<boolean | null>(
    sql`case when ${gte(ledger.day, numberOfDay(firstLoweredDay))} then iif(${isImported}, 'true', 'false') else 'null' end`,
  ),
  remembered_until: dayWithNumber(sql`(${ledger.forget_on} - 1)`),
};
/** Null unless the day counts it: only then does the number still stand for the same name. */
const source = sql<string | null>`(select ${sources.name} from ${dailyUsage} cross join ${sources}
  where ${and(eq(dailyUsage.business_id, ledger.business_id), eq(dailyUsage.day, date))}
    and ${ofSource(dailyUsage.sources, ledger.source)} is not null
    and ${and(eq(sources.business_id, ledger.business_id), eq(sources.number, ledger.source))})`;

const withDigest = (permission: Permission, digest: Placeholder) =>
  sql`from ${ledger} where ${and(eq(ledger.business_id, permittedId(permission)), eq(ledger.digest, sql`unhex(${digest})`))}`;
const orNull = <T>(json: SQL<T>) => json as SQL<T | null>;

/** Reads the verdict and what is remembered of an id, as it was sent by keys and by tokens. */
export const rememberedUse = statement(['of_key', 'of_token'], (permission, $) =>
  withVerdict(permission, {
    by_key: orNull(selectOne(jsonObject({ ...remembered, source }), withDigest(permission, $.of_key))),
    by_token: orNull(selectOne(jsonObject(remembered), withDigest(permission, $.of_token))),
  }),
);
