// Users, whom the operator numbers.
import { FULL_OPERATOR } from '../core/policy.ts';
import { type CommandsOf, define } from '../operation.ts';

export const operations = define({
  eraseUser: {
    ...FULL_OPERATOR,
    retry: 'always',
    route: 'DELETE /user/:user_id',
    name: 'erase_user',
    does: 'erase users',
  },
});

export const commands: CommandsOf<typeof operations> = {
  eraseUser: {
    usage: 'user erase ID',
    does: 'Permanently deletes all data that names a user. The user must have no business.',
    as: { ID: 'user_id' },
    shownBy: 'user export {user_id}',
  },
};
