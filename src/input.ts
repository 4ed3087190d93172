// Building blocks of the schemas of queries and bodies, and the rules that several operations share.
import * as z from 'zod/mini';
import { isLine, lineRule, MAX_LINE_LENGTH } from './core/fields.ts';
import { parseId } from './core/request.ts';
import { LABEL, MAX_LABEL_LENGTH } from './core/sources.ts';
import { INSTANT, isDay, MAX_INSTANT_LENGTH, parseInstant } from './core/time.ts';

/**
 * The parameters of an operation. The error for an unknown parameter refers to the operation by `name`. `operatorOnly` parameters count as
 * unknown unless the operator sends them.
 */
export type Query = { name: string; schema: z.ZodMiniObject; operatorOnly?: string[] };
const names = new Intl.ListFormat('en');
export const choices = new Intl.ListFormat('en', { type: 'disjunction' });

/** Completes a sentence about a name that is not in `known`. */
export const unknownRule = (what: string, of: string, known: string[]) =>
  `is not a ${what} of ${of}, which accepts ${names.format(known) || 'none'}`;

/** Returns an object schema that rejects unknown members, because typos must not be ignored. `rule` is the error for other types. */
export function strict<Shape extends z.core.$ZodShape>(shape: Shape, rule: string) {
  const unknown = unknownRule('member', 'this object', Object.keys(shape));
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? unknown : rule) });
}

/** What the OpenAPI description says about rules that zod has no check for. */
export const JSON_SCHEMAS = new Map<unknown, object>();
export function described<S extends z.ZodMiniType>(schema: S, words: object): S {
  JSON_SCHEMAS.set(schema, words);
  return schema;
}

/** If a number is invalid, `abort` skips the rules that combine it with other numbers. */
export const wholeNumber = (minimum: number, maximum: number, error = rangeRule(minimum, maximum)) =>
  z
    .int({ error, abort: true })
    .check(z.minimum(minimum, { error, abort: true }), z.maximum(maximum, { error, abort: true }));
export const rangeRule = (minimum: number, maximum: number) => `must be a whole number from ${minimum} to ${maximum}`;

/** Returns the schema of a list of 1 to `most` entries. Checks the length first, so a million invalid entries cause only one error. */
export const boundedList = <S extends z.ZodMiniType>(entry: S, most: number, rule: string) =>
  z.pipe(z.array(z.unknown(), rule).check(z.minLength(1, rule), z.maxLength(most, rule)), z.array(entry));

/** Like `isDay`, except that it does not know how many days a month has. */
const DAY = { format: 'date', pattern: '^(?:19[7-9]|[2-9]\\d\\d)\\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])$' };
export const dayOr = (rule: string, wrongType = rule) =>
  described(z.string(wrongType).check(z.refine(isDay, rule)), DAY);

export const DAY_RULE = 'must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD';
export const day = z.optional(dayOr(DAY_RULE, `${DAY_RULE}, and must appear only once`));
export const NO_BODY_RULE = 'must be empty: this operation takes no body';
export const NO_QUERY = { name: 'this operation', schema: z.object({}) } satisfies Query;
export const idParameter = (rule: string) =>
  z.optional(
    described(z.string(rule).check(z.refine((text) => parseId(text) !== null, rule)), {
      type: 'integer',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
  );

/** The user whose entries a list contains, for the operator. */
export const userParameter = idParameter('must be the id of a user, such as 7, and must appear only once');

/** The number of entries per page. */
export function limitParameter(most: number) {
  const isLimit = (text: string) => (parseId(text) ?? most + 1) <= most;
  const rule = rangeRule(1, most);
  const limit = z.string(`${rule}, and must appear only once`).check(z.refine(isLimit, rule));
  return z.optional(described(limit, { type: 'integer', minimum: 1, maximum: most }));
}

/**
 * Returns the query of a list with at most `most` entries per page. It has a `limit` and the parameter that `cursor` names, which is the id
 * at which the previous page ended.
 */
export function pageQuery<const Cursor extends string>(cursor: Cursor, most: number) {
  const schema = z.object({
    limit: limitParameter(most),
    [cursor]: idParameter('must be an id, such as 17, and must appear only once'),
  } as Record<Cursor | 'limit', z.ZodMiniOptional<z.ZodMiniString>>);
  return { name: 'this list', schema } satisfies Query;
}

const AT_RULE = `must be an RFC 3339 timestamp of at most ${MAX_INSTANT_LENGTH} characters, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00`;
export const instant = described(z.string(AT_RULE).check(z.refine((text) => parseInstant(text) !== null, AT_RULE)), {
  format: 'date-time',
  pattern: INSTANT.source,
  maxLength: MAX_INSTANT_LENGTH,
});

export const HTTP = '[Hh][Tt][Tt][Pp][Ss]?';

/** Characters that neither a line nor a URL may contain (core/fields.ts), for patterns in the OpenAPI description. */
export const CONTROL = '\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069';

/** Checks the length first, because normalizing a long text can take long. */
export function lineOf(maxLength: number) {
  const rule = lineRule(maxLength);
  return described(
    z.string(rule).check(
      z.maxLength(maxLength, { error: rule, abort: true }),
      z.trim(),
      z.normalize('NFC'),
      z.refine((text) => isLine(text, maxLength), rule),
    ),
    { minLength: 1, pattern: `^\\s*[^\\s${CONTROL}](?:[^${CONTROL}]*[^\\s${CONTROL}])?\\s*$` },
  );
}

export const line = lineOf(MAX_LINE_LENGTH);
export const positiveInteger = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'must be a positive whole number, such as 7');
const LABEL_RULE = `must be 1 to ${MAX_LABEL_LENGTH} printable ASCII characters, without :// and without spaces at the ends`;
export const label = z.string(LABEL_RULE).check(z.regex(LABEL, LABEL_RULE));
export const NO_KEY_RULE = 'must not be sent: this operation cannot detect a repeated request';
export const ID_RULE = 'must be 1 to 255 printable ASCII characters without spaces';
export const QUOTED_RULE =
  'must be a single quoted string, such as "order-1", if it starts with a quote; the text inside';
