// How each argument and option is read, and what it must be.
import { isImportable } from '../core/credential.ts';
import { BINDINGS, bindingOf } from '../core/database.ts';
import { DURATION_RULE, durationOf } from '../core/duration.ts';
import {
  BILLING_DAY_RULE,
  isStatus,
  isUrl,
  LINE_RULE,
  lineOf,
  MAX_BILLING_DAY,
  MAX_LIMIT,
  STATUS_RULE,
  TOKEN_RULE,
  URL_RULE,
} from '../core/fields.ts';
import { OPERATOR_SECRETS } from '../core/operator.ts';
import { ROLES } from '../core/policy.ts';
import { idOf } from '../core/request.ts';
import { LINK_ROLES, MAX_LINK_MINUTES } from '../core/session.ts';
import { dayOf, isDay } from '../core/time.ts';
import { UsageError } from './errors.ts';

/**
 * An argument or the value of an option: how to read it (null if it is invalid), what it must be, and an example. A flag is an
 * option without a value.
 */
export type Value<T = unknown> = { read: (text: string) => T | null; must: string; example: string; isFlag?: true };
export type Values = Record<string, Value>;
/** The types of the values after reading. */
export type Given<V extends Values> = { [K in keyof V]: V[K] extends Value<infer T> ? T : never };

const value =
  <T>(must: string, read: (text: string) => T | null) =>
  (example: string): Value<T> => ({ must, read, example });
const textIf = (accepts: (text: string) => boolean) => (text: string) => (accepts(text) ? text : null);

export const id = value('be a positive integer', idOf);
export const database = value('be the number of a database: 0 for DB, 1 for DB_1, up to 61', (text) => {
  const number = text === '0' ? 0 : idOf(text);
  return number !== null && bindingOf(number) !== null ? number : null;
});
export const port = value('be a number from 1 to 65535', (text) => {
  const number = idOf(text);
  return number !== null && number <= 65_535 ? number : null;
});
/** How many databases `npm run dev` serves. */
export const databaseCount = value('be a number from 1 to 62', (text) => {
  const number = idOf(text);
  return number !== null && number <= BINDINGS.length ? number : null;
});
/** How long the session of a console link lasts. */
export const minutes = value(`be a number of minutes from 1 to ${MAX_LINK_MINUTES}`, (text) => {
  const number = idOf(text);
  return number !== null && number <= MAX_LINK_MINUTES ? number : null;
});
/** The secret of an operator key, by its number. */
export const slot = value(
  'be a number from 1 to 4',
  (text) => OPERATOR_SECRETS.find((name) => name === `OPERATOR_KEY_${text}`) ?? null,
);
/** A number, or `none`. */
export const limit = value('be a number of uses, or none', (text) => {
  if (text === 'none') return text;
  const number = text === '0' ? 0 : idOf(text);
  return number !== null && number <= MAX_LIMIT ? number : null;
});
/** The day on which a month of a limit begins. */
export const billingDay = value(BILLING_DAY_RULE, (text) => {
  const number = idOf(text);
  return number !== null && number <= MAX_BILLING_DAY ? number : null;
});
export const line = value(LINE_RULE, lineOf);
export const status = value(STATUS_RULE, textIf(isStatus));
export const linkRole = value('be full or read', (text) => LINK_ROLES.find((role) => role === text) ?? null);
export const role = value('be full, read or record', (text) => ROLES.find((role) => role === text) ?? null);
export const url = value(URL_RULE, textIf(isUrl));
/** Where the service is: the origin of a URL, without its path. */
export const service = value(URL_RULE, (text) => (isUrl(text) ? new URL(text).origin : null));
export const token = value(TOKEN_RULE, textIf(isImportable));
export const day = value('be a day from 1970-01-01 to 9999-12-31, written YYYY-MM-DD', textIf(isDay));
export const expiry = value(
  'be today or a later day, written YYYY-MM-DD',
  textIf((text) => isDay(text) && text >= dayOf(new Date())),
);

/** Where local databases are: `--persist-to`. An empty one would mean the default, which nobody asked for. */
export const directory = value(
  'name a directory',
  textIf((text) => text.trim() !== ''),
)('./other');

export const text = value('not be empty', (text) => text || null);
/** A duration in milliseconds. */
export const duration = value(DURATION_RULE.replace(/^must /, ''), durationOf);

export const flag: Value<true> = { read: () => true, must: '', example: '', isFlag: true };

/** The option that fills a column: `--user` is `user_id`, `--main-domain` is `main_domain`. */
export const optionOf = (column: string): string =>
  column.replace(/^business_(?!id$)|_(?:id|on)$/g, '').replaceAll('_', '-');

/** Reads the text given for `name`. Throws UsageError if it is invalid. */
export function readValue<T>({ read, must, example }: Value<T>, name: string, text: string): T {
  const value = read(text);
  if (value === null)
    throw new UsageError(`${name} must ${must}${must.includes(example) ? '' : `, such as ${example}`}`);
  return value;
}
