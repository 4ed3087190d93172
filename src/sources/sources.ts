// The sources of uses, in SQL (docs/api.md, "Sources"): the numbers of their names, and the counts of a day by number.
import { and, eq, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { MAX_LABELS, MAX_LABELS_PER_DAY, MAX_NAMED_SITES, MAX_SITES_PER_DAY } from '../core/sources.ts';
import { dailyUsage, sites, sources } from '../db/schema.ts';
import { builder } from '../db/text.ts';

/** The number of a name of the business. Null if it has none. */
export const sourceNumberOf = (business_id: SQLWrapper | Placeholder, name: SQLWrapper) =>
  sql`(select ${sources.number} from ${sources} where ${and(eq(sources.business_id, business_id), eq(sources.name, name))})`;

/** The highest number of a business's labels. 0 if it has none. */
export const lastLabel = (business_id: SQLWrapper | Placeholder) =>
  sql`(select coalesce(max(${sources.number}), 0) from ${sources} where ${and(eq(sources.business_id, business_id), sql`${sources.number} > 0`)})`;
/** The number of a business's sites that have been numbered. Sites have the numbers -1, -2 … */
const numberedSites = (business_id: SQLWrapper | Placeholder) =>
  sql`(select -coalesce(min(${sources.number}), 0) from ${sources} where ${and(eq(sources.business_id, business_id), sql`${sources.number} < 0`)})`;

/**
 * Selects the rows of a business's new labels. `labels` is a query for `name` and `place`, which orders them, without labels that have a
 * number. Omits labels beyond MAX_LABELS. `business_id` must not depend on a row, so that SQLite evaluates it once.
 */
export const newLabels = (business_id: SQLWrapper, labels: SQL) =>
  sql`select ${business_id}, name, number from
    (select name, ${lastLabel(business_id)} + row_number() over (order by place) as number from (${labels})) where number <= ${MAX_LABELS}`;

/** Tests whether a listed site has no number. Each element of a list begins with a site. */
const isUnnumbered = (business_id: SQLWrapper | Placeholder) => sql`${sourceNumberOf(business_id, listedSite)} is null`;
const listedSite = sql.raw('value ->> 0');

/** Tests whether there are new numbers even if none of the listed sites has one. */
const hasNewNumbers = (business_id: SQLWrapper, list: SQLWrapper | Placeholder) =>
  sql`${numberedSites(business_id)} + json_array_length(${list}) <= ${MAX_NAMED_SITES}`;

/**
 * Selects the numbers that listed sites can take over, if there may not be enough new ones: those of sites that are not registered and have
 * never counted. Only then does it read the business's days.
 */
const freeNumbers = (business_id: SQLWrapper, list: SQLWrapper | Placeholder) => {
  const isNeeded = sql`not (${hasNewNumbers(business_id, list)})`;
  const counted = sql`(select json_group_object(key, 1) from ${dailyUsage} cross join json_each(${dailyUsage.sources})
    where ${and(eq(dailyUsage.business_id, business_id), sql`key < '0'`)})`;
  // One JSON object, and a limit, because SQLite would list what counted again for each number.
  return sql`select ${sources.number} as number from (select ${counted} as counted where ${isNeeded} limit 1) cross join ${sources}
    where ${and(eq(sources.business_id, business_id), sql`${sources.number} < 0`)} and counted ->> (${pathOf(sources.number)}) is null
      and not exists (select 1 from ${sites} where ${and(eq(sites.business_id, business_id), eq(sites.site, sources.name))})
      and ${sources.name} not in (select ${listedSite} from json_each(${list}))`;
};

/** Tests whether every listed site has a number, or can get one. */
export const canNumber = (business_id: SQLWrapper | Placeholder, list: SQLWrapper | Placeholder) =>
  sql`(${hasNewNumbers(business_id, list)} or (select count(*) from json_each(${list}) where ${isUnnumbered(business_id)})
    <= ${MAX_NAMED_SITES} - ${numberedSites(business_id)} + (select count(*) from (${freeNumbers(business_id, list)})))`;

/**
 * Numbers the listed sites that have no number: with new numbers, and then with those that are free, which lose their names. Does nothing if
 * `business_id` is null.
 */
export const numberSites = (business_id: SQLWrapper, list: SQLWrapper | Placeholder) => {
  const business = sql.raw('business');
  // The free numbers are one JSON list, because a join would compare each site with each of them.
  const free = sql`select json_group_array(number order by number desc) from (${freeNumbers(business, list)})`;
  const used = sql`select business, ${numberedSites(business)} as used, (${free}) as free
    from (select ${business_id} as business limit 1) where business is not null`;
  const placed = sql`select business, free, ${listedSite} as name, used + row_number() over (order by key) as place
    from used cross join json_each(${list}) where ${isUnnumbered(business)}`;
  const number = sql`iif(place <= ${MAX_NAMED_SITES}, -place, free ->> (place - ${MAX_NAMED_SITES + 1}))`;
  return builder
    .insert(sources)
    .select(
      sql`select business, name, number from
        (with used as materialized (${used}) select business, name, ${number} as number from (${placed})) where number is not null`,
    )
    .onConflictDoUpdate({ target: [sources.business_id, sources.number], set: { name: sql`excluded.name` } });
};

/** The counts of one source as JSON, or null if `number` is. D1 binds numbers as reals, hence the cast. */
export const sourceCounts = (number: SQLWrapper, count: SQLWrapper) =>
  sql`'{"' || ${number} || '":' || cast(${count} as integer) || '}'`;

/** The path of a source's count in the counts of a day. */
const pathOf = (number: SQLWrapper) => sql`'$."' || ${number} || '"'`;
/** The count of a source in the counts of a day. Null if it has none. */
export const ofSource = (counts: SQLWrapper, number: SQLWrapper) => sql`${counts} ->> (${pathOf(number)})`;

/**
 * How many more sources of the kind of `isSite` the counts of a day can name, without reading a row of json_each. Only numbers of sites
 * begin with a minus.
 */
const roomIn = (counts: SQLWrapper, isSite: SQL) => {
  const all = sql`length(${counts}) - length(replace(${counts}, ':', ''))`;
  const ofSites = sql`(length(${counts}) - length(replace(${counts}, '"-', ''))) / 2`;
  return sql`iif(${isSite}, ${MAX_SITES_PER_DAY} - ${ofSites}, ${MAX_LABELS_PER_DAY} - (${all} - ${ofSites}))`;
};

const storedCounts = sql`coalesce(${dailyUsage.sources}, '{}')`;

/**
 * What an upsert stores as the counts of a day, if `excluded.sources` is null or the JSON of exactly one source, without reading a row of
 * json_each. It begins with the number in quotes.
 */
export const withOneSource = (() => {
  const { sources } = dailyUsage;
  const path = sql`'$.' || substr(excluded.sources, 2, instr(excluded.sources, ':') - 2)`;
  const room = roomIn(sources, sql`substr(excluded.sources, 3, 1) = '-'`);
  return sql`case when ${sources} is null or excluded.sources is null then coalesce(${sources}, excluded.sources)
    when ${sources} ->> (${path}) is null and ${room} <= 0 then ${sources}
    else json_set(${sources}, ${path}, coalesce(${sources} ->> (${path}), 0) + excluded.count) end`;
})();

/**
 * Selects `day`, `source`, `count` and `is_named`, which says whether the day can count the source: sources that it has come first, and then
 * new ones by number. `bySource` is a query for the first three, with one row for each day and source.
 */
export const namedSources = (business_id: SQLWrapper, bySource: SQL) => {
  const isSite = sql`source < 0`;
  const isKnown = sql`${ofSource(dailyUsage.sources, sql`source`)} is not null`;
  const joined = sql`select by_source.*, ${isKnown} as is_known, ${roomIn(storedCounts, isSite)} as room
    from (${bySource}) as by_source left join ${dailyUsage} on ${eq(dailyUsage.business_id, business_id)} and ${dailyUsage.day} = by_source.day`;
  return sql`select day, source, count, source is not null and (is_known
      or row_number() over (partition by day, is_known, ${isSite} order by abs(source)) <= room) as is_named from (${joined})`;
};

/** Like `withOneSource`, for any number of sources that the day can count (`namedSources`). */
export const withSources = sql`case when excluded.sources is null then ${dailyUsage.sources} else (select json_group_object(key, total) from
  (select key, sum(value) as total from
    (select key, value from json_each(${dailyUsage.sources}) union all select key, value from json_each(excluded.sources))
    group by key order by cast(key as integer))) end`;

/** The source if the day has counted it, because what was not counted under it must not be lowered from it. Otherwise null. */
export const ifCounted = (business_id: SQLWrapper | Placeholder, day: SQLWrapper, source: SQLWrapper) =>
  // Without `limit`, SQLite would look the source up again for each comparison.
  sql`(select number from (select ${source} as number limit 1) cross join ${dailyUsage} where number is not null
    and ${eq(dailyUsage.business_id, business_id)} and ${eq(dailyUsage.day, day)} and ${ofSource(dailyUsage.sources, sql`number`)} is not null)`;
