// A user's API keys.
import * as z from 'zod/mini';
import { errorOf, type FieldErrors } from '../core/field-errors.ts';
import { CHANGERS, OWN_ROLES, ROLES, reading } from '../core/policy.ts';
import { dayOf } from '../core/time.ts';
import { choices, dayOr, label, line, positiveInteger, strict } from '../input.ts';
import { type Circumstances, define } from '../operation.ts';

const EXPIRY_RULE = 'must be today or a later date, in the format YYYY-MM-DD';
const ROLE_RULE = `must be ${choices.format(ROLES)}`;
export const OWN_ROLE_RULE = `must be ${choices.format(OWN_ROLES)}: only the operator can create a key with full access`;
const LABEL_RULE = 'can be sent only with business_id, and not with the role read';
export const newKeyBody = strict(
  {
    name: z.optional(line),
    business_id: z.optional(positiveInteger),
    label: z.optional(label),
    role: z.optional(z.enum(ROLES, ROLE_RULE)),
    expires_on: z.optional(dayOr(EXPIRY_RULE)),
  },
  'must be empty, or a JSON object such as {"name":"Billing server","role":"record"}',
);

type Given = { [Name in keyof z.output<typeof newKeyBody>]?: z.output<typeof newKeyBody>[Name] | undefined };
/** Returns the errors of an expiry in the past, of a role that only the operator can give, and of a label that no use could have. */
const newKeyErrors = (
  { business_id, label, expires_on, role }: Given,
  { now, isOperator }: Circumstances,
  { body, business_id: ofBusiness }: FieldErrors,
): FieldErrors => ({
  ...(expires_on !== undefined && expires_on < dayOf(now) ? errorOf('expires_on', EXPIRY_RULE) : {}),
  ...(isOperator || body || (role && OWN_ROLES.includes(role)) ? {} : errorOf('role', OWN_ROLE_RULE)),
  ...(label !== undefined && ((!business_id && !ofBusiness) || role === 'read') ? errorOf('label', LABEL_RULE) : {}),
});

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
