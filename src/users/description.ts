// Descriptions of the operations on users.
import * as z from 'zod/mini';
import type { DescriptionsOf } from '../description/paths.ts';
import { invalidField, UNKNOWN_USER } from '../description/refusals.ts';
import { ok } from '../description/responses.ts';
import { id, object } from '../description/schemas.ts';
import type { operations } from './operations.ts';
import { ownsRule, RECENT_RULE } from './rules.ts';

const erasedUser = object('ErasedUser', 'The user who was erased.', {
  erased: z.object({ user_id: id('the user') }),
});

export type ErasedUser = z.infer<typeof erasedUser>;

export const descriptions: DescriptionsOf<typeof operations> = {
  eraseUser: {
    tag: 'businesses',
    summary: 'Erase a user',
    command: { usage: 'user erase ID', as: { ID: 'user_id' }, shownBy: 'user export {user_id}' },
    description: `Deletes what identifies a user without a business: API keys, sessions, console links, values in changes and the assignment to a database.
Erasure cannot be undone. It does nothing for an unknown or erased user, so a retry is safe.`,
    success: ok('The erased user.', erasedUser, { erased: { erased: { user_id: 7 } } }),
    refusals: {
      unknown_user: UNKNOWN_USER,
      owner: invalidField('user_id', ownsRule(3)),
      recent: invalidField('user_id', RECENT_RULE),
    },
  },
};
