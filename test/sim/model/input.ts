// What callers may send, and the errors for the rest (docs/api.md). A check returns the errors of a value by field.
import { KEY_ROLES } from './callers.ts';
import { BAD_SITES, SHARED_SITES, storedFor } from './sites.ts';
import { isDay } from './time.ts';

export type Errors = Record<string, string[]>;
export type Check = (value: unknown, path: string) => Errors;

const wrong = (path: string, value: unknown, rule: string): Errors => {
  const field = path === '' ? 'body' : path;
  return { [field]: [`${field} ${value === undefined && path !== '' ? 'is required, and ' : ''}${rule}`] };
};
/** Values for which `isRight` holds. */
const rule =
  (isRight: (value: unknown) => boolean, text: string): Check =>
  (value, path) =>
    isRight(value) ? {} : wrong(path, value, text);
const optional =
  (check: Check): Check =>
  (value, path) =>
    value === undefined ? {} : check(value, path);
const nullable =
  (check: Check): Check =>
  (value, path) =>
    value === null ? {} : check(value, path);
const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
const integer = (least: number, most: number, text: string) => rule((value) => isWhole(value, least, most), text);
const oneOf = (texts: readonly string[], text: string) => rule((value) => texts.includes(value as string), text);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const list = (names: string[]) => new Intl.ListFormat('en').format(names);
export const either = (names: string[]) => new Intl.ListFormat('en', { type: 'disjunction' }).format(names);

/** An object with these members and no others. */
const object =
  (members: Record<string, Check>, text: string): Check =>
  (value, path) => {
    if (!isObject(value)) return wrong(path, value, text);
    const at = (name: string) => (path === '' ? name : `${path}.${name}`);
    const errors: Errors = {};
    for (const [name, check] of Object.entries(members)) Object.assign(errors, check(value[name], at(name)));
    for (const unknown of Object.keys(value).filter((name) => !(name in members))) {
      const field = at(unknown);
      errors[field] = [`${field} is not a member of this object, which accepts ${list(Object.keys(members))}`];
    }
    return errors;
  };
const listOf =
  (entry: Check, most: number, text: string): Check =>
  (value, path) => {
    if (!Array.isArray(value) || value.length < 1 || value.length > most) return wrong(path, value, text);
    return Object.assign({}, ...value.map((each, index) => entry(each, `${path}.${index}`)));
  };

const MAX = Number.MAX_SAFE_INTEGER;
const DAY = 'must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD';
/** A line of at most `most` characters without the spaces around it, which are not stored. */
const lineOf = (most: number): Check =>
  rule(
    (value) => typeof value === 'string' && isLine(value.trim(), most),
    `must be one line of 1 to ${most} characters with visible text, and without control characters or direction overrides`,
  );
const isLine = (text: string, most: number) =>
  text.length <= most &&
  /[^\s\u200b\u2800]/.test(text) &&
  !/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(text);
const line = lineOf(255);
const NUMBER = 'must be a positive whole number, such as 7';
const number = integer(1, MAX, NUMBER);
const url = rule(
  (value) =>
    typeof value === 'string' && value.length <= 2048 && /^https?:\/\/[^\s]+$/.test(value) && URL.canParse(value),
  'must be an http or https URL of at most 2048 characters',
);
const site: Check = (value, path) => {
  if (typeof value !== 'string') return wrong(path, value, 'must be a string, such as https://example.com');
  if (storedFor(value) !== undefined || value in SHARED_SITES) return {};
  const problem = BAD_SITES[value];
  if (problem === undefined) throw new Error(`the model does not know the site ${value}`);
  return wrong(path, value, problem);
};
const sites = listOf(site, 100, 'must be a list of 1 to 100 URLs, such as ["https://example.com"]');
const MAX_LIMIT = 1_000_000_000_000;
const limit = optional(
  nullable(integer(0, MAX_LIMIT, `must be a whole number from 0 to ${MAX_LIMIT}, or null for no limit`)),
);
const ALERT_AT = 'must be a list of 1 to 5 percentages in ascending order, such as [50,80,100]';
const percentages = listOf(integer(1, 1000, 'must be a whole percentage from 1 to 1000, such as 80'), 5, ALERT_AT);
const alert_at: Check = (value, path) => {
  const errors = percentages(value, path);
  if (Object.keys(errors).length > 0) return errors;
  const isAscending = (value as number[]).every((each, index, all) => index === 0 || each > Number(all[index - 1]));
  return isAscending ? {} : wrong(path, value, ALERT_AT);
};
const fields = { user_id: number, name: line, main_domain: line, site: url, country_id: number, business_size: line };
const limits = {
  daily_limit: limit,
  monthly_limit: limit,
  billing_day: optional(integer(1, 28, 'must be a day of the month from 1 to 28')),
  overage: optional(
    nullable(integer(0, MAX_LIMIT, `must be a whole number from 0 to ${MAX_LIMIT}, or null for unlimited overage`)),
  ),
  page_overage: optional(rule((value) => typeof value === 'boolean', 'must be true or false')),
  alert_at: optional(alert_at),
};
/** What a change can give with `limits_from`. */
export const LIMITS = ['daily_limit', 'monthly_limit', 'overage', 'page_overage', 'alert_at'] as const;
/** What a new business has if the request does not say otherwise. */
export const DEFAULTS = {
  daily_limit: null as number | null,
  monthly_limit: null as number | null,
  overage: 0 as number | null,
  page_overage: false,
  alert_at: null as number[] | null,
  billing_day: 1,
};
const isImportedToken = (text: string): boolean => /^[A-Za-z0-9._~+/=-]{24,255}$/.test(text) && !/^bua_/i.test(text);

export const newBusiness = object(
  {
    ...fields,
    token: optional(
      rule(
        (value) => typeof value === 'string' && isImportedToken(value),
        'must be 24 to 255 characters from A-Z a-z 0-9 . _ ~ + / = - and must not start with bua_ in upper or lower case',
      ),
    ),
    sites: optional(sites),
    ...limits,
    database: optional(integer(0, 61, 'must be the number of a database: 0 for DB, 1 for DB_1, up to 61')),
    id: optional(number),
  },
  'must be a JSON object, such as {"user_id":7,"name":"Acme","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small"}',
);

const NO_FIELD = 'must be a JSON object with at least one field to change, such as {"status":"suspended"}';
const anyUpdate = object(
  {
    ...Object.fromEntries(Object.entries(fields).map(([name, check]) => [name, optional(check)])),
    status: optional(oneOf(['active', 'suspended', 'closed'], 'must be active, suspended or closed')),
    ...limits,
    limits_from: optional(
      nullable(
        rule(
          (value) => value === 'next_month' || (typeof value === 'string' && isDay(value)),
          'must be next_month, a date from today on in the format YYYY-MM-DD, or null, which cancels the pending change',
        ),
      ),
    ),
  },
  NO_FIELD,
);
export const update: Check = (value, path) =>
  value !== null && Object.keys(Object(value)).length > 0 ? anyUpdate(value, path) : wrong(path, value, NO_FIELD);

export const extra = object(
  {
    uses(value, path) {
      const isInRange = isWhole(value, -MAX_LIMIT, MAX_LIMIT);
      return isInRange && value !== 0
        ? {}
        : wrong(path, value, isInRange ? 'must not be 0' : `must be a whole number from -${MAX_LIMIT} to ${MAX_LIMIT}`);
    },
    month: oneOf(['this', 'next'], 'must be this or next'),
  },
  'must be a JSON object, such as {"uses":500,"month":"this"}',
);
export const newSites = object({ sites }, 'must be a JSON object, such as {"sites":["https://example.com"]}');
export function sharedSite(text: string, index: number): Errors {
  const problem = SHARED_SITES[text];
  return problem === undefined ? {} : { [`sites.${index}`]: [`sites.${index} ${problem}`] };
}

const historyDay = object(
  { date: rule(isDay, DAY), count: integer(0, MAX, `must be a whole number from 0 to ${MAX}`) },
  'must be an object such as {"date":"2026-01-31","count":120}',
);
const historyDays = listOf(
  historyDay,
  1830,
  'must be a list of 1 to 1830 days, such as [{"date":"2026-01-31","count":120}]',
);
export const history = object(
  {
    days(value, path) {
      const errors = historyDays(value, path);
      if (errors[path] !== undefined) return errors;
      // The total is judged if every day has a text as its date and a possible count, whatever else is wrong with the days.
      const days = value as ({ date?: unknown; count?: unknown } | null)[];
      const counts = days.flatMap((day) =>
        typeof day?.date === 'string' && isWhole(day.count, 0, MAX) ? [day.count] : [],
      );
      const sum = counts.reduce((all, count) => all + BigInt(count), 0n);
      const isOver = counts.length === days.length && sum > MAX;
      return isOver ? { ...errors, ...wrong(path, value, `must have at most ${MAX} uses in total`) } : errors;
    },
    replace: optional(rule((value) => typeof value === 'boolean', 'must be true or false')),
  },
  'must be a JSON object such as {"days":[{"date":"2026-01-31","count":120}]}',
);

const isLabel = (value: unknown) =>
  typeof value === 'string' && /^[ -~]{1,64}$/.test(value) && value.trim() === value && !value.includes('://');
const label = optional(
  rule(isLabel, 'must be 1 to 64 printable ASCII characters, without :// and without spaces at the ends'),
);

export const EXPIRY = 'must be today or a later date, in the format YYYY-MM-DD';
export const newKey = object(
  {
    name: optional(line),
    business_id: optional(number),
    label,
    role: optional(oneOf(KEY_ROLES, `must be ${either(KEY_ROLES)}`)),
    expires_on: optional(rule(isDay, EXPIRY)),
  },
  'must be empty, or a JSON object such as {"name":"Billing server","role":"record"}',
);
const isReturnUrl = (value: unknown) =>
  typeof value === 'string' &&
  value.length <= 2000 &&
  /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/])[^\s@]+$/.test(value);
export const consoleLink = object(
  {
    business_id: optional(number),
    role: optional(oneOf(['full', 'read'], 'must be full or read')),
    minutes: optional(integer(1, 1440, 'must be a whole number from 1 to 1440')),
    return_url: optional(
      nullable(
        rule(
          isReturnUrl,
          'must be an https URL (http only for localhost, 127.0.0.1 and [::1]) of at most 2000 characters, without credentials, spaces or control characters',
        ),
      ),
    ),
    as: optional(lineOf(64)),
    can_create_keys: optional(rule((value) => typeof value === 'boolean', 'must be true or false')),
  },
  'must be empty, or a JSON object such as {"role":"read","minutes":15}',
);
export const rotation = object(
  {
    keep_old: optional(
      rule(
        (value) => typeof value === 'string' && hoursIn(value) !== null,
        'must be a whole number of hours or days, from 1h to 30d, such as 24h',
      ),
    ),
  },
  'must be empty, or a JSON object with keep_old only, such as {"keep_old":"24h"}',
);
/** The hours in 24h or 7d. Null unless they are from 1 hour to 30 days. */
export function hoursIn(text: string): number | null {
  const [, digits, unit] = /^([1-9]\d*)([hd])$/.exec(text) ?? [];
  const hours = Number(digits) * (unit === 'd' ? 24 : 1);
  return digits !== undefined && hours <= 720 ? hours : null;
}

const isId = (value: unknown) => typeof value === 'string' && /^[!-~]{1,255}$/.test(value);
export const ID = 'must be 1 to 255 printable ASCII characters without spaces';
const id = rule(isId, ID);
const MAX_QUANTITY = 1_000_000_000;
const quantity = integer(1, MAX_QUANTITY, `must be a whole number from 1 to ${MAX_QUANTITY}`);
const RECORDING =
  'must be empty for one use, or a JSON object such as {"quantity":350}, {"label":"sms"} or {"uses":[{"id":"order-1"}]}';
const AT =
  'must be an RFC 3339 timestamp of at most 64 characters, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00';
/** Milliseconds since 1970 of an RFC 3339 timestamp, or null. */
export function instantOf(at: string): number | null {
  const parts =
    /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i.exec(at);
  const [, day = '', time = '', fraction = '', zone = 'Z'] = parts ?? [];
  if (at.length > 64 || !isDay(day)) return null;
  const utc = Date.parse(`${day}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}Z`);
  const [hours = 0, minutes = 0] = zone.toUpperCase() === 'Z' ? [] : zone.slice(1).split(':').map(Number);
  return utc - (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
const isInstant = (value: unknown) => typeof value === 'string' && instantOf(value) !== null;
const at = optional(rule(isInstant, AT));
/** One use of a page. */
export const oneUse: Check = (value, path) => {
  if (!isObject(value)) return wrong(path, value, RECORDING);
  const rule = 'is not a member of this object, which accepts at, label, quantity or uses';
  const others = Object.keys(value).filter((name) => name !== 'at');
  return { ...at(value.at, 'at'), ...Object.fromEntries(others.map((unknown) => [unknown, [`${unknown} ${rule}`]])) };
};
export const oneQuantity = object({ quantity: optional(quantity), label, at }, RECORDING);
export const uses = object(
  {
    uses: listOf(
      object({ id, at, quantity: optional(quantity), label }, 'must be an object such as {"id":"order-1"}'),
      1000,
      'must be a list of 1 to 1000 uses, such as [{"id":"order-1","at":"2026-01-31T12:00:00Z"}]',
    ),
  },
  RECORDING,
);
export const lowering = object(
  {
    uses: listOf(
      object(
        { id, quantity: integer(0, MAX_QUANTITY, `must be a whole number from 0 to ${MAX_QUANTITY}`) },
        'must be an object such as {"id":"order-1","quantity":0}',
      ),
      1000,
      'must be a list of 1 to 1000 uses, such as [{"id":"order-1","quantity":0}]',
    ),
  },
  'must be a JSON object such as {"uses":[{"id":"order-1","quantity":0}]}',
);

/** The id in an Idempotency-Key, or the rule that it breaks. */
export function idIn(header: string): { id: string } | { problem: string } {
  if (!header.startsWith('"')) return isId(header) ? { id: header } : { problem: ID };
  const inside = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)?.[1]?.replace(/\\(.)/g, '$1');
  if (inside !== undefined && isId(inside)) return { id: inside };
  return {
    problem: `must be a single quoted string, such as "order-1", if it starts with a quote; the text inside ${ID}`,
  };
}

export type Parameters = {
  /** How the error for an unknown parameter names the operation. */
  of: string;
  rules: Record<string, [isRight: (text: string) => boolean, rule: string]>;
  /** Unknown unless the operator sends them. */
  operatorOnly?: string[];
  /** The parameter that must be sent. */
  required?: string;
};
/** A positive integer, without signs or leading zeros. */
export const idOf = (text: string): number | null =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
const upTo = (most: number) => (text: string) => (idOf(text) ?? most + 1) <= most;
const day: Parameters['rules'][string] = [isDay, DAY];
const pageLimit = (most: number): Parameters['rules'][string] => [
  upTo(most),
  `must be a whole number from 1 to ${most}`,
];
const cursorId: Parameters['rules'][string] = [
  (text) => idOf(text) !== null,
  'must be an id, such as 17, and must appear only once',
];
const userId: Parameters['rules'][string] = [
  (text) => idOf(text) !== null,
  'must be the id of a user, such as 7, and must appear only once',
];
export const ACTIONS = [
  'add_sites',
  'remove_sites',
  'rotate_token',
  'stop_former_tokens',
  'create_business',
  'update_business',
  'add_extra',
  'delete_business',
  'create_key',
  'revoke_key',
  'import_usage',
  'lower_uses',
];
const page = { limit: pageLimit(100), before: cursorId };
export const ALERTS: Parameters = {
  of: 'this list',
  rules: {
    limit: pageLimit(100),
    since: [isInstant, AT],
    cursor: [
      (text) => /^[0-9A-Za-z](\d{4}(-\d\d){2}T\d\d:\d\d:\d\d\.\d{6}Z[\da-f-]{36})?$/.test(text),
      'must be the value of next from the previous page, and must appear only once',
    ],
  },
};
const ONCE = 'and must appear only once';
export const REPORT: Parameters = {
  of: 'this report',
  rules: {
    from: day,
    to: day,
    by: [(text) => text === 'source', `must be source, ${ONCE}`],
    source: [() => true, `must be a registered site or a label of the business, ${ONCE}`],
  },
};
export const REFUSALS: Parameters = { of: 'this report', rules: { from: day, to: day } };
export const USE: Parameters = {
  of: 'this operation',
  rules: { id: [isId, `${ID}, ${ONCE}`] },
  required: 'id',
};
export const TOTALS: Parameters = {
  of: 'this list',
  rules: { from: day, to: day, ended: day, user_id: userId, limit: pageLimit(1000), after: cursorId },
  operatorOnly: ['user_id'],
};
export const BUSINESSES: Parameters = {
  of: 'this list',
  rules: { limit: pageLimit(50), after: cursorId, user_id: userId },
  operatorOnly: ['user_id'],
};
export const USER_CHANGES: Parameters = { of: 'this list', rules: page };
export const CHANGES: Parameters = {
  of: 'this list',
  rules: {
    ...page,
    action: [(text) => ACTIONS.includes(text), `must be ${ACTIONS.slice(0, -1).join(', ')}, or ${ACTIONS.at(-1)}`],
    search: [(text) => text.length >= 1 && text.length <= 255, 'must have 1 to 255 characters'],
    from: day,
    to: day,
  },
};
export const DELETION: Parameters = {
  of: 'this operation',
  rules: { name: [() => true, 'must be the name of the business, and must appear only once'] },
  required: 'name',
};
export const NO_PARAMETERS: Parameters = { of: 'this operation', rules: {} };

/** Checks the parameters of a request. */
export function checkQuery(
  query: URLSearchParams,
  { of, rules, operatorOnly = [], required }: Parameters,
  { isOperator, isRead }: { isOperator: boolean; isRead: boolean },
): Errors {
  const known = Object.keys(rules).filter((name) => isOperator || !operatorOnly.includes(name));
  const errors: Errors = {};
  for (const [name, value] of query) {
    if (known.includes(name) || (isRead && name === '_' && /^\d+$/.test(value))) continue;
    errors[name] = [`${name} is not a parameter of ${of}, which accepts ${list(known) || 'none'}`];
  }
  for (const [name, [isRight, text]] of Object.entries(rules)) {
    if (!known.includes(name)) continue;
    const values = query.getAll(name);
    if (values.length > 1) {
      const once =
        text.endsWith('only once') || name === 'search' || name === 'action'
          ? text
          : `${text}, and must appear only once`;
      errors[name] = [`${name} ${once}`];
    } else if (values[0] !== undefined && !isRight(values[0])) errors[name] = [`${name} ${text}`];
    else if (values[0] === undefined && name === required) errors[name] = [`${name} is required, and ${text}`];
  }
  return errors;
}
