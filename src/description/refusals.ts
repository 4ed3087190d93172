// Derives an operation's refusals from its rules and schemas.
import * as z from 'zod/mini';
import { errorOf } from '../core/field-errors.ts';
import {
  allowsKeys,
  allowsOperators,
  LINK_ROLES,
  NARROW_ROLES,
  OPERATOR_ROLES,
  type Refusal,
  type Role,
  type Rule,
} from '../core/policy.ts';
import * as errors from '../http/errors.ts';
import { groupIssuesByField } from '../http/input.ts';
import { NO_BODY_RULE, NO_KEY_RULE, type Query, unknownRule } from '../input.ts';
import type { Operation } from '../operation.ts';

/** For a 404, `when` states which id does not exist. */
export type Refused = { status: number; body: object; when?: string };

function refusalOf(refusal: Refusal, rule: Rule): Refused {
  const kind = rule.token ? 'token' : allowsKeys(rule) ? 'key' : 'operator';
  const { status, body } = errors.refusedCall(refusal, {
    ...{ rule, origin: 'https://evil.example' },
    credential: { kind },
  });
  return {
    status,
    body,
    ...(refusal === 'unknown_user' && { when: '`user_id` is not an id, or not the user of the API key' }),
  };
}

/** Returns the refusal for an invalid field. `problem` completes a sentence that starts with the field's name. */
export const invalidField = (field: string, problem: string) => errors.inputError(errorOf(field, problem));

/** Returns the refusal for invalid input. Throws if the input is valid. */
export function invalidInput(schema: z.ZodMiniType, input: unknown): Refused {
  const { error } = z.safeParse(schema, input);
  if (error === undefined) throw new Error(`this example of invalid input is valid: ${JSON.stringify(input)}`);
  return errors.inputError(groupIssuesByField(error.issues, input));
}

/** Returns the refusals that a rule implies. The operation's path says whether it names a business or a user. */
export function refusalsOf(
  rule: Rule,
  { namesBusiness, namesUser }: Pick<Operation, 'namesBusiness' | 'namesUser'>,
): Record<string, Refused> {
  const { token, keys, session, operators, whileInactive, retry } = rule;
  const reasons: Refusal[] = ['operator_key_in_page'];
  if (!allowsKeys(rule)) reasons.push('operator_only');
  else if (session === 'only') reasons.push('session_only');
  else reasons.push(token ? 'origin_missing' : 'token_not_allowed');
  if (namesBusiness) reasons.push('unknown_business');
  if (allowsKeys(rule) && namesBusiness) reasons.push('origin_not_authorized');
  if (allowsKeys(rule) && namesUser) reasons.push('unknown_user', 'narrow_key');
  if (session === 'none' || session === 'can_create_keys') reasons.push('session_not_allowed');
  if (session !== 'only' && !allowsOperators(rule)) reasons.push('operator_not_allowed');
  const isRefused = (role: Role) =>
    allowsKeys(rule)
      ? !keys.includes(role)
      : OPERATOR_ROLES.some((one) => one === role) && !operators.some((one) => one === role);
  for (const role of NARROW_ROLES) {
    const canBeSent = session !== 'only' || (LINK_ROLES as readonly Role[]).includes(role);
    if (isRefused(role) && canBeSent) reasons.push(`${role}_only_key`);
  }
  if (!whileInactive) reasons.push('inactive_business');
  const others = reasons.map((reason) => [reason, refusalOf(reason, rule)] as const);
  return {
    unauthenticated: new errors.Unauthenticated('unknown'),
    ...Object.fromEntries(others),
    ...(retry !== 'never' ? {} : { useless_key: invalidField('Idempotency-Key', NO_KEY_RULE) }),
  };
}

/** Returns the refusal for an unknown parameter. */
export const unknownParameter = ({ name, schema, operatorOnly = [] }: Query, sent = 'verbose') => {
  const known = Object.keys(schema.shape).filter((parameter) => !operatorOnly.includes(parameter));
  return { unknown_parameter: invalidField(sent, unknownRule('parameter', name, known)) };
};

/** Failures of operations that use no database. FAILURES adds database failures. */
export const PUBLIC = { too_many: errors.tooMany(), server_error: errors.SERVER_ERROR };
export const FAILURES = { ...PUBLIC, unavailable: errors.unavailable() };
export const NO_BODY = { unexpected_body: invalidField('body', NO_BODY_RULE) };
export const BROKEN_BODY = {
  broken_body: errors.brokenBody(),
  too_large: errors.tooLarge(),
  compressed_body: errors.compressedBody(),
};

/** Returns a 404. `when` states which id does not exist. */
export function unknown(name: Parameters<typeof errors.unknownId>[0], when: string): Refused {
  const { status, body } = errors.unknownId(name);
  return { status, body, when };
}

export const UNKNOWN_USER = unknown('User id', '`user_id` is not an id');
