// Describes changes: who changed what, and each field before and after. Actions and fields unknown to this version appear by name.
import type { Change } from '../../../changes/description.ts';
import { isDay } from '../../../core/time.ts';
import { dayWords, instantWords, number } from '../formats.ts';
import { wordsOf } from '../roles.ts';
import { tailOf } from '../token/former-tokens.ts';
import { ACTIONS } from './actions.ts';

/** Labels for fields whose names are not suitable labels. */
const FIELDS: Record<string, string> = {
  sites: 'Domains',
  former_works_until: 'Old token works until',
  tokens: 'Old tokens',
  user_id: 'Owner',
  country_id: 'Country',
  business_size: 'Size',
  daily_limit: 'Daily limit',
  monthly_limit: 'Monthly limit',
  billing_day: 'Billing day',
  overage: 'Allowed overage',
  page_overage: 'Overage for pages',
  alert_at: 'Alerts at',
  role: 'Role',
  read_only: 'Read-only',
  expires_on: 'Expires after',
};

/** Row ids mean nothing to an owner. */
const HIDDEN = new Set(['id', 'business_id', 'access_id']);
/** The meaning of null in the fields where it does not mean "none". */
const NULLS: Record<string, string> = {
  daily_limit: 'no limit',
  monthly_limit: 'no limit',
  overage: 'unlimited',
  expires_on: 'never',
  former_works_until: 'stopped immediately',
};
/** Describes a key's role. */
export const roleWords = (role: string): string => sentenceCase(wordsOf(role)?.access ?? role);
const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

/** Checks own properties only, because a field from a newer version can have any name, such as `constructor`. */
const own = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const sentenceCase = (name: string): string => {
  const words = name.replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

type Who = { actor: string; key_name?: string | null; actor_name?: string | null };
/**
 * Describes the author of a change: the name of the key or person, if there is one, and the credential in terms that the owner knows. A
 * name can be any text, even `operator`, so it always appears beside the credential.
 */
export function whoWords({ actor, key_name, actor_name }: Who): { name: string | null; credential: string } {
  const [, kind = '', tail = ''] = /^(key \d+|console link|operator) \(…(.+)\)$/.exec(actor) ?? [];
  if (kind.startsWith('key') && key_name) return { name: key_name, credential: `…${tail}` };
  const others = actor === 'operator' ? 'the operator' : actor;
  const credential = kind === '' ? others : `${kind.startsWith('key') ? 'API key' : kind} …${tail}`;
  return actor_name ? { name: actor_name, credential: `(${credential})` } : { name: null, credential };
}

function valueWords(field: string, value: unknown): string {
  if (value === null || value === undefined) return own(NULLS, field) ?? 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return own(NUMBERS, field)?.(value) ?? number(value);
  if (typeof value === 'string') return textWords(field, value);
  if (Array.isArray(value)) return value.map((one) => valueWords(field, one)).join(', ');
  const members = Object.entries(value).filter(([name]) => !HIDDEN.has(name));
  return members.map(([name, one]) => `${fieldWords(name).toLowerCase()} ${valueWords(name, one)}`).join(', ');
}
const NUMBERS: Record<string, (value: number) => string> = {
  user_id: (value) => `user ${value}`,
  country_id: (value) => `${value}`,
  alert_at: (value) => `${number(value)}%`,
};
function textWords(field: string, value: string): string {
  if (INSTANT.test(value) && !Number.isNaN(Date.parse(value))) return instantWords(value);
  if (isDay(value)) return dayWords(value);
  if (value === '') return 'empty';
  return field === 'role' ? (wordsOf(value)?.access ?? value) : value;
}

const fieldWords = (name: string): string => own(FIELDS, name) ?? sentenceCase(name);

/** Describes an old token that was stopped. */
function stoppedWords(token: unknown): string {
  if (typeof token !== 'object' || token === null) return valueWords('tokens', token);
  const { last_four, expires_at } = token as { last_four?: unknown; expires_at?: unknown };
  if (typeof last_four !== 'string' || typeof expires_at !== 'string') return valueWords('tokens', token);
  return `${tailOf(last_four)}, which would have worked until ${valueWords('expires_at', expires_at)}`;
}

function valuesWords(field: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [valueWords(field, value)];
  return value.map((one) => (field === 'tokens' ? stoppedWords(one) : valueWords(field, one)));
}

/** A changed field. `before` or `after` is null if the field is missing on that side of the change. Only lists have more than one entry. */
export type Line = { field: string; name: string; before: string[] | null; after: string[] | null };
type Described = { title: string; lines: Line[] };

type Values = Change['before'];
export function describe(change: Pick<Change, 'action' | 'before' | 'after'>): Described {
  const { before, after } = change;
  const has = (field: string) => Object.hasOwn(before ?? {}, field) || Object.hasOwn(after ?? {}, field);
  const side = (values: Values, field: string) =>
    values === null || !Object.hasOwn(values, field) ? null : valuesWords(field, values[field]);
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (field) => !HIDDEN.has(field) && !(field === 'read_only' && has('role')), // the role implies it
  );
  const lines = fields.map((field) => ({
    field,
    name: fieldWords(field),
    before: side(before, field),
    after: side(after, field),
  }));
  return { title: own<{ title: string }>(ACTIONS, change.action)?.title ?? sentenceCase(change.action), lines };
}
