// Descriptions of the lists of changes.
import * as z from 'zod/mini';
import { SHOP, times } from '../description/examples.ts';
import type { DescriptionsOf } from '../description/paths.ts';
import { invalidField, UNKNOWN_USER } from '../description/refusals.ts';
import { ok } from '../description/responses.ts';
import { id, list, next, object, text, textOrNull, time } from '../description/schemas.ts';
import type { operations } from './operations.ts';
import { KEEP_CHANGES_DAYS } from './rules.ts';

const changed = z.nullable(z.record(z.string(), z.unknown()));
export const change = object('Change', 'A change to a business or user.', {
  id: id('the change'),
  at: time('it was made'),
  actor: z
    .string()
    .check(
      z.regex(/^(?:key [1-9]\d*|console link|operator) \(….{4}\)$/),
      z.describe(
        'Who made the change. `key 12 (…abcd)`: an API key, or a session that it started. `console link (…abcd)`: a session that a link started. `operator (…abcd)`: an operator key.',
      ),
    ),
  key_name: textOrNull(
    "Name of the API key that made the change. Null if no API key made it, or the key is not one of the owner's.",
  ),
  actor_name: textOrNull(
    "The person whom the console link names with `as`. Null without such a name, or if the link was not one of the owner's.",
  ),
  action: text('The action, such as `add_sites`. Later versions may add actions.'),
  before: changed.check(z.describe('The changed values before the change. Null if they are new.')),
  after: changed.check(z.describe('The changed values after the change. Null if they were removed.')),
});

export const changes = object('Changes', 'Who changed what.', {
  changes: list('Newest first.', change),
  next,
});

export type Change = z.infer<typeof change>;
export type Changes = z.infer<typeof changes>;

const exampleChange: Change = {
  id: 1,
  at: times.created_at,
  actor: 'key 12 (…abcd)',
  key_name: 'Server',
  actor_name: null,
  action: 'add_sites',
  before: null,
  after: { sites: [SHOP] },
};

export const descriptions: DescriptionsOf<typeof operations> = {
  readChanges: {
    tag: 'access',
    summary: 'List the changes to a business',
    command: { usage: 'changes list ID' },
    description:
      `Lists who changed what, newest first. Changes are stored for ${KEEP_CHANGES_DAYS} days. Tokens are shown as their last four characters. ` +
      'With a filter, a page can be short or empty even if `next` is set.',
    parameters: {
      action: ['Only changes with this action.', 'add_sites'],
      search: ['Only changes with this text in `before`, `after`, `key_name` or `actor_name`.', 'shop.example'],
      from: ['Only changes on this day (UTC) or later.', '2026-01-01'],
      to: ['Only changes on this day (UTC) or earlier.', '2026-03-03'],
    },
    success: ok('One page of changes.', changes, { changes: { changes: [exampleChange], next: null } }),
    invalid: { invalid_action: { action: 'delete' }, invalid_limit: { limit: '0' } },
    refusals: { invalid_order: invalidField('from', 'must not be after to (2026-03-01)') },
  },
  readUserChanges: {
    tag: 'businesses',
    summary: "List the changes to a user's keys",
    command: { usage: 'changes list' },
    description:
      "Lists who created and revoked the user's API keys that are not limited to one business, newest first.",
    success: ok('One page of changes.', changes, {
      changes: {
        changes: [
          {
            ...exampleChange,
            ...{ actor: 'operator (…abcd)', key_name: null, action: 'create_key' },
            after: { key: '…abcd', name: 'Billing server', role: 'record', id: 12 },
          },
        ],
        next: null,
      },
    }),
    invalid: { invalid_limit: { limit: '0' } },
    refusals: { unknown_user: UNKNOWN_USER },
  },
};
