// Every resource and operation.

import { operations as alerts } from './alerts/operations.ts';
import { operations as business } from './business/operations.ts';
import { operations as changes } from './changes/operations.ts';
import { operations as databases } from './databases/operations.ts';
import { operations as keys } from './keys/operations.ts';
import type { All } from './operation.ts';
import { operations as sessions } from './sessions/operations.ts';
import { operations as sites } from './sites/operations.ts';
import { operations as tokens } from './tokens/operations.ts';
import { operations as usage } from './usage/operations.ts';
import { operations as users } from './users/operations.ts';

/** Every resource, in the order of the OpenAPI description. The routes (app.ts) and the descriptions (descriptions.ts) must be of these. */
export const RESOURCES = { usage, sites, tokens, business, changes, alerts, keys, users, sessions, databases };
export type ResourceName = keyof typeof RESOURCES;

export const OPERATIONS = Object.assign({}, ...Object.values(RESOURCES)) as All<(typeof RESOURCES)[ResourceName]>;
