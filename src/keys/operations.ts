// A user's API keys.
import * as z from 'zod/mini';
import { CHANGERS, ROLES, reading } from '../core/policy.ts';
import { choices, dayOr, line, positiveInteger, strict } from '../input.ts';
import { define } from '../operation.ts';
import { EXPIRY_RULE, newKeyErrors } from './rules.ts';

const ROLE_RULE = `must be ${choices.format(ROLES)}`;
export const newKeyBody = strict(
  {
    name: z.optional(line),
    business_id: z.optional(positiveInteger),
    role: z.optional(z.enum(ROLES, ROLE_RULE)),
    expires_on: z.optional(dayOr(EXPIRY_RULE)),
  },
  'must be empty, or a JSON object such as {"name":"Billing server","role":"record"}',
);

/** A session may manage keys only if its console link said so: a copied session key could otherwise create one that outlives it. */
const OWNERS = { ...CHANGERS, session: 'can_create_keys', whileInactive: true } as const;

export const operations = define({
  listKeys: { ...reading(OWNERS), route: 'GET /user/:user_id/keys', name: 'list_keys', does: 'list API keys' },
  createKey: {
    ...OWNERS,
    route: 'POST /user/:user_id/keys',
    name: 'create_key',
    does: 'create API keys',
    retry: 'never',
    body: z.optional(newKeyBody),
    check: newKeyErrors,
  },
  revokeKey: {
    ...OWNERS,
    retry: 'always',
    route: 'DELETE /user/:user_id/keys/:key_id',
    name: 'revoke_key',
    does: 'revoke API keys',
  },
});
