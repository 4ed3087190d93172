// The description of every operation, from which the OpenAPI description and the operator's commands follow. It is no part of the Worker.
import { descriptions as alerts } from './alerts/description.ts';
import { descriptions as business } from './business/description.ts';
import { descriptions as changes } from './changes/description.ts';
import { descriptions as databases } from './databases/description.ts';
import type { DescriptionsOf } from './description/paths.ts';
import { descriptions as keys } from './keys/description.ts';
import type { OPERATIONS } from './operations.ts';
import { descriptions as sessions } from './sessions/description.ts';
import { descriptions as sites } from './sites/description.ts';
import { descriptions as tokens } from './tokens/description.ts';
import { descriptions as usage } from './usage/description.ts';
import { descriptions as users } from './users/description.ts';

export const DESCRIPTIONS: DescriptionsOf<typeof OPERATIONS> = {
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
