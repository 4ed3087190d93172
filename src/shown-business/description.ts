// The schemas of a business in responses, and examples of it.
import * as z from 'zod/mini';
import { MAX_USED_FROM } from '../core/credential.ts';
import { MAX_COUNT, MAX_THRESHOLDS, REFUSES } from '../core/limits.ts';
import { times } from '../description/examples.ts';
import { count, day, flag, id, list, object, percent, text, time } from '../description/schemas.ts';
import { MAX_FORMER_TOKENS } from './rules.ts';

const site = object('Access', 'A registered site.', {
  id: id('the site'),
  business_id: id('the business it belongs to'),
  site: text('An origin as browsers send it, or a wildcard.'),
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
export const limits = object('Limits', 'The maximum uses per day and per month, in UTC, and the uses so far.', {
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
  refuses: z
    .enum(REFUSES)
    .check(
      z.describe(
        "Whose next use a limit refuses: nobody's, those with a token (`pages`), or everybody's. Lists of an operator key still count.",
      ),
    ),
  day_ends: z.nullable(time('the day ends (null if there is no daily limit)')),
  month_starts: time('the billing month began'),
  month_ends: time('the billing month ends'),
});

export type Limits = z.infer<typeof limits>;

export const businessFields = {
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
  updated_at: time('the business or its list of sites was last changed'),
};

export const business = object('Business', 'A business and its registered sites.', {
  ...businessFields,
  access_list: list('Its registered sites, ordered by id.', site),
});

export type Business = z.infer<typeof business>;

const formerToken = object('FormerToken', 'A token that was replaced and still works.', {
  id: id('the former token'),
  last_four: text('Its last four characters.'),
  expires_at: time('it stops working'),
  last_used_on: z.nullable(day('Day of its last permitted call since it was replaced, UTC.')),
  used_from: list(
    `The last ${MAX_USED_FROM} pages that used it since, the latest first. Without those whose origin cannot be registered.`,
    z.object({
      origin: text('The origin of the page.'),
      last_used_on: day('Day of its last permitted call with this token, UTC.'),
    }),
  ),
});

export const refusedByLimit = count(
  'Number of uses that a limit has refused since the current billing month began, again for each retry. At least as many were refused: what a Worker has not stored when it ends is missing.',
);

const details = 'A business, its registered sites, its limits and its former tokens.';
export const businessDetails = object('BusinessDetails', details, {
  ...businessFields,
  access_list: list('Its registered sites, ordered by id.', site),
  limits,
  refused_by_limit: refusedByLimit,
  former_tokens: list(`At most ${MAX_FORMER_TOKENS}, in the order in which they were replaced.`, formerToken),
});

export type BusinessDetails = z.infer<typeof businessDetails>;

export const written = {
  user_id: 7,
  name: 'Acme',
  main_domain: 'acme.example',
  site: 'https://acme.example',
  country_id: 1,
  business_size: 'small',
};
export const fields = {
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
  refuses: 'nobody',
  day_ends: '2026-03-04T00:00:00.000000Z',
  month_starts: '2026-03-01T00:00:00.000000Z',
  month_ends: '2026-04-01T00:00:00.000000Z',
};
export const NO_LIMITS: Limits = { ...LIMITS, daily: null, today: null, remaining: null, day_ends: null };

export const detailsOf = (...sites: string[]): BusinessDetails => ({
  ...businessWith(...sites),
  limits: LIMITS,
  refused_by_limit: 0,
  former_tokens: [],
});
