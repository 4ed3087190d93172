// Who may do what: the oracle of permissions, from which the simulator's model, the matrix and the expectations in test/routes.ts follow.
import { business } from './business.ts';
import { type Caller, KEY_ROLES, OPERATORS, OWNERS, ROLES } from './callers.ts';
import { changes } from './changes.ts';
import { keys } from './keys.ts';
import { lists } from './lists.ts';
import type { Rule } from './rule.ts';
import { usage } from './usage.ts';
import { users } from './users.ts';

export const RULES = { ...usage, ...business, ...changes, ...keys, ...lists, ...users };
export type Operation = keyof typeof RULES;
export const OPERATIONS = Object.keys(RULES) as Operation[];

export const ruleOf = (operation: Operation): Rule => RULES[operation];
/** Reads without input, and their paths. */
export const READS = OPERATIONS.flatMap((operation): [Operation, `/${string}`][] => {
  const { on, query } = ruleOf(operation);
  const [route = '', ...others] = Object.keys(on);
  const isRead = route.startsWith('GET ') && others.length === 0 && query === undefined;
  return isRead ? [[operation, route.slice('GET '.length) as `/${string}`]] : [];
});
const whoMay = Object.fromEntries(
  OPERATIONS.map((operation) => [operation, ruleOf(operation).who.split(' ')]),
) as Record<Operation, string[]>;

/** Whether a request that may have been carried out can be sent again. */
export function isRepeatable(operation: Operation, hasKey: boolean): boolean {
  const { retry } = ruleOf(operation);
  return retry === 'always' || (retry === 'with_key' && hasKey);
}
export const mayWhileInactive = (operation: Operation): boolean => ruleOf(operation).inactive;

/** Whether the user in the path must be the key's, and the key be for all of the user's businesses. */
export const isOfKeys = (operation: Operation): boolean => ruleOf(operation).who.startsWith(OWNERS);

export const may = (caller: Caller, operation: Operation): boolean => whoMay[operation].includes(caller);

/** Why this kind of caller may not do this, or null. In the order of docs/api.md, "Errors". */
export function refusalOf(caller: Caller, operation: Operation): [code: string, message: string] | null {
  if (may(caller, operation)) return null;
  const { does } = ruleOf(operation);
  const isOperator = Object.values(OPERATORS).some((one) => one === caller);
  const isOnly = (...callers: string[]) => whoMay[operation].every((other) => callers.includes(other));
  if (isOnly(...Object.values(OPERATORS)) && !isOperator) return ['operator_only', `Only the operator can ${does}.`];
  if (isOnly('session', 'read_session', 'key_session')) return ['session_only', `Only a session key can ${does}.`];
  if (isOperator && !may('operator', operation))
    return ['operator_not_allowed', `An operator key cannot ${does}. Use an API key.`];
  if (caller === 'token') return ['token_not_allowed', `A business token cannot ${does}. Use an API key.`];
  const isSession = ['session', 'read_session', 'key_session'].includes(caller);
  if (isSession && !may('session', operation))
    return ['session_not_allowed', `A session key cannot ${does}. Use an API key.`];
  const role = KEY_ROLES.find((one) => one === caller || ROLES[one].session === caller || OPERATORS[one] === caller);
  if (role === undefined) throw new Error(`${caller} has no role`);
  return [`${role}_only_key`, `This ${isOperator ? 'operator' : 'API'} key can only ${ROLES[role].only}.`];
}
