// Describes what changed: each field before and after.
import type { Change } from '../../../changes/description.ts';
import type { Action } from '../../../core/change.ts';
import { MAX_NAMED_IDS } from '../../../usage/rules.ts';
import { dayWords, instantWords, number, sentenceCase, tailOf } from '../formats.ts';
import { wordsOf } from '../roles.ts';
import { ACTION_WORDS } from './actions.ts';

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
  limits_from: 'Limits change on',
  billing_day: 'Billing day',
  overage: 'Allowed overage',
  page_overage: 'Overage for pages',
  alert_at: 'Alerts at',
  lowered: 'Number of IDs',
  ids: `IDs (at most ${MAX_NAMED_IDS})`,
  extra: 'Added to the month',
  starts_on: 'Month from',
  role: 'Role',
  expires_on: 'Expires after',
};

/** Row ids mean nothing to an owner. */
const HIDDEN = new Set(['id', 'business_id']);
/** The meaning of null in the fields where it does not mean "none". */
const NULLS: Record<string, string> = {
  daily_limit: 'no limit',
  monthly_limit: 'no limit',
  overage: 'unlimited',
  expires_on: 'never',
  former_works_until: 'stopped immediately',
};
const NUMBERS: Record<string, (value: number) => string> = {
  user_id: (value) => `user ${value}`,
  country_id: (value) => `${value}`,
  alert_at: (value) => `${number(value)}%`,
};
const TEXTS: Record<string, (value: string) => string> = {
  former_works_until: instantWords,
  expires_on: dayWords,
  limits_from: dayWords,
  starts_on: dayWords,
  role: (value) => wordsOf(value)?.access ?? value,
};
function valueWords(field: string, value: unknown): string {
  if (value === null) return NULLS[field] ?? 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return (NUMBERS[field] ?? number)(value);
  return value === '' ? 'empty' : (TEXTS[field] ?? String)(`${value}`);
}

/** Describes an old token that was stopped. */
const stoppedWords = ({ last_four, expires_at }: { last_four: string; expires_at: string }): string =>
  `${tailOf(last_four)}, which would have worked until ${instantWords(expires_at)}`;

function valuesWords(field: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [valueWords(field, value)];
  return value.map((one) => (field === 'tokens' ? stoppedWords(one) : valueWords(field, one)));
}

/** A changed field. `before` or `after` is null if the field is missing on that side of the change. Only lists have more than one entry. */
export type Line = { field: string; name: string; before: string[] | null; after: string[] | null };
type Described = { title: string; lines: Line[] };

type Values = Change['before'];
export function describe({ action, before, after }: Pick<Change, 'action' | 'before' | 'after'>): Described {
  const side = (values: Values, field: string) =>
    values === null || !Object.hasOwn(values, field) ? null : valuesWords(field, values[field]);
  const fields = Object.keys({ ...before, ...after }).filter((field) => !HIDDEN.has(field));
  const lines = fields.map((field) => ({
    field,
    name: FIELDS[field] ?? sentenceCase(field.replaceAll('_', ' ')),
    before: side(before, field),
    after: side(after, field),
  }));
  return { title: ACTION_WORDS[action as Action], lines };
}
