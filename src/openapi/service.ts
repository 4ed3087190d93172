// The responses of the service to errors, for the description.
import * as z from 'zod/mini';
import { usedKeyRule } from '../core/conflict.ts';
import { MAX_COUNT } from '../core/limits.ts';
import { namesBusiness, type Operation, POLICY, type Refusal } from '../core/policy.ts';
import * as errors from '../http/errors.ts';
import {
  alertsQuery,
  allAlertsQuery,
  businessUpdateBody,
  changesQuery,
  consoleLinkBody,
  deletionQuery,
  FIRST_RULE,
  historyBody,
  LAST_RULE,
  NO_BODY_RULE,
  NO_KEY_RULE,
  newBusinessBody,
  newKeyBody,
  quantityBody,
  rangeQuery,
  rotationBody,
  sitesBody,
  totalsQuery,
  usesBody,
} from '../wire/requests.ts';

/** `when` says for a 404 which id is of nothing. */
export type Refused = { status: number; body: object; when?: string };

function denial(refusal: Refusal, operation: Operation): Refused {
  const { allowsKey, allowsToken } = POLICY[operation];
  const kind = allowsToken ? 'token' : allowsKey ? 'key' : 'operator';
  return errors.denied(refusal, { operation, origin: 'https://evil.example', credential: { kind } });
}

const invalid = (field: string, problem: string) => errors.invalid({ [field]: [`${field} ${problem}`] });

/** How input is refused that does not match its schema. */
function mismatch(schema: z.ZodMiniType, input: unknown): Refused {
  const issue = z.safeParse(schema, input).error?.issues[0];
  if (issue === undefined) throw new Error(`this example of invalid input is valid: ${JSON.stringify(input)}`);
  return invalid(issue.path.join('.') || 'body', issue.message);
}

/** How calls of an operation are refused because of what its policy says. */
export function denials(operation: Operation): Record<string, Refused> {
  const { allowsKey, allowsToken, allowsOperator, session, allowsInactive, allowsRecordKey, writes } =
    POLICY[operation];
  const reasons: Refusal[] = ['operator_key_in_page'];
  if (!allowsKey) reasons.push('operator_only');
  else if (session === 'only') reasons.push('session_only');
  else reasons.push(allowsToken ? 'origin_missing' : 'token_not_allowed');
  if (namesBusiness(operation)) reasons.push('unknown_business');
  if (allowsKey && namesBusiness(operation)) reasons.push('origin_not_authorized');
  if (session === 'none') reasons.push('session_not_allowed');
  if (session !== 'only' && !allowsOperator) reasons.push('operator_not_allowed');
  if (allowsKey && writes) reasons.push('read_only_key');
  if (!allowsRecordKey && session !== 'only') reasons.push('record_only_key');
  if (!allowsInactive) reasons.push('inactive_business');
  const others = reasons.map((reason) => [reason, denial(reason, operation)] as const);
  return {
    unauthenticated: new errors.Unauthenticated('unknown'),
    ...Object.fromEntries(others),
    ...(POLICY[operation].repeatable ? {} : { useless_key: invalid('Idempotency-Key', NO_KEY_RULE) }),
  };
}

// The other refusals, by the operations that have them: all, all but the public one, those that read a body, and one each.
const NO_PARAMETERS = 'is not a parameter of this operation: it takes none';
export const NO_PARAMETER = { unknown_parameter: invalid('verbose', NO_PARAMETERS) };
export const PUBLIC = { too_many: errors.tooMany(), server_error: errors.SERVER_ERROR };
export const FAILURES = { ...PUBLIC, unavailable: errors.unavailable() };
export const NO_BODY = { unexpected_body: invalid('body', NO_BODY_RULE) };
export const BROKEN_BODY = { broken_body: errors.brokenBody(), too_large: errors.tooLarge() };
export const INVALID_RANGE = {
  unknown_parameter: invalid('form', 'is not a parameter of this report: it takes from and to'),
  invalid_day: mismatch(rangeQuery.schema, { from: 'yesterday' }),
  invalid_order: invalid('from', 'must not be after to (2026-03-01)'),
};
export const LIMIT_REACHED = {
  limit_reached: errors.limitReached({ limit: 1000, period: 'day', left: 0 }, 43_200),
  limit_left: errors.limitReached({ limit: 1000, period: 'day', left: 300 }, 43_200),
};
export const INVALID_TOTALS = {
  invalid_day: mismatch(totalsQuery.schema, { from: 'yesterday' }),
  invalid_limit: mismatch(totalsQuery.schema, { limit: '1001' }),
  too_many_uses: invalid(
    'from',
    `must be later: from 2021-01-01 to 2026-01-04, business 1 has more than ${MAX_COUNT} uses`,
  ),
};
export const INVALID_CHANGES = {
  invalid_action: mismatch(changesQuery.schema, { action: 'delete' }),
  invalid_limit: mismatch(changesQuery.schema, { limit: '0' }),
  invalid_order: invalid('from', 'must not be after to (2026-03-01)'),
};
export const INVALID_PAGE = { invalid_limit: mismatch(alertsQuery.schema, { limit: '0' }) };
export const INVALID_ALL_ALERTS = {
  ...INVALID_PAGE,
  invalid_cursor: mismatch(allAlertsQuery.schema, { cursor: '-1' }),
};
export const INVALID_ROTATION = {
  invalid_body: mismatch(rotationBody, { keep: '24h' }),
  unknown_parameter: invalid('keep_old', NO_PARAMETERS),
};
export const INVALID_USES = {
  invalid_id: mismatch(usesBody, { uses: [{ id: 'order 1' }] }),
  invalid_body: mismatch(usesBody, { use: 'order-1' }),
  invalid_quantity: mismatch(quantityBody, { quantity: 0 }),
};
export const INVALID_SITES = {
  invalid_site: mismatch(sitesBody, { sites: ['shop.example'] }),
  invalid_list: mismatch(sitesBody, { sites: [] }),
  sender_shut_out: invalid('sites', FIRST_RULE),
};
export const INVALID_BUSINESS = {
  invalid_body: mismatch(newBusinessBody, []),
  token_taken: invalid('token', 'must be one that no business has or had'),
  id_taken: invalid('id', 'must be greater than 41, the last id of its database'),
  key_used: invalid('Idempotency-Key', usedKeyRule(3)),
};
export const INVALID_UPDATE = {
  invalid_body: mismatch(businessUpdateBody, {}),
  invalid_status: mismatch(businessUpdateBody, { status: 'Active' }),
};
export const INVALID_HISTORY = {
  invalid_day: mismatch(historyBody, { days: [{ date: '2026-02-30', count: 1 }] }),
  day_taken: errors.invalid({
    'days.0': ['days.0 2026-01-31 already has the count 5: send "replace": true to overwrite it'],
  }),
};
export const NOT_DELETED = {
  ...NO_BODY,
  no_name: mismatch(deletionQuery.schema, {}),
};
const unknown = (name: Parameters<typeof errors.unknownEntry>[0], when: string): Refused => {
  const { status, body } = errors.unknownEntry(name);
  return { status, body, when };
};
export const UNKNOWN_USER = { unknown_user: unknown('User id', '`user_id` is not an id') };
export const UNKNOWN_KEY = { ...UNKNOWN_USER, unknown_key: unknown('Key id', 'the user has no API key `key_id`') };
export const NOTHING_TO_OPEN = {
  unknown_user: unknown(
    'User id',
    '`user_id` is not an id, or the user has neither a business nor an API key that works',
  ),
};
export const INVALID_KEY = {
  invalid_role: mismatch(newKeyBody, { role: 'owner' }),
  invalid_business: invalid('business_id', 'must be a business of user 7'),
};
export const INVALID_LINK = {
  invalid_minutes: mismatch(consoleLinkBody, { minutes: 0 }),
  invalid_business: invalid('business_id', 'must be a business of user 7'),
};
export const NOT_LIFTED = { ...NO_BODY, unknown_parameter: invalid('access_id', NO_PARAMETERS) };
export const NOT_REMOVED = {
  ...NO_BODY,
  unknown_entry: unknown('Access id', 'the business has no entry `access_id`'),
  last_domain: invalid('access_id', LAST_RULE),
};
