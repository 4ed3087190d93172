// Descriptions of the operations on registered sites.
import type * as z from 'zod/mini';
import { MAX_SITES } from '../core/site.ts';
import { SHOP, times } from '../description/examples.ts';
import type { DescriptionsOf } from '../description/paths.ts';
import { invalidField, unknown, unknownParameter } from '../description/refusals.ts';
import { ok } from '../description/responses.ts';
import { count, list, object, text, time } from '../description/schemas.ts';
import { NO_QUERY } from '../input.ts';
import { KEEP_ORIGINS_DAYS, MAX_ORIGINS } from '../origins/rules.ts';
import { business, businessWith } from '../shown-business/description.ts';
import type { operations } from './operations.ts';
import { ADMITTING_RULE, FIRST_RULE, LAST_RULE } from './rules.ts';

const refusedOrigin = object(
  'RefusedOrigin',
  'An origin that was refused although the credential was valid, or let in.',
  {
    origin: text('The origin. Anyone with the token can make an origin appear here.'),
    count: count('Minimum number of calls that were refused or let in.'),
    first_seen: time('it was first refused or let in'),
    last_seen: time('it was last refused or let in'),
  },
);

export const refusedOrigins = object(
  'RefusedOrigins',
  `Unregistered origins that were refused or let in during the last ${KEEP_ORIGINS_DAYS} days.`,
  {
    refused: list(`At most ${MAX_ORIGINS}, most recent first. Empty while no site is registered.`, refusedOrigin),
    let_in: list(
      `Origins that were let in because no site is registered: at most ${MAX_ORIGINS}, most recent first. Empty while one is registered.`,
      refusedOrigin,
    ),
  },
);

export type RefusedOrigin = z.infer<typeof refusedOrigin>;
export type RefusedOrigins = z.infer<typeof refusedOrigins>;

const WILDCARDS = ['https://*.acme.example', 'http://localhost:*'];

export const descriptions: DescriptionsOf<typeof operations> = {
  readAccess: {
    tag: 'access',
    summary: 'List the registered sites',
    command: { usage: 'access list ID' },
    description:
      'Returns the business with its registered sites. While none is registered, its token works everywhere.',
    success: ok('The business and its registered sites.', business, { business: businessWith(SHOP) }),
  },
  addAccess: {
    tag: 'access',
    summary: 'Register sites',
    command: { usage: 'access add ID SITE…', as: { 'SITE…': 'sites' } },
    description: `Registers all of the sites, or none if one is invalid. Registering a site again is not an error. A business can have at most ${MAX_SITES} sites.`,
    body: {
      component: ['Sites', 'The sites to register.'],
      examples: { sites: { sites: [SHOP] }, wildcards: { sites: WILDCARDS } },
    },
    success: ok('The business and all of its registered sites.', business, {
      sites: businessWith(SHOP),
      wildcards: businessWith(...WILDCARDS),
    }),
    invalid: { invalid_site: { sites: ['shop.example'] }, invalid_list: { sites: [] } },
    refusals: { sender_shut_out: invalidField('sites', FIRST_RULE) },
  },
  removeAllAccess: {
    tag: 'access',
    summary: 'Remove all registered sites: the token then works everywhere',
    command: { usage: 'access clear ID' },
    description: 'Removes the restriction: the token then works everywhere.',
    success: ok('The business without registered sites.', business, { business: businessWith() }),
    refusals: { ...unknownParameter(NO_QUERY, 'access_id') },
  },
  readRefusedOrigins: {
    tag: 'access',
    summary: 'List refused and let-in origins',
    command: { usage: 'access refused ID' },
    description: `Lists origins that were refused in the last ${KEEP_ORIGINS_DAYS} days although the credential was valid, and that would still be refused: at most
${MAX_ORIGINS}, most recent first. They can indicate a missing site. While no site is registered, lists the origins of pages that used the token
instead. Counts are lower bounds, and anyone with the token can make an origin appear.`,
    success: ok('Origins that are still refused, or that were let in.', refusedOrigins, {
      refused: {
        refused: [
          { origin: 'https://new.acme.example', count: 12, first_seen: times.created_at, last_seen: times.updated_at },
        ],
        let_in: [],
      },
      let_in: {
        refused: [],
        let_in: [{ origin: SHOP, count: 40, first_seen: times.created_at, last_seen: times.updated_at }],
      },
    }),
  },
  forgetRefusedOrigins: {
    tag: 'access',
    summary: 'Forget the refused and let-in origins',
    command: { usage: 'access forget-refused ID', shownBy: 'access refused {ID}' },
    description: 'Clears both lists. An origin that is refused or let in later appears again.',
    success: ok('The empty lists.', refusedOrigins, { refused: { refused: [], let_in: [] } }),
  },
  removeAccess: {
    tag: 'access',
    summary: 'Remove a registered site',
    command: { usage: 'access remove ID SITE_ID' },
    description:
      'Removes one site. The last one cannot be removed (422): without it, the token would work everywhere. Nor can the only one that lets in the page that asks.',
    success: ok('The business and its remaining sites.', business, { business: businessWith(SHOP) }),
    refusals: {
      unknown_entry: unknown('Access id', 'the business has no site `access_id`'),
      last_domain: invalidField('access_id', LAST_RULE),
      sender_shut_out: invalidField('access_id', ADMITTING_RULE),
    },
  },
};
