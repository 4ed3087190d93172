// Businesses.
import * as z from 'zod/mini';
import { IMPORTED } from '../core/credential.ts';
import { BINDINGS } from '../core/database.ts';
import { errorOf } from '../core/field-errors.ts';
import { MAX_LINE_LENGTH, MISLEADING } from '../core/fields.ts';
import { MAX_LIMIT, MAX_PERCENT, MAX_THRESHOLDS } from '../core/limits.ts';
import { FULL_OPERATOR, READERS, reading } from '../core/policy.ts';
import { MAX_SITES_PER_CALL } from '../core/site.ts';
import { dayOf } from '../core/time.ts';
import { PAGE_OF_BUSINESSES } from '../core/work.ts';
import {
  boundedList,
  CONTROL,
  dayOr,
  described,
  HTTP,
  line,
  pageQuery,
  positiveInteger,
  type Query,
  rangeRule,
  strict,
  userParameter,
  wholeNumber,
} from '../input.ts';
import { define } from '../operation.ts';
import { SITES_RULE, site } from '../sites/operations.ts';
import { sitesErrors } from '../sites/rules.ts';
import { datedErrors, MAX_PER_PAGE, type Overage, overageErrors } from './rules.ts';

const businessesQuery = {
  name: 'this list',
  schema: z.extend(pageQuery('after', MAX_PER_PAGE).schema, {
    user_id: userParameter,
  }),
  operatorOnly: ['user_id'],
} satisfies Query;

const limitOr = (otherwise: string) =>
  z.optional(z.nullable(wholeNumber(0, MAX_LIMIT, `${rangeRule(0, MAX_LIMIT)}, or null for ${otherwise}`)));
const limit = limitOr('no limit');

const MAX_URL_LENGTH = 2048;
const URL_RULE = `must be an http or https URL of at most ${MAX_URL_LENGTH} characters`;
const isUrl = (text: string) =>
  text.length <= MAX_URL_LENGTH &&
  !MISLEADING.test(text) &&
  /^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) &&
  URL.canParse(text);
const url = described(z.string(URL_RULE).check(z.refine(isUrl, URL_RULE)), {
  minLength: 1,
  maxLength: MAX_URL_LENGTH,
  pattern: `^${HTTP}://[^\\s${CONTROL}]+$`,
});

/** What responses show beside `limits`. A change may omit any. */
const fields = {
  user_id: positiveInteger,
  name: line,
  main_domain: line,
  site: url,
  country_id: positiveInteger,
  business_size: line,
};

const percent = wholeNumber(1, MAX_PERCENT, `must be a whole percentage from 1 to ${MAX_PERCENT}, such as 80`);
const ALERT_AT_RULE = `must be a list of 1 to ${MAX_THRESHOLDS} percentages in ascending order, such as [50,80,100]`;
const isAscending = (list: number[]) => list.every((value, index) => value > (list[index - 1] ?? 0));
/** What responses show as `limits`. */
const limits = {
  daily_limit: limit,
  monthly_limit: limit,
  billing_day: z.optional(wholeNumber(1, 28, 'must be a day of the month from 1 to 28')),
  overage: limitOr('unlimited overage'),
  page_overage: z.optional(z.boolean('must be true or false')),
  alert_at: z.optional(
    described(boundedList(percent, MAX_THRESHOLDS, ALERT_AT_RULE).check(z.refine(isAscending, ALERT_AT_RULE)), {
      uniqueItems: true,
    }),
  ),
};
const { billing_day, ...dated } = limits;

const FROM_RULE =
  'must be next_month, a date from today on in the format YYYY-MM-DD, or null, which cancels the pending change';
const limits_from = z.optional(z.nullable(z.union([z.literal('next_month'), dayOr(FROM_RULE)], FROM_RULE)));

/** The extra of a month. A negative number takes back what was added. */
export const extraBody = strict(
  {
    uses: described(wholeNumber(-MAX_LIMIT, MAX_LIMIT).check(z.refine((uses) => uses !== 0, 'must not be 0')), {
      not: { const: 0 },
    }),
    month: z.enum(['this', 'next'], 'must be this or next'),
  },
  'must be a JSON object, such as {"uses":500,"month":"this"}',
);

const DATABASE_RULE = `must be the number of a database: 0 for DB, 1 for DB_1, up to ${BINDINGS.length - 1}`;
const database = wholeNumber(0, BINDINGS.length - 1, DATABASE_RULE);
const TOKEN_RULE =
  'must be 24 to 255 characters from A-Z a-z 0-9 . _ ~ + / = - and must not start with bua_ in upper or lower case';
const NEW_BUSINESS =
  '{"user_id":7,"name":"Acme","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small"}';

export const newBusinessBody = strict(
  {
    ...fields,
    token: z.optional(z.string(TOKEN_RULE).check(z.regex(IMPORTED, TOKEN_RULE))),
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
        status: z.optional(z.enum(['active', 'suspended', 'closed'], 'must be active, suspended or closed')),
        ...limits,
        limits_from,
      },
      NO_FIELD_RULE,
    ),
  ),
  { minProperties: 1 },
);

const NAME_RULE = 'must be the name of the business, and must appear only once';
const deletionQuery = {
  name: 'this operation',
  schema: z.object({
    name: described(
      z.string(NAME_RULE).check(z.maxLength(MAX_LINE_LENGTH, { error: NAME_RULE, abort: true }), z.normalize('NFC')),
      { minLength: 1 },
    ),
  }),
} satisfies Query;

const updateErrors = (given: Overage & Parameters<typeof datedErrors>[0], { now }: { now: Date }) => ({
  ...overageErrors(given),
  ...datedErrors(given, Object.keys(dated), dayOf(now)),
});

const newBusinessErrors = async (given: { sites?: (string | undefined)[] | undefined } & Overage) => ({
  ...(await sitesErrors(given)),
  ...overageErrors(given),
});

export const operations = define({
  listBusinesses: {
    ...reading(READERS),
    route: 'GET /business',
    name: 'list_businesses',
    does: 'list businesses',
    work: PAGE_OF_BUSINESSES,
    query: businessesQuery,
  },
  createBusiness: {
    ...FULL_OPERATOR,
    route: 'POST /business',
    name: 'create_business',
    does: 'create businesses',
    retry: 'with_key',
    body: newBusinessBody,
    check: newBusinessErrors,
  },
  readBusiness: {
    ...reading(READERS),
    route: 'GET /business/:business_id',
    name: 'read_business',
    does: 'read businesses',
  },
  updateBusiness: {
    ...FULL_OPERATOR,
    retry: 'always',
    route: 'PATCH /business/:business_id',
    name: 'update_business',
    does: 'change businesses',
    body: businessUpdateBody,
    check: updateErrors,
  },
  addExtra: {
    ...FULL_OPERATOR,
    retry: 'with_key',
    route: 'POST /business/:business_id/extra',
    name: 'add_extra',
    does: 'add to limits',
    body: extraBody,
    check: (_: object, { hasKey }: { hasKey: boolean }) =>
      hasKey ? {} : errorOf('Idempotency-Key', 'must be sent, so that a retry adds nothing'),
  },
  deleteBusiness: {
    ...FULL_OPERATOR,
    retry: 'always',
    route: 'DELETE /business/:business_id',
    name: 'delete_business',
    does: 'delete businesses',
    query: deletionQuery,
  },
});
