// Schemas for each query and body, with error messages. Routes validate with them, and the OpenAPI description is built from them.
import * as z from 'zod/mini';
import { ACTIONS, MAX_SEARCH_LENGTH } from '../core/change.ts';
import { CODE, isImportable } from '../core/credential.ts';
import { CURSOR, parseCursor } from '../core/cursor.ts';
import { BINDINGS } from '../core/database.ts';
import { DURATION, DURATION_RULE } from '../core/duration.ts';
import { parseExportCursor, SECTION_NAMES } from '../core/export.ts';
import {
  ACTOR_NAME_RULE,
  ALERT_AT_RULE,
  BILLING_DAY_RULE,
  isAscending,
  isLine,
  isUrl,
  LINE_RULE,
  MAX_ACTOR_NAME_LENGTH,
  MAX_BILLING_DAY,
  MAX_LIMIT,
  MAX_LINE_LENGTH,
  MAX_PERCENT,
  MAX_THRESHOLDS,
  MAX_URL_LENGTH,
  PERCENT_RULE,
  STATUS_RULE,
  STATUSES,
  TOKEN_RULE,
  URL_RULE,
} from '../core/fields.ts';
import { MAX_COUNT } from '../core/limits.ts';
import { ROLES } from '../core/policy.ts';
import { parseId } from '../core/request.ts';
import { isReturnUrl, LINK_ROLES, MAX_LINK_MINUTES, MAX_RETURN_URL_LENGTH, RETURN_URL_RULE } from '../core/session.ts';
import { canonicalSite, MAX_SITE_LENGTH, MAX_SITES_PER_CALL } from '../core/site.ts';
import { INSTANT, isDay, MAX_INSTANT_LENGTH, MAX_RANGE_DAYS, parseInstant } from '../core/time.ts';
import { MAX_QUANTITY, MAX_USES_PER_CALL, USE_ID } from '../core/use.ts';

/**
 * The parameters of an operation. The error for an unknown parameter refers to the operation by `name`. `operatorOnly` parameters count as
 * unknown unless the operator sends them.
 */
export type Query = { name: string; schema: z.ZodMiniObject; operatorOnly?: string[] };

const names = new Intl.ListFormat('en');
const choices = new Intl.ListFormat('en', { type: 'disjunction' });
/** Completes a sentence about a name that is not in `known`. */
export const unknownRule = (what: string, of: string, known: string[]) =>
  `is not a ${what} of ${of}, which accepts ${names.format(known) || 'none'}`;

/** Returns an object schema that rejects unknown members, because typos must not be ignored. `rule` is the error for other types. */
function strict<Shape extends z.core.$ZodShape>(shape: Shape, rule: string) {
  const unknown = unknownRule('member', 'this object', Object.keys(shape));
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? unknown : rule) });
}

/** What the OpenAPI description says about rules that zod has no check for. */
export const JSON_SCHEMAS = new Map<unknown, object>();
function described<S extends z.ZodMiniType>(schema: S, words: object): S {
  JSON_SCHEMAS.set(schema, words);
  return schema;
}
/** If a number is invalid, `abort` skips the rules that combine it with other numbers. */
const wholeNumber = (minimum: number, maximum: number, error: string) =>
  z
    .int({ error, abort: true })
    .check(z.minimum(minimum, { error, abort: true }), z.maximum(maximum, { error, abort: true }));

/** Returns the schema of a list of 1 to `most` entries. Checks the length first, so a million invalid entries cause only one error. */
const boundedList = <S extends z.ZodMiniType>(entry: S, most: number, rule: string) =>
  z.pipe(z.array(z.unknown(), rule).check(z.minLength(1, rule), z.maxLength(most, rule)), z.array(entry));

/** Like `isDay`, except that it does not know how many days a month has. */
const DAY = { format: 'date', pattern: '^(?:19[7-9]|[2-9]\\d\\d)\\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])$' };
const dayOr = (rule: string, wrongType = rule) => described(z.string(wrongType).check(z.refine(isDay, rule)), DAY);
const DAY_RULE = 'must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD';
const day = z.optional(dayOr(DAY_RULE, `${DAY_RULE}, and must appear only once`));
export const rangeQuery = { name: 'this report', schema: z.object({ from: day, to: day }) } satisfies Query;
export const NO_BODY_RULE = 'must be empty: this operation takes no body';
export const NO_QUERY = { name: 'this operation', schema: z.object({}) } satisfies Query;

const idParameter = (rule: string) =>
  z.optional(
    described(z.string(rule).check(z.refine((text) => parseId(text) !== null, rule)), {
      type: 'integer',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
  );

/**
 * Returns the query of a list with at most `most` entries per page. It has a `limit` and the parameter that `cursor` names, which is the id
 * at which the previous page ended.
 */
function pageQuery<const Cursor extends string>(cursor: Cursor, most: number) {
  const isLimit = (text: string) => (parseId(text) ?? most + 1) <= most;
  const limitRule = `must be a whole number from 1 to ${most}`;
  const limit = z.string(`${limitRule}, and must appear only once`).check(z.refine(isLimit, limitRule));
  const schema = z.object({
    limit: z.optional(described(limit, { type: 'integer', minimum: 1, maximum: most })),
    [cursor]: idParameter('must be an id, such as 17, and must appear only once'),
  } as Record<Cursor | 'limit', z.ZodMiniOptional<z.ZodMiniString>>);
  return { name: 'this list', schema } satisfies Query;
}
const AT_RULE = `must be an RFC 3339 timestamp of at most ${MAX_INSTANT_LENGTH} characters, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00`;
const instant = described(z.string(AT_RULE).check(z.refine((text) => parseInstant(text) !== null, AT_RULE)), {
  format: 'date-time',
  pattern: INSTANT.source,
  maxLength: MAX_INSTANT_LENGTH,
});
const ACTION_RULE = `must be ${choices.format(ACTIONS)}`;
const SEARCH_RULE = `must have 1 to ${MAX_SEARCH_LENGTH} characters`;
export const userChangesQuery = pageQuery('before', 100);
export const changesQuery = {
  name: 'this list',
  schema: z.extend(userChangesQuery.schema, {
    action: z.optional(z.enum(ACTIONS, ACTION_RULE)),
    search: z.optional(
      z
        .string(SEARCH_RULE)
        .check(
          z.minLength(1, SEARCH_RULE),
          z.maxLength(MAX_SEARCH_LENGTH, { error: SEARCH_RULE, abort: true }),
          z.normalize('NFC'),
        ),
    ),
    from: day,
    to: day,
  }),
} satisfies Query;
export const CURSOR_RULE = 'must be the value of next from the previous page, and must appear only once';
export const alertsQuery = {
  name: 'this list',
  schema: z.object({
    limit: userChangesQuery.schema.shape.limit,
    since: z.optional(instant),
    cursor: z.optional(
      described(z.string(CURSOR_RULE).check(z.refine((text) => parseCursor(text) !== null, CURSOR_RULE)), {
        pattern: CURSOR.source,
      }),
    ),
  }),
} satisfies Query;
const EXPORT_CURSOR_RULE = 'must be the cursor in the Link header of the previous page, and must appear only once';
export const exportQuery = {
  name: 'this operation',
  schema: z.object({
    cursor: z.optional(
      described(
        z.string(EXPORT_CURSOR_RULE).check(z.refine((text) => parseExportCursor(text) !== null, EXPORT_CURSOR_RULE)),
        { pattern: `^(?:${SECTION_NAMES.join('|')})(?:\\.\\d{1,16}(?:\\.[\\s\\S]*)?)?$` },
      ),
    ),
  }),
} satisfies Query;
export const businessesQuery = {
  name: 'this list',
  schema: z.extend(pageQuery('after', 50).schema, {
    user_id: idParameter('must be the id of a user, such as 7, and must appear only once'),
  }),
  operatorOnly: ['user_id'],
} satisfies Query;
/** The maximum number of businesses on a page of totals. */
export const MAX_TOTALS_PER_PAGE = 1000;
export const totalsQuery = {
  name: 'this list',
  schema: z.extend(rangeQuery.schema, {
    ended: day,
    user_id: businessesQuery.schema.shape.user_id,
    ...pageQuery('after', MAX_TOTALS_PER_PAGE).schema.shape,
  }),
} satisfies Query;

const HTTP = '[Hh][Tt][Tt][Pp][Ss]?';
/** Characters that neither a line nor a URL may contain (core/fields.ts), for patterns in the OpenAPI description. */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069';
const SITES_RULE = `must be a list of 1 to ${MAX_SITES_PER_CALL} URLs, such as ["https://example.com"]`;
const site = described(
  z.string('must be a string, such as https://example.com').check((payload) => {
    const { problem } = canonicalSite(payload.value);
    if (problem !== undefined) payload.issues.push({ code: 'custom', message: problem, input: payload.value });
  }),
  {
    minLength: 1,
    maxLength: MAX_SITE_LENGTH,
    pattern: `^ *(?:${HTTP}|capacitor|ionic|tauri|app|chrome-extension)://[^\\s/?#@\\\\%]+ *(?:[/?#][^${CONTROL}]*)?$`,
  },
);
export const sitesBody = strict(
  { sites: boundedList(site, MAX_SITES_PER_CALL, SITES_RULE) },
  'must be a JSON object, such as {"sites":["https://example.com"]}',
);

/** Checks the length first, because normalizing a long text can take long. */
const lineOf = (maxLength: number, rule: string) =>
  described(
    z.string(rule).check(
      z.maxLength(maxLength, { error: rule, abort: true }),
      z.trim(),
      z.normalize('NFC'),
      z.refine((text) => isLine(text, maxLength), rule),
    ),
    { minLength: 1, pattern: `^\\s*[^\\s${CONTROL}](?:[^${CONTROL}]*[^\\s${CONTROL}])?\\s*$` },
  );
const line = lineOf(MAX_LINE_LENGTH, LINE_RULE);
const NUMBER_RULE = 'must be a positive whole number, such as 7';
const positiveInteger = wholeNumber(1, Number.MAX_SAFE_INTEGER, NUMBER_RULE);
const LIMIT_RULE = `must be a whole number from 0 to ${MAX_LIMIT}, or null for no limit`;
const OVERAGE_RULE = `must be a whole number from 0 to ${MAX_LIMIT}, or null for unlimited overage`;
const limit = z.optional(z.nullable(wholeNumber(0, MAX_LIMIT, LIMIT_RULE)));
const url = described(z.string(URL_RULE).check(z.refine(isUrl, URL_RULE)), {
  minLength: 1,
  maxLength: MAX_URL_LENGTH,
  pattern: `^${HTTP}://[^\\s${CONTROL}]+$`,
});
const fields = {
  user_id: positiveInteger,
  name: line,
  main_domain: line,
  site: url,
  country_id: positiveInteger,
  business_size: line,
};
const percent = wholeNumber(1, MAX_PERCENT, PERCENT_RULE);
const limits = {
  daily_limit: limit,
  monthly_limit: limit,
  billing_day: z.optional(wholeNumber(1, MAX_BILLING_DAY, BILLING_DAY_RULE)),
  overage: z.optional(z.nullable(wholeNumber(0, MAX_LIMIT, OVERAGE_RULE))),
  alert_at: z.optional(
    described(boundedList(percent, MAX_THRESHOLDS, ALERT_AT_RULE).check(z.refine(isAscending, ALERT_AT_RULE)), {
      uniqueItems: true,
    }),
  ),
};
const DATABASE_RULE = `must be the number of a database: 0 for DB, 1 for DB_1, up to ${BINDINGS.length - 1}`;
const database = wholeNumber(0, BINDINGS.length - 1, DATABASE_RULE);
const NEW_BUSINESS =
  '{"user_id":7,"name":"Acme","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small"}';
export const newBusinessBody = strict(
  {
    ...fields,
    token: z.optional(
      described(z.string(TOKEN_RULE).check(z.refine(isImportable, TOKEN_RULE)), {
        pattern: '^[A-Za-z0-9._~+/=-]{24,255}$',
        not: { pattern: '^[Bb][Uu][Aa]_' },
      }),
    ),
    sites: z.optional(boundedList(site, MAX_SITES_PER_CALL, SITES_RULE)),
    ...limits,
    database: z.optional(database),
    id: z.optional(positiveInteger),
  },
  `must be a JSON object, such as ${NEW_BUSINESS}`,
);
const NO_FIELD_RULE = 'must be a JSON object with at least one field to change, such as {"status":"suspended"}';
export const businessUpdateBody = described(
  z.pipe(
    z.unknown().check(z.refine((body) => body !== null && Object.keys(Object(body)).length > 0, NO_FIELD_RULE)),
    strict(
      {
        ...z.partial(z.object(fields)).shape,
        status: z.optional(z.enum(STATUSES, STATUS_RULE)),
        ...limits,
      },
      NO_FIELD_RULE,
    ),
  ),
  { minProperties: 1 },
);
const HISTORY_RULE = 'must be a JSON object such as {"days":[{"date":"2026-01-31","count":120}]}';
const DAYS_RULE = `must be a list of 1 to ${MAX_RANGE_DAYS} days, such as [{"date":"2026-01-31","count":120}]`;
const COUNT_RULE = `must be a whole number from 0 to ${MAX_COUNT}`;
const SUM_RULE = `must have at most ${MAX_COUNT} uses in total`;
const historyDay = strict(
  {
    date: dayOr(DAY_RULE),
    count: wholeNumber(0, MAX_COUNT, COUNT_RULE),
  },
  'must be an object such as {"date":"2026-01-31","count":120}',
);
export const historyBody = strict(
  {
    days: boundedList(historyDay, MAX_RANGE_DAYS, DAYS_RULE).check(
      z.refine((days) => days.reduce((sum, { count }) => sum + count, 0) <= MAX_COUNT, SUM_RULE),
    ),
    replace: z.optional(z.boolean('must be true or false')),
  },
  HISTORY_RULE,
);

const NAME_RULE = 'must be the name of the business, and must appear only once';
export const deletionQuery = {
  name: 'this operation',
  schema: z.object({
    name: described(
      z.string(NAME_RULE).check(z.maxLength(MAX_LINE_LENGTH, { error: NAME_RULE, abort: true }), z.normalize('NFC')),
      { minLength: 1 },
    ),
  }),
} satisfies Query;

const ROLE_RULE = `must be ${choices.format(ROLES)}`;
export const EXPIRY_RULE = 'must be today or a later date, in the format YYYY-MM-DD';
export const newKeyBody = strict(
  {
    name: z.optional(line),
    business_id: z.optional(positiveInteger),
    role: z.optional(z.enum(ROLES, ROLE_RULE)),
    expires_on: z.optional(dayOr(EXPIRY_RULE)),
  },
  'must be empty, or a JSON object such as {"name":"Billing server","role":"record"}',
);

const LINK_ROLE_RULE = `must be ${LINK_ROLES.join(' or ')}`;
const MINUTES_RULE = `must be a whole number from 1 to ${MAX_LINK_MINUTES}`;
const returnUrl = described(z.string(RETURN_URL_RULE).check(z.refine(isReturnUrl, RETURN_URL_RULE)), {
  maxLength: MAX_RETURN_URL_LENGTH,
  pattern: `^${HTTP}://[^\\s/?#@\\\\]+(?:[/?#\\\\][^\\s${CONTROL}]*)?$`,
});
export const consoleLinkBody = strict(
  {
    business_id: z.optional(positiveInteger),
    role: z.optional(z.enum(LINK_ROLES, LINK_ROLE_RULE)),
    minutes: z.optional(wholeNumber(1, MAX_LINK_MINUTES, MINUTES_RULE)),
    return_url: z.optional(z.nullable(returnUrl)),
    as: z.optional(lineOf(MAX_ACTOR_NAME_LENGTH, ACTOR_NAME_RULE)),
  },
  'must be empty, or a JSON object such as {"role":"read","minutes":15}',
);

export const FIRST_RULE =
  'must cover the origin of this page, or the page would lose access: add it, or register the first sites from a server';
export const UNREGISTRABLE_RULE =
  'must be registered from a server: the origin of this page cannot be registered, so the page would lose access';
export const LAST_RULE =
  'must not be the last entry: without entries, the token works everywhere. To allow that, DELETE the whole list.';

const KEEP_RULE = `${DURATION_RULE}, such as 24h`;
const ROTATION_RULE = 'must be empty, or a JSON object with keep_old only, such as {"keep_old":"24h"}';
export const rotationBody = strict(
  { keep_old: z.optional(z.string(KEEP_RULE).check(z.regex(DURATION, KEEP_RULE))) },
  ROTATION_RULE,
);

const CODE_RULE = 'must be a JSON object with the code of a console link, such as {"code":"…"}';
export const codeBody = strict({ code: z.string(CODE_RULE).check(z.regex(CODE, CODE_RULE)) }, CODE_RULE);

export const NO_KEY_OF_LIST_RULE = 'must not be sent with a list of uses: each use has its own id';
export const NO_KEY_RULE = 'must not be sent: this operation cannot detect a repeated request';
export const ID_RULE = 'must be 1 to 255 printable ASCII characters without spaces';
export const QUOTED_RULE =
  'must be a single quoted string, such as "order-1", if it starts with a quote; the text inside';
const BODY_RULE = 'must be empty for one use, or a JSON object such as {"quantity":350} or {"uses":[{"id":"order-1"}]}';
const MEMBER_RULE = 'is not a member of this object, which accepts quantity or uses';
/** The body of one use without a quantity. Errors also name the members of the bodies that record something else. */
export const useBody: z.ZodMiniType<{ quantity?: never }> = z.strictObject(
  {},
  { error: ({ code }) => (code === 'unrecognized_keys' ? MEMBER_RULE : BODY_RULE) },
);
const QUANTITY_RULE = `must be a whole number from 1 to ${MAX_QUANTITY}`;
const quantity = wholeNumber(1, MAX_QUANTITY, QUANTITY_RULE);
export const quantityBody = strict({ quantity }, BODY_RULE);
const USES_RULE = `must be a list of 1 to ${MAX_USES_PER_CALL} uses, such as [{"id":"order-1","at":"2026-01-31T12:00:00Z"}]`;
const use = strict(
  {
    id: z.string(ID_RULE).check(z.regex(USE_ID, ID_RULE)),
    at: z.optional(instant),
    quantity: z.optional(quantity),
  },
  'must be an object such as {"id":"order-1"}',
);
const LOWERED_RULE = `must be a whole number from 0 to ${MAX_QUANTITY}`;
const LOWER_BODY_RULE = 'must be a JSON object such as {"uses":[{"id":"order-1","quantity":0}]}';
const loweredUse = strict(
  {
    id: z.string(ID_RULE).check(z.regex(USE_ID, ID_RULE)),
    quantity: wholeNumber(0, MAX_QUANTITY, LOWERED_RULE),
  },
  'must be an object such as {"id":"order-1","quantity":0}',
);
const LOWERED_USES_RULE = `must be a list of 1 to ${MAX_USES_PER_CALL} uses, such as [{"id":"order-1","quantity":0}]`;
export const loweringBody = strict(
  { uses: boundedList(loweredUse, MAX_USES_PER_CALL, LOWERED_USES_RULE) },
  LOWER_BODY_RULE,
);
export const usesBody = strict({ uses: boundedList(use, MAX_USES_PER_CALL, USES_RULE) }, BODY_RULE);
