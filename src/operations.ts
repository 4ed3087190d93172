// Every operation, in the order of the OpenAPI description.
import { access } from './access/operations.ts';
import { alerts } from './alerts/operations.ts';
import { business } from './business/operations.ts';
import { changes } from './changes/operations.ts';
import { databases } from './databases/operations.ts';
import { keys } from './keys/operations.ts';
import { sessions } from './sessions/operations.ts';
import { tokens } from './tokens/operations.ts';
import { usage } from './usage/operations.ts';
import { users } from './users/operations.ts';

export const OPERATIONS = {
  ...usage,
  ...access,
  ...tokens,
  ...business,
  ...changes,
  ...alerts,
  ...keys,
  ...users,
  ...sessions,
  ...databases,
};
