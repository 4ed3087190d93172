// Descriptions of the operations on users.
import * as z from 'zod/mini';
import { ownsRule, RECENT_RULE } from '../core/conflict.ts';
import { exampleKey } from '../keys/description.ts';
import { fields, times } from '../openapi/examples.ts';
import type { DescriptionsOf } from '../openapi/paths.ts';
import { invalidField, UNKNOWN_USER } from '../openapi/refusals.ts';
import { jsonLines, ok } from '../openapi/responses.ts';
import { id, object } from '../openapi/schemas.ts';
import type { users as operations } from './operations.ts';

export const erasedUser = object('ErasedUser', 'The user who was erased.', {
  erased: z.object({ user_id: id('the user') }),
});

export type ErasedUser = z.infer<typeof erasedUser>;

/** A business in an export. */
const businessLine = {
  ...{ ...fields, token: '…TUVW' },
  ...{
    daily_limit: 1000,
    monthly_limit: null,
    billing_day: 1,
    overage: 0,
    alert_at: [80, 100],
    former_tokens: [],
  },
};

export const descriptions: DescriptionsOf<typeof operations> = {
  exportUser: {
    tag: 'businesses',
    summary: 'Export a user',
    description: `Exports all data stored about a user as JSON Lines, without secrets and hashes. An export can have many pages. The \`Link\`
header contains the URL of the next page. The last page ends with the line \`{"type":"end"}\`. For an unknown user, \`database\` is null.`,
    parameters: {
      cursor: ['The cursor in the `Link` header of the previous page. Default: the first page.', 'counts.1.2026-03-02'],
    },
    success: jsonLines('One page of lines.', {
      page: [
        { type: 'user', user_id: 7, database: 0, place: 2, claimed_at: times.created_at, imported_tokens: 0 },
        { type: 'business', ...businessLine },
        { type: 'count', business_id: 1, date: '2026-03-02', count: 5 },
        { type: 'key', ...exampleKey },
        { type: 'end' },
      ],
    }),
    invalid: { invalid_cursor: { cursor: '-1' } },
    refusals: { unknown_user: UNKNOWN_USER },
  },
  eraseUser: {
    tag: 'businesses',
    summary: 'Erase a user',
    description: `Deletes all data about a user without a business: API keys, sessions, console links, changes and the assignment to a database.
Erasure cannot be undone. It does nothing for an unknown or erased user, so a retry is safe.`,
    success: ok('The erased user.', erasedUser, { erased: { erased: { user_id: 7 } } }),
    refusals: {
      unknown_user: UNKNOWN_USER,
      owner: invalidField('user_id', ownsRule(3)),
      recent: invalidField('user_id', RECENT_RULE),
    },
  },
};
