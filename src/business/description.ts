// Descriptions of the operations on businesses.
import * as z from 'zod/mini';
import { MAX_COUNT, MAX_THRESHOLDS } from '../core/limits.ts';
import { listedDays, SHOP, times } from '../description/examples.ts';
import type { DescriptionsOf } from '../description/paths.ts';
import { invalidField } from '../description/refusals.ts';
import { ok } from '../description/responses.ts';
import { count, day, flag, id, list, next, object, percent, text, time } from '../description/schemas.ts';
import { usageEntry } from '../usage/description.ts';
import type { operations } from './operations.ts';
import { LISTED_DAYS, NO_MONTHLY_RULE, USED_EXTRA_RULE, usedKeyRule } from './rules.ts';

const site = object('Access', 'A registered domain.', {
  id: id('the entry'),
  business_id: id('the business it belongs to'),
  site: text('The domain: an origin as browsers send it, or a wildcard.'),
  created_at: time('it was added'),
  updated_at: time('it was last changed'),
});

const billingDay = (of: string) => z.int().check(z.minimum(1), z.maximum(28), z.describe(of));
/** The limits of a business, which can change from a day on. */
const plan = {
  daily: z.nullable(count('Per day. Null if there is no limit.')),
  monthly: z.nullable(count('Per month. Null if there is no limit.')),
  overage: z.nullable(
    count(
      'Maximum number of uses counted beyond a limit. Uses with a token stop at the limit unless `page_overage` takes effect. Null means unlimited.',
    ),
  ),
  page_overage: flag(
    'Whether uses with a token count beyond a limit, too. Takes effect only while a site is registered that visitors can reach.',
  ),
  alert_at: z
    .array(percent)
    .check(
      z.minLength(1),
      z.maxLength(MAX_THRESHOLDS),
      z.describe('Alert thresholds, in percent of each limit, ascending.'),
    ),
};
const nextLimits = object('NextLimits', 'The limits after a pending change.', {
  from: day('The first day on which they hold.'),
  ...plan,
});
const limits = object('Limits', 'The maximum uses per day and per month, in UTC, and the uses so far.', {
  ...plan,
  extra: count('What is added to the monthly limit in this billing month.'),
  next_limits: z.nullable(nextLimits).check(z.describe('Null if no change of the limits is pending.')),
  billing_day: billingDay('The day on which a month begins.'),
  next_billing_day: z.nullable(billingDay('The billing day after a pending change. Null if no change is pending.')),
  from: z.nullable(day('Start of the first month that uses `next_billing_day`. Null if no change is pending.')),
  today: z.nullable(count('Uses today. Null if there is no daily limit.')),
  month: z.nullable(count(`Uses this billing month, at most ${MAX_COUNT}. Null if there is no monthly limit.`)),
  remaining: z.nullable(
    count('Uses left until a limit is reached. 0 while uses are counted beyond a limit. Null if there is no limit.'),
  ),
  day_ends: z.nullable(time('the day ends (null if there is no daily limit)')),
  month_starts: time('the billing month began'),
  month_ends: time('the billing month ends'),
});

export type Limits = z.infer<typeof limits>;

const businessFields = {
  id: id('the business'),
  user_id: id('the user who owns it'),
  name: text('Name of the business.'),
  main_domain: text('Main domain of the business.'),
  site: text('URL of the site of the business.'),
  country_id: z.int().check(z.describe('Identifier of a country.')),
  business_size: text('Size class of the business.'),
  token: text('Token of the business. It is public: web pages contain it.'),
  // Not an enum, because rows from other sources can contain other text.
  status: text('Usually `active`, `suspended` or `closed`. The token works only while the status is `active`.'),
  created_at: time('it was created'),
  updated_at: time('the business or its list of domains was last changed'),
};

export const business = object('Business', 'A business and its registered domains.', {
  ...businessFields,
  access_list: list('Its registered domains, ordered by id.', site),
});

export type Business = z.infer<typeof business>;

const formerToken = object('FormerToken', 'A token that was replaced and still works.', {
  last_four: text('Its last four characters.'),
  expires_at: time('it stops working'),
  last_used_on: z.nullable(day('Day of its last permitted call since it was replaced, UTC.')),
});

const refusedByLimit = count(
  'Number of uses that a limit has refused since the current billing month began, again for each retry. At least as many were refused: what a Worker has not stored when it ends is missing.',
);

const details = 'A business, its registered domains, its limits and its former tokens.';
export const businessDetails = object('BusinessDetails', details, {
  ...businessFields,
  access_list: list('Its registered domains, ordered by id.', site),
  limits,
  refused_by_limit: refusedByLimit,
  former_tokens: list('At most 5, in the order in which they were replaced.', formerToken),
});

export type BusinessDetails = z.infer<typeof businessDetails>;

const listedBusiness = object('ListedBusiness', `A business and its uses in the last ${LISTED_DAYS} days.`, {
  ...businessFields,
  used: list(`One entry for each of the last ${LISTED_DAYS} days, ascending.`, usageEntry),
  limits,
  refused_origins: count(
    'Number of origins that were refused in the last 90 days and that the sites of the business would still refuse.',
  ),
  refused_by_limit: refusedByLimit,
});

export type ListedBusiness = z.infer<typeof listedBusiness>;

export const businesses = object('Businesses', 'The businesses of an API key.', {
  businesses: list(
    'The businesses whose usage the caller may read from this origin, ordered by id. Can be empty even if `next` is set.',
    listedBusiness,
  ),
  next,
});

export type Businesses = z.infer<typeof businesses>;

const extra = object('Extra', 'What is added to the monthly limit of one billing month.', {
  starts_on: day('The first day of the month.'),
  extra: count('The sum of what was added to the month, after this request.'),
});

export type Extra = z.infer<typeof extra>;

const deletedBusiness = object('DeletedBusiness', 'The business that was deleted.', {
  deleted: z.object({ id: id('the business'), name: text('The name of the business.') }),
});

export type DeletedBusiness = z.infer<typeof deletedBusiness>;

const written = {
  user_id: 7,
  name: 'Acme',
  main_domain: 'acme.example',
  site: 'https://acme.example',
  country_id: 1,
  business_size: 'small',
};
const fields = {
  id: 1,
  ...written,
  token: 'bua_pk_00123456789ABCDEFGHIJKLMNOPQRSTUVW',
  status: 'active',
  ...times,
};

export const businessWith = (...sites: string[]): Business => ({
  ...fields,
  access_list: sites.map((site, index) => ({ id: index + 1, business_id: 1, site, ...times })),
});

const LIMITS: Limits = {
  daily: 1000,
  monthly: null,
  overage: 0,
  page_overage: false,
  alert_at: [80, 100],
  extra: 0,
  next_limits: null,
  billing_day: 1,
  next_billing_day: null,
  from: null,
  today: 4,
  month: null,
  remaining: 996,
  day_ends: '2026-03-04T00:00:00.000000Z',
  month_starts: '2026-03-01T00:00:00.000000Z',
  month_ends: '2026-04-01T00:00:00.000000Z',
};
const NO_LIMITS: Limits = { ...LIMITS, daily: null, today: null, remaining: null, day_ends: null };

export const detailsOf = (...sites: string[]): BusinessDetails => ({
  ...businessWith(...sites),
  limits: LIMITS,
  refused_by_limit: 0,
  former_tokens: [],
});

export const descriptions: DescriptionsOf<typeof operations> = {
  listBusinesses: {
    tag: 'businesses',
    summary: 'List your businesses',
    description: `Lists the businesses whose usage the API key can read from the calling origin, ordered by id. A page examines \`limit\`
businesses, so it can contain fewer even if \`next\` is set.`,
    parameters: { user_id: ["Only this user's businesses. Available only to the operator."] },
    success: ok('One page of businesses.', businesses, {
      businesses: {
        businesses: [{ ...fields, used: listedDays, limits: NO_LIMITS, refused_origins: 0, refused_by_limit: 0 }],
        next: null,
      },
    }),
    invalid: { invalid_limit: { limit: '0' } },
  },
  createBusiness: {
    tag: 'businesses',
    summary: 'Create a business',
    description: `Creates an active business for a user, and assigns a new user to a database. With an \`Idempotency-Key\`, the same request
returns the same business for as long as it exists and belongs to the user. The same key with a different body is refused (422), and the
message names the existing business.`,
    parameters: { 'Idempotency-Key': ['Makes a retry safe. Keys are scoped to the user.', 'signup-7'] },
    body: {
      description: 'The business. Without `token`, the service generates one.',
      component: ['NewBusiness', 'A business to create.'],
      examples: { business: { ...written, sites: [SHOP], monthly_limit: 10_000 } },
    },
    success: ok('The business and its domains.', business, { business: businessWith(SHOP) }),
    invalid: { invalid_body: [] },
    refusals: {
      token_taken: invalidField('token', 'must not be a current or former token of any business'),
      id_taken: invalidField('id', 'must be greater than 41, the last id of its database'),
      key_used: invalidField('Idempotency-Key', usedKeyRule(3)),
    },
  },
  readBusiness: {
    tag: 'access',
    summary: 'Read a business',
    description: `Returns the business with its registered domains, its limits, and the last four characters and expiry of each former token that
still works. A read-only API key receives only the last four characters of the current token.`,
    success: ok('The business with its domains, limits and former tokens.', businessDetails, {
      business: {
        ...detailsOf(SHOP),
        former_tokens: [{ last_four: 'Qzsh', expires_at: '2026-03-04T08:30:00.123000Z', last_used_on: '2026-03-03' }],
      },
    }),
  },
  updateBusiness: {
    tag: 'access',
    summary: 'Change a business',
    description: `Changes the given fields, and no others, so requests at the same time all take effect. A limit of null removes the limit. A business can be transferred only to a user in the same database, or
to a user without a database. A transfer revokes the API keys, sessions and console links that are only for this business.`,
    body: {
      description: 'The fields to change.',
      component: ['BusinessUpdate', 'The fields to change.'],
      examples: { suspend: { status: 'suspended' }, limit: { daily_limit: 1000 } },
    },
    success: ok('The changed business.', businessDetails, {
      suspend: { ...detailsOf(), status: 'suspended' },
      limit: detailsOf(),
    }),
    invalid: { invalid_body: {}, invalid_status: { status: 'Active' } },
  },
  addExtra: {
    tag: 'businesses',
    summary: 'Add to the limit of a month',
    description: `Adds uses to the monthly limit of the current or the next billing month, for that month only. A negative number takes back what was
added. With the same \`Idempotency-Key\`, a retry adds nothing and returns the first result, for 400 days. The same key with a different body is refused (422).`,
    parameters: { 'Idempotency-Key': ['Makes a retry safe.', 'pack-17', 'required'] },
    body: {
      description: 'How many uses, and for which month.',
      component: ['NewExtra', 'Uses to add to the monthly limit of a month.'],
      examples: { pack: { uses: 500, month: 'this' } },
    },
    success: ok('The extra of the month.', extra, { pack: { starts_on: '2026-03-01', extra: 500 } }),
    invalid: { invalid_body: {}, no_uses: { uses: 0, month: 'this' } },
    refusals: {
      no_limit: invalidField('month', NO_MONTHLY_RULE),
      key_used: invalidField('Idempotency-Key', USED_EXTRA_RULE),
    },
  },
  deleteBusiness: {
    tag: 'access',
    summary: 'Delete a business',
    description: `Deletes a business immediately and permanently. Every later request treats it as unknown. \`name\` must be the name of the business.
One change remains, which records the deletion. The id is never reused.`,
    parameters: { name: ['The name of the business.', 'Acme'] },
    success: ok('The deleted business.', deletedBusiness, { business: { deleted: { id: 1, name: 'Acme' } } }),
    invalid: { no_name: {} },
  },
};
