// What requests may contain: a schema for each query and body, with its rules in words. Routes validate with these schemas, and the
// OpenAPI description is made of them.
import * as z from 'zod/mini';
import { DURATION_RULE, durationOf } from '../core/duration.ts';
import { idOf } from '../core/request.ts';
import { canonicalSite, MAX_SITES_PER_CALL } from '../core/site.ts';
import { isDay } from '../core/time.ts';
import { MAX_TOTALS_PER_PAGE, MAX_USES_PER_CALL, USE_ID } from '../core/use.ts';

/** The parameters of an operation. `name` is how the error for an unknown parameter names the operation. */
export type Query = { name: string; schema: z.ZodMiniObject };

const names = new Intl.ListFormat('en');
/** The rest of a sentence about a name that is not one of `known`. */
export const unknownRule = (what: string, of: string, known: string[]) =>
  `is not a ${what} of ${of}: it takes ${names.format(known) || 'none'}`;

/** An object with these members and no other: a mistyped name must not be ignored. `rule` is for what is no object. */
function strict<Shape extends z.core.$ZodShape>(shape: Shape, rule: string) {
  const unknown = unknownRule('member', 'this object', Object.keys(shape));
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? unknown : rule) });
}

/** A list of 1 to `most` entries. The length is checked first: a million wrong entries are one error, not a million. */
const listOf = <S extends z.ZodMiniType>(entry: S, most: number, rule: string) =>
  z.pipe(z.array(z.unknown(), rule).check(z.minLength(1, rule), z.maxLength(most, rule)), z.array(entry));

const DAY_RULE = 'must be a day from 1970-01-01 to 9999-12-31, written YYYY-MM-DD';
const day = z.optional(z.string(`${DAY_RULE}, and given once`).check(z.refine(isDay, DAY_RULE)));
export const rangeQuery = { name: 'this report', schema: z.object({ from: day, to: day }) } satisfies Query;
export const NO_BODY_RULE = 'must be empty: this operation takes no body';
export const NO_QUERY = { name: 'this operation', schema: z.object({}) } satisfies Query;

/** The query of a list that comes in pages of at most `most`: `limit`, and `cursor`, the id where the page before ended. */
function pageQuery<const Cursor extends string>(cursor: Cursor, most: number) {
  const isLimit = (text: string) => (idOf(text) ?? most + 1) <= most;
  const limitRule = `must be a whole number from 1 to ${most}`;
  const idRule = 'must be an id, such as 17, and given once';
  const schema = z.object({
    limit: z.optional(z.string(`${limitRule}, and given once`).check(z.refine(isLimit, limitRule))),
    [cursor]: z.optional(z.string(idRule).check(z.refine((text) => idOf(text) !== null, idRule))),
  } as Record<Cursor | 'limit', z.ZodMiniOptional<z.ZodMiniString>>);
  return { name: 'this list', schema } satisfies Query;
}
export const changesQuery = pageQuery('before', 100);
export const businessesQuery = pageQuery('after', 50);
export const totalsQuery = {
  name: 'this list',
  schema: z.extend(rangeQuery.schema, pageQuery('after', MAX_TOTALS_PER_PAGE).schema.shape),
} satisfies Query;

const SITES_RULE = `must be a list of 1 to ${MAX_SITES_PER_CALL} URLs, such as ["https://example.com"]`;
const site = z.string('must be a string, such as https://example.com').check((payload) => {
  const { problem } = canonicalSite(payload.value);
  if (problem !== undefined) payload.issues.push({ code: 'custom', message: problem, input: payload.value });
});
export const sitesBody = strict(
  { sites: listOf(site, MAX_SITES_PER_CALL, SITES_RULE) },
  'must be a JSON object, such as {"sites":["https://example.com"]}',
);

export const FIRST_RULE =
  'must cover the origin of this page, which they would shut out: add it, or register the first sites from a server';
export const LAST_RULE =
  'must not be the last entry: without any, the token works everywhere. DELETE the whole list to do that.';

const KEEP_RULE = `${DURATION_RULE}, such as 24h`;
const ROTATION_RULE = 'must be empty, or a JSON object with keep_old only, such as {"keep_old":"24h"}';
export const rotationBody = strict(
  { keep_old: z.optional(z.string(KEEP_RULE).check(z.refine((text) => durationOf(text) !== null, KEEP_RULE))) },
  ROTATION_RULE,
);

export const ID_RULE = 'must be 1 to 255 characters of printable ASCII without spaces';
export const QUOTED_RULE = 'must be one quoted string, such as "order-1", if it starts with a quote; the text inside';
const BODY_RULE = 'must be empty for one use, or a JSON object such as {"uses":[{"id":"order-1"}]}';
const USES_RULE = `must be a list of 1 to ${MAX_USES_PER_CALL} uses, such as [{"id":"order-1","at":"2026-01-31T12:00:00Z"}]`;
export const AT_RULE =
  'must be an instant such as 2026-01-31T12:00:00Z, within the last 35 days and at most 5 minutes ahead';
const use = strict(
  { id: z.string(ID_RULE).check(z.regex(USE_ID, ID_RULE)), at: z.optional(z.string(AT_RULE)) },
  'must be an object such as {"id":"order-1"}',
);
export const usesBody = z.pipe(
  z.unknown().check(z.refine((body) => typeof body === 'object' && body !== null && 'uses' in body, BODY_RULE)),
  strict({ uses: listOf(use, MAX_USES_PER_CALL, USES_RULE) }, BODY_RULE),
);
