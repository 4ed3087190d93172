// Users, whom the operator numbers.
import { FULL_OPERATOR } from '../core/policy.ts';
import { define } from '../operation.ts';

export const operations = define({
  eraseUser: {
    ...FULL_OPERATOR,
    retry: 'always',
    route: 'DELETE /user/:user_id',
    name: 'erase_user',
    does: 'erase users',
  },
});
