// A user's API keys.
import * as z from 'zod/mini';
import { OPERATOR, ROLES, reading } from '../core/policy.ts';
import { choices, dayOr, line, positiveInteger, strict } from '../input.ts';
import { define } from '../operation.ts';
import { EXPIRY_RULE, expiryErrors } from './rules.ts';

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

export const operations = define({
  listKeys: { ...reading(OPERATOR), route: 'GET /user/:user_id/keys', name: 'list_keys', does: 'list API keys' },
  createKey: {
    ...OPERATOR,
    route: 'POST /user/:user_id/keys',
    name: 'create_key',
    does: 'create API keys',
    retry: 'never',
    body: z.optional(newKeyBody),
    check: expiryErrors,
  },
  revokeKey: {
    ...OPERATOR,
    retry: 'always',
    route: 'DELETE /user/:user_id/keys/:key_id',
    name: 'revoke_key',
    does: 'revoke API keys',
  },
});
