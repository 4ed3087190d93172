// The words of the chart, and how numbers and days are written, in the language of the page. English is here; another language
// is a small file that is loaded once. What a page writes into the attributes `unit` and `word-…` takes precedence over both.

import type { Unit } from './scale.ts';

const ENGLISH = {
  unit: 'use|uses',
  empty: 'Nothing in this period.',
  error: 'This chart cannot be shown here.',
  failed: 'This chart could not be loaded.',
  offline: 'You are offline.',
  retry: 'Try again',
  loading: 'Loading…',
  today: 'so far',
  week: 'by week',
  month: 'by month',
  before: 'Compared with an earlier period',
};

export type Table = typeof ENGLISH;
type Word = keyof Table;
export const WORDS = Object.keys(ENGLISH) as Word[];

export const LANGUAGES = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ja', 'zh', 'ar', 'he'] as const;
export type Language = (typeof LANGUAGES)[number];

const WORDS_TIMEOUT_MS = 5000;
const tables: Record<string, Table> = {};

const primaryOf = (language: string) => language.toLowerCase().split('-')[0] as string;

/** Loads the words of a language. They are data, so even a page that pins the module by its hash runs nothing new. */
export async function loadWords(language: string, base: string): Promise<void> {
  const primary = primaryOf(language);
  if (tables[primary] || !LANGUAGES.includes(primary as Language)) return;
  const init = { credentials: 'omit', signal: AbortSignal.timeout(WORDS_TIMEOUT_MS) } as const;
  const table: Promise<Partial<Table> | null> = fetch(`${base}/v1/words/${primary}.json`, init).then((answer) =>
    answer.ok ? answer.json() : null,
  );
  const loaded = await table.catch(() => null);
  if (loaded) tables[primary] = { ...ENGLISH, ...loaded };
}

const PLURALS = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

export type Words = ReturnType<typeof wordsIn>;

/** `replaced` returns the page's own word for an attribute, or null. Where `language` is not a valid tag, the words are English. */
export function wordsIn(language: string, replaced: (attribute: string) => string | null) {
  try {
    new Intl.Locale(language);
  } catch {
    language = 'en';
  }
  const primary = primaryOf(language);
  const word = (name: Word): string =>
    replaced(name === 'unit' ? name : `word-${name}`) ?? (tables[primary] ?? ENGLISH)[name];

  const plurals = new Intl.PluralRules(language);
  const { pluralCategories } = plurals.resolvedOptions();
  const categories = PLURALS.filter((category) => pluralCategories.includes(category));
  const forms = word('unit').split('|');
  const unit = (count: number) => forms[categories.indexOf(plurals.select(count))] ?? (forms.at(-1) as string);

  const numbers = (options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(language, options).format;
  const number = numbers();
  const dates = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' });
    return (from: string, to = from) => format.formatRange(new Date(from), new Date(to));
  };
  const date = { day: 'numeric', month: 'short', year: 'numeric' } as const;
  const range = dates(date);
  const longDay = dates({ ...date, weekday: 'short' });
  return {
    word,
    unit,
    number,
    counted: (count: number) => number(count) + (/ja|zh/.test(primary) ? '' : ' ') + unit(count),
    compact: numbers({ notation: 'compact' }),
    percent: numbers({ style: 'percent', signDisplay: 'exceptZero' }),
    period: (unit: Unit) =>
      new Intl.DisplayNames(language, { type: 'dateTimeField' }).of(unit === 'week' ? 'weekOfYear' : unit) ?? unit,
    day: dates({ day: 'numeric', month: 'short' }),
    month: dates({ month: 'short' }),
    monthAndYear: dates({ month: 'short', year: 'numeric' }),
    range: (from: string, to: string) => (from === to ? longDay(from) : range(from, to)),
    rightToLeft: /^(ar|he|fa|ur|ps|sd|ug|yi|dv|ckb)$/.test(primary),
  };
}
