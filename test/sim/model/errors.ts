// Every error of a request's input (docs/api.md, "Errors"): of its Idempotency-Key, its parameters, its body, and of what depends on more
// than one value or on the time. Each of the last kind concerns only values that are right so far.
import { overageError } from './business.ts';
import type { Call } from './call.ts';
import { OWN_ROLES } from './callers.ts';
import {
  checkQuery,
  type Errors,
  EXPIRY,
  either,
  idIn,
  instantOf,
  isObject,
  LIMITS,
  NO_PARAMETERS,
  sharedSite,
} from './input.ts';
import type { Rule } from './rule.ts';
import { dayOf, midnight, plusDays } from './time.ts';

export type Sent = { json: unknown } | { problem: string };
/** Returns all errors of a request. `isEmpty` is about the body. */
export function errorsOf(call: Call, rule: Rule, sent: Sent, isEmpty: boolean, method: string): Errors {
  const { query, operator } = call;
  const isRead = method === 'GET' || method === 'HEAD';
  const errors: Errors = {
    ...keyErrors(call, rule),
    ...checkQuery(query, rule.query ?? NO_PARAMETERS, { isOperator: operator !== null, isRead }),
    ...(isRead || call.code !== null ? {} : bodyErrors(rule, sent, isEmpty, method)),
  };
  return { ...errors, ...laterErrors(call, errors) };
}

function keyErrors({ operation, headers }: Call, { retry }: Rule): Errors {
  const header = headers['Idempotency-Key'];
  const error = (text: string) => ({ 'Idempotency-Key': [`Idempotency-Key ${text}`] });
  if (header === undefined) return {};
  if (operation === 'record_uses') return error('must not be sent with a list of uses: each use has its own id');
  if (retry === 'never') return error('must not be sent: this operation cannot detect a repeated request');
  if (retry === 'always') return {};
  const found = idIn(header);
  return 'problem' in found ? error(found.problem) : {};
}

function bodyErrors({ body }: Rule, sent: Sent, isEmpty: boolean, method: string): Errors {
  const [check, mayBeEmpty] = (method === 'DELETE' ? undefined : body) ?? [];
  if (check === undefined) return isEmpty ? {} : { body: ['body must be empty: this operation takes no body'] };
  if (isEmpty && mayBeEmpty) return {};
  if ('problem' in sent) return { body: [`body ${sent.problem}`] };
  return isEmpty ? { body: ['body must be valid JSON'] } : check(sent.json, '');
}

function laterErrors(call: Call, errors: Errors): Errors {
  const { operation, query, json, now } = call;
  const today = dayOf(now);
  const later: Errors = {};
  const add = (field: string, rule: string) => {
    later[field] = [`${field} ${rule}`];
  };
  const isWrong = (...fields: string[]) => fields.some((field) => errors[field] !== undefined);
  const body = isObject(json) && !isWrong('body') ? json : {};
  const listed = (name: string) => {
    const list = body[name];
    if (!Array.isArray(list) || isWrong(name)) return [];
    return [...list.entries()].filter(([index]) => !isWrong(`${name}.${index}`));
  };
  const addOverage = () => {
    if (body.page_overage === true && body.overage === null) Object.assign(later, overageError(true));
  };
  const rangeIsRight = !isWrong('from', 'to');
  switch (operation) {
    case 'read_usage':
    case 'read_sources':
    case 'read_refusals':
    case 'read_all_usage':
    case 'read_ended': {
      const ended = query.get('ended');
      if (ended !== null && !isWrong('ended')) {
        for (const name of ['from', 'to'])
          if (query.has(name) && !isWrong(name)) add(name, 'must not be combined with ended');
        if (ended >= today) add('ended', `must be a date before today (${today}, UTC)`);
      } else if (ended === null && rangeIsRight) {
        const problem = rangeProblem(query, today, query.has('by') && !isWrong('by') ? 92 : MAX_RANGE_DAYS);
        if (problem !== null) add('from', problem);
      }
      if (query.has('by') && query.has('source') && !isWrong('by', 'source'))
        add('source', 'must not be combined with by');
      break;
    }
    case 'read_changes': {
      const [from, to] = [query.get('from'), query.get('to')];
      if (rangeIsRight && from !== null && to !== null && from > to) add('from', `must not be after to (${to})`);
      break;
    }
    case 'record_use':
    case 'record_quantity': {
      const { at } = body;
      if (typeof at !== 'string' || isWrong('at')) break;
      const problem = timeProblem(at, call);
      if (problem !== null) add('at', problem);
      if (call.headers['Idempotency-Key'] === undefined)
        later.at = [
          ...(later.at ?? []),
          'at must not be sent without an Idempotency-Key, because a repetition could not be recognized',
        ];
      break;
    }
    case 'record_uses':
      for (const [index, { at }] of listed('uses')) {
        const problem = at === undefined || isWrong(`uses.${index}.at`) ? null : timeProblem(at, call);
        if (problem !== null) add(`uses.${index}.at`, problem);
      }
      break;
    case 'lower_uses': {
      const known = listed('uses').filter(([index]) => !isWrong(`uses.${index}.id`));
      for (const [index, { id }] of known) {
        const [first] = known.find(([, other]) => other.id === id) ?? [index];
        if (first < index) add(`uses.${index}.id`, `must not repeat uses.${first}`);
      }
      break;
    }
    case 'import_history': {
      // Without other errors, these are found together with the days that already have counts.
      if (Object.keys(errors).length === 0) break;
      const known = listed('days').filter(([index]) => !isWrong(`days.${index}.date`));
      for (const [index, { date }] of known) Object.assign(later, dayError(known, index, date, today));
      break;
    }
    case 'update_business': {
      addOverage();
      const { limits_from: from, ...others } = body;
      if (from === undefined || isWrong('limits_from')) break;
      const names = Object.keys(others).filter((name) => others[name] !== undefined && !isWrong(name));
      const wrong = names.filter(
        (name) => !LIMITS.some((limit) => limit === name) && !(name === 'billing_day' && from === 'next_month'),
      );
      if (from === null) {
        if (names.length > 0)
          add('limits_from', 'must be the only field if it is null, which cancels the pending change');
      } else if (from !== 'next_month' && `${from}` < today)
        add('limits_from', `must be next_month, or today or a later date: today is ${today}`);
      else if (names.length === 0) add('limits_from', 'must be sent with at least one limit');
      for (const name of from !== null && later.limits_from === undefined ? wrong : [])
        add(
          name,
          'must not be sent with limits_from, which only limits can accompany, and billing_day if it is next_month',
        );
      break;
    }
    case 'add_extra':
      if (call.headers['Idempotency-Key'] === undefined)
        add('Idempotency-Key', 'must be sent, so that a retry adds nothing');
      break;
    case 'change_access':
    case 'create_business':
      addOverage();
      for (const [index, site] of listed('sites')) Object.assign(later, sharedSite(site, index));
      break;
    case 'create_key':
      if (typeof body.expires_on === 'string' && !isWrong('expires_on') && body.expires_on < today)
        add('expires_on', EXPIRY);
      if (call.operator === null && !isWrong('body') && !OWN_ROLES.some((role) => role === body.role))
        add('role', `must be ${either(OWN_ROLES)}: only the operator can create a key with full access`);
      if (body.label !== undefined && !isWrong('label'))
        if ((body.business_id === undefined && !isWrong('business_id')) || (body.role === 'read' && !isWrong('role')))
          add('label', 'can be sent only with business_id, and not with the role read');
      break;
    case 'create_console_link':
      if (body.can_create_keys === true && !isWrong('can_create_keys'))
        if ((body.business_id !== undefined && !isWrong('business_id')) || (body.role === 'read' && !isWrong('role')))
          add('can_create_keys', 'can be true only with full access to all businesses, without business_id');
      break;
  }
  return later;
}

const MAX_RANGE_DAYS = 1830;
function rangeProblem(query: URLSearchParams, today: string, mostDays: number): string | null {
  const sent = query.get('to');
  const to = sent ?? today;
  const from = query.get('from') ?? plusDays(to, -29);
  const end = `to (${to}${sent === null ? ', today' : ''})`;
  if (from > to) return `must not be after ${end}`;
  const days = (midnight(to) - midnight(from)) / 86_400_000 + 1;
  return days > mostDays ? `must be at most ${mostDays - 1} days before ${end}` : null;
}

/** Why a use at this time cannot be recorded now. Null if it can. */
function timeProblem(at: string, { now, caller }: Call): string | null {
  const ms = instantOf(at) ?? Number.NaN;
  const [days, age] = caller === 'token' ? [1, '24 hours'] : [35, '35 days'];
  const [earliest, latest] = [now - days * 86_400_000, now + 5 * 60_000];
  if (ms < earliest) return `must be at most ${age} in the past: ${new Date(earliest).toISOString()} or later`;
  return ms > latest ? `must be at most 5 minutes in the future: ${new Date(latest).toISOString()} or earlier` : null;
}

/** The error of a day that cannot be imported, whatever is stored. */
export function dayError(
  days: [index: number, day: { date: string }][],
  index: number,
  date: string,
  today: string,
): Errors {
  const field = `days.${index}.date`;
  const [first] = days.find(([, other]) => other.date === date) ?? [index];
  if (date >= today) return { [field]: [`${field} must be a date before today (${today}, UTC)`] };
  return first < index ? { [field]: [`${field} must not repeat days.${first}`] } : {};
}
