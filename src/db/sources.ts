// The sources of uses, in SQL (docs/api.md, "Sources"): the numbers of their names, and the counts of a day by number.
import { and, eq, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { type CallShape, candidate } from './call.ts';
import { access, dailyUsage, sources } from './schema.ts';
import { NULL } from './text.ts';

/** The maximum number of names of a business. Uses with a further name have no source. */
export const MAX_NAMES = 200;
/**
 * The maximum number of names in the count of a day. Uses with a further name have no source. With about 1,000 bytes and more, a row would
 * leave its page of the table, and a report would take several times as long.
 */
export const MAX_NAMES_PER_DAY = 100;

/** The number of a name of the business. Null if it has none. */
export const sourceNumberOf = (business_id: SQLWrapper | Placeholder, name: SQLWrapper) =>
  sql`(select ${sources.number} from ${sources} where ${and(eq(sources.business_id, business_id), eq(sources.name, name))})`;

/** The highest number of a business's names. 0 if it has none. */
export const lastNumber = (business_id: SQLWrapper | Placeholder) =>
  sql`(select coalesce(max(${sources.number}), 0) from ${sources} where ${eq(sources.business_id, business_id)})`;

/**
 * Selects the rows of a business's new names. `names` is a query for `name` and `place`, which orders them, without names that have a
 * number. Omits names beyond MAX_NAMES. `business_id` must not depend on a row, so that SQLite evaluates it once.
 */
export const newNames = (business_id: SQLWrapper, names: SQL) =>
  sql`select ${business_id}, name, number from
    (select name, ${lastNumber(business_id)} + row_number() over (order by place) as number from (${names})) where number <= ${MAX_NAMES}`;

/**
 * The number of the entry that lets the call's origin in: the site itself, or else the narrowest wildcard. Null if none does. For the
 * permission's select.
 */
export function sourceOfPage(business_id: SQLWrapper, { candidates }: CallShape): SQL {
  if (candidates === 0) return NULL;
  const numbers = Array.from({ length: candidates }, (_, index) => {
    const site = sql.placeholder(candidate(index));
    return sql`(select ${sources.number} from ${access} cross join ${sources}
      where ${and(eq(access.business_id, business_id), eq(access.site, site), eq(sources.business_id, business_id), eq(sources.name, site))})`;
  });
  // In the order of sitesCovering. SQLite's coalesce requires two values.
  return sql`coalesce(${sql.join([...numbers, NULL], sql`, `)})`;
}

/** The counts of one source as JSON, or null if `number` is. D1 binds numbers as reals, hence the cast. */
export const sourceCounts = (number: SQLWrapper, count: SQLWrapper) =>
  sql`'{"' || ${number} || '":' || cast(${count} as integer) || '}'`;

/** The number of names in counts. */
const namesIn = (counts: SQLWrapper) => sql`length(${counts}) - length(replace(${counts}, ':', ''))`;

/**
 * What an upsert stores as the counts of a day, if `excluded.sources` is null or the JSON of exactly one source, without reading a row of
 * json_each. It begins with the number in quotes.
 */
export const withOneSource = (() => {
  const path = sql`'$.' || substr(excluded.sources, 2, instr(excluded.sources, ':') - 2)`;
  const stored = sql`coalesce(${dailyUsage.sources}, '{}')`;
  return sql`case
    when excluded.sources is null or (${dailyUsage.sources} ->> (${path}) is null and ${namesIn(stored)} >= ${MAX_NAMES_PER_DAY})
      then ${dailyUsage.sources}
    else json_set(${stored}, ${path}, coalesce(${dailyUsage.sources} ->> (${path}), 0) + excluded.count) end`;
})();

/** Like `withOneSource`, for any number of sources. */
export const withSources = sql`case when excluded.sources is null then ${dailyUsage.sources} else (select json_group_object(key, total) from
  (select key, sum(value) as total from
    (select 0 as is_new, key, value from json_each(${dailyUsage.sources}) union all select 1, key, value from json_each(excluded.sources))
    group by key order by min(is_new), cast(key as integer) limit ${MAX_NAMES_PER_DAY})) end`;
