// Every operation, in the order of the OpenAPI description.

import { operations as alerts } from './alerts/operations.ts';
import { operations as business } from './business/operations.ts';
import { operations as changes } from './changes/operations.ts';
import { operations as databases } from './databases/operations.ts';
import { operations as keys } from './keys/operations.ts';
import { operations as sessions } from './sessions/operations.ts';
import { operations as sites } from './sites/operations.ts';
import { operations as tokens } from './tokens/operations.ts';
import { operations as usage } from './usage/operations.ts';
import { operations as users } from './users/operations.ts';

export const OPERATIONS = {
  ...usage,
  ...sites,
  ...tokens,
  ...business,
  ...changes,
  ...alerts,
  ...keys,
  ...users,
  ...sessions,
  ...databases,
};
