// Descriptions of the operations on businesses.
import * as z from 'zod/mini';
import { KEEP_CHANGES_DAYS } from '../changes/rules.ts';
import { listedDays, SHOP } from '../description/examples.ts';
import type { DescriptionsOf } from '../description/paths.ts';
import { invalidField } from '../description/refusals.ts';
import { ok } from '../description/responses.ts';
import { count, day, id, list, next, object, text } from '../description/schemas.ts';
import { KEEP_ORIGINS_DAYS } from '../origins/rules.ts';
import {
  business,
  businessDetails,
  businessFields,
  businessWith,
  detailsOf,
  fields,
  limits,
  NO_LIMITS,
  refusedByLimit,
  written,
} from '../shown-business/description.ts';
import { usageEntry } from '../usage/description.ts';
import type { operations } from './operations.ts';
import { LISTED_DAYS, NO_MONTHLY_RULE, UNUSED_TOKEN_RULE, USED_EXTRA_RULE, usedKeyRule } from './rules.ts';

const listedBusiness = object('ListedBusiness', `A business and its uses in the last ${LISTED_DAYS} days.`, {
  ...businessFields,
  used: list(`One entry for each of the last ${LISTED_DAYS} days, ascending.`, usageEntry),
  limits,
  refused_origins: count(
    `Number of origins that were refused in the last ${KEEP_ORIGINS_DAYS} days and that the sites of the business would still refuse.`,
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

export const descriptions: DescriptionsOf<typeof operations> = {
  listBusinesses: {
    tag: 'businesses',
    summary: 'List businesses',
    command: { usage: 'business list' },
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
    command: { usage: 'business create', shownBy: 'business list --user {user_id}' },
    description: `Creates an active business for a user, and assigns a new user to a database. With an \`Idempotency-Key\`, the same request
returns the same business for as long as it exists and belongs to the user. The same key with a different body is refused (422), and the
message names the existing business.`,
    parameters: { 'Idempotency-Key': ['Makes a retry safe. Keys are scoped to the user.', 'signup-7'] },
    body: {
      description: 'The business. Without `token`, the service generates one.',
      component: ['NewBusiness', 'A business to create.'],
      examples: { business: { ...written, sites: [SHOP], monthly_limit: 10_000 } },
    },
    success: ok('The business and its sites.', business, { business: businessWith(SHOP) }),
    invalid: { invalid_body: [] },
    refusals: {
      token_taken: invalidField('token', UNUSED_TOKEN_RULE),
      id_taken: invalidField('id', 'must be greater than 41, the last id of its database'),
      key_used: invalidField('Idempotency-Key', usedKeyRule(3)),
    },
  },
  readBusiness: {
    tag: 'access',
    summary: 'Read a business',
    command: { usage: 'business show ID' },
    description: `Returns the business with its registered sites, its limits, and the last four characters and expiry of each former token that
still works. A read-only key receives only the last four characters of the current token.`,
    success: ok('The business with its sites, limits and former tokens.', businessDetails, {
      business: {
        ...detailsOf(SHOP),
        former_tokens: [
          {
            ...{ id: 1, last_four: 'Qzsh', expires_at: '2026-03-04T08:30:00.123000Z' },
            ...{ last_used_on: '2026-03-03', used_from: [{ origin: SHOP, last_used_on: '2026-03-03' }] },
          },
        ],
      },
    }),
  },
  updateBusiness: {
    tag: 'access',
    summary: 'Change a business',
    command: { usage: 'business update ID' },
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
    command: { usage: 'business add-extra ID' },
    description: `Adds uses to the monthly limit of the current or the next billing month, for that month only. A negative number takes back what was
added. With the same \`Idempotency-Key\`, a retry adds nothing and returns the first result, for ${KEEP_CHANGES_DAYS} days. The same key with a different body is refused (422).`,
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
    command: { usage: 'business delete ID', as: { '--confirm': 'name' } },
    description: `Deletes a business immediately and permanently. Every later request treats it as unknown. \`name\` must be the name of the business.
One change remains, which records the deletion. The id is never reused.`,
    parameters: { name: ['The name of the business.', 'Acme'] },
    success: ok('The deleted business.', deletedBusiness, { business: { deleted: { id: 1, name: 'Acme' } } }),
    invalid: { no_name: {} },
  },
};
