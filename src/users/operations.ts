// Users, whom the operator numbers.
import { by, NOBODY } from '../core/policy.ts';
import { define } from '../operation.ts';

export const operations = define({
  eraseUser: { ...by(NOBODY), route: 'DELETE /user/:user_id', name: 'erase_user', does: 'erase users' },
});
