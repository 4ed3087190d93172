// Descriptions of the operations on API keys.
import * as z from 'zod/mini';
import { OWN_ROLES, ROLES } from '../core/policy.ts';
import { times } from '../description/examples.ts';
import type { DescriptionsOf } from '../description/paths.ts';
import { invalidField, unknown } from '../description/refusals.ts';
import { ok } from '../description/responses.ts';
import { kindsOf, ROLE_MEANINGS } from '../description/roles.ts';
import { day, id, list, object, text, textOrNull, time } from '../description/schemas.ts';
import { OWN_ROLE_RULE, type operations } from './operations.ts';
import { EXCESS_RULES, latestExpiryRule, MAX_KEYS, MOST_LABELS_RULE, OWN_EXPIRY_RULE } from './rules.ts';

const keyFields = {
  id: id('the key'),
  user_id: id('the user who owns it'),
  name: text('Name of the key.'),
  last_four: text('Its last four characters.'),
  created_at: time('it was created'),
  expires_on: z.nullable(day('Last day on which the key works, UTC. Null if it does not expire.')),
  revoked_at: z.nullable(time('it was revoked')),
  business_id: z.nullable(id('the only business that the key gives access to')),
  label: textOrNull("The source of the key's uses that send no `label`. Null if it has none."),
  last_used_on: z.nullable(day("Day of the key's last permitted call, UTC.")),
  created_by: text(
    'Who created the key, like the `actor` of a change: `key 12 (…abcd)`, `console link (…abcd)` or `operator (…abcd)`.',
  ),
  created_by_name: z.nullable(text('The person whom the console link names with `as`. Null without such a name.')),
  role: z.enum(ROLES).check(z.describe(ROLE_MEANINGS)),
};

const apiKey = object('Key', 'An API key, without the key itself.', keyFields);
export type Key = z.infer<typeof apiKey>;

export const keys = object('Keys', 'The API keys of a user.', {
  keys: list('Ordered by id, including revoked and expired keys.', apiKey),
});

export type Keys = z.infer<typeof keys>;

export const newKey = object('NewKey', 'A created API key.', {
  api_key: text('The key itself. It is shown only here.'),
  ...keyFields,
});

export type NewKey = z.infer<typeof newKey>;

const revokedKey = object('RevokedKey', 'The API key that was revoked.', { key: apiKey });
export type RevokedKey = z.infer<typeof revokedKey>;

const exampleKey: Key = {
  id: 12,
  user_id: 7,
  name: 'Billing server',
  last_four: 'abcd',
  created_at: times.created_at,
  expires_on: null,
  revoked_at: null,
  business_id: null,
  label: null,
  last_used_on: null,
  role: 'record',
  created_by: 'operator (…abcd)',
  created_by_name: null,
};

export const descriptions: DescriptionsOf<typeof operations> = {
  listKeys: {
    tag: 'businesses',
    summary: "List a user's API keys",
    command: { usage: 'key list' },
    description: 'Lists all keys, including revoked and expired ones. The keys themselves are never shown again.',
    success: ok('The keys.', keys, { keys: { keys: [exampleKey] } }),
  },
  createKey: {
    tag: 'businesses',
    summary: 'Create an API key for a user',
    command: { usage: 'key create', shownBy: 'key list --user {user_id}' },
    description:
      'Without a body, the operator creates a key with full access to all businesses of the user. `business_id` limits the key to that business. ' +
      "With `label`, that is the source of the key's uses that send none. " +
      `A user's own key or session can create a ${kindsOf(OWN_ROLES)} key: at most ${MAX_KEYS} that work, and ${MAX_KEYS} a day (UTC). ` +
      'The key expires with the key that created it, and is revoked with it. A session must send `expires_on`.',
    body: {
      description: "Empty, or the key's name, role, business and expiry.",
      component: ['KeyToCreate', 'The API key to create.'],
      examples: { record_key: { name: 'Billing server', role: 'record' } },
    },
    success: ok('The key, which is shown only once.', newKey, {
      record_key: { api_key: 'bua_sk_00123456789ABCDEFGHIJKLMNOPQRSabcd', ...exampleKey },
    }),
    invalid: { invalid_role: { role: 'owner' } },
    refusals: {
      invalid_business: invalidField('business_id', 'must be a business of user 7'),
      too_many_labels: invalidField('label', MOST_LABELS_RULE),
      full_key_of_user: invalidField('role', OWN_ROLE_RULE),
      session_without_expiry: invalidField('expires_on', OWN_EXPIRY_RULE),
      late_expiry: invalidField('expires_on', latestExpiryRule('2027-01-31')),
      too_many_keys: invalidField('keys', EXCESS_RULES.working),
      too_many_today: invalidField('keys', EXCESS_RULES.today),
    },
  },
  revokeKey: {
    tag: 'businesses',
    summary: 'Revoke an API key',
    command: { usage: 'key revoke ID', shownBy: 'key list --user {user_id}' },
    description: 'The key, the keys that it created, and the sessions of all these stop working with the next request.',
    success: ok('The revoked key.', revokedKey, {
      key: { key: { ...exampleKey, revoked_at: times.updated_at } },
    }),
    refusals: { unknown_key: unknown('Key id', 'the user has no API key `key_id`') },
  },
};
