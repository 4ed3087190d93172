// The chart's words and formats in the page's language. English is built in. Other languages are loaded on demand. The attributes `unit`
// and `word-…` take precedence.
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
  before: 'Previous',
};

export type Table = typeof ENGLISH;
type Word = keyof Table;
export const WORDS = Object.keys(ENGLISH) as Word[];

export const LANGUAGES = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ja', 'zh', 'ar', 'he'] as const;
export type Language = (typeof LANGUAGES)[number];

const WORDS_TIMEOUT_MS = 5000;
const tables: Record<string, Table> = {};

const primarySubtag = (language: string) => language.toLowerCase().split('-')[0] as string;

/** Loads a language's words. The words are JSON rather than code, so a page that pins the module's hash still runs only pinned code. */
export async function loadWords(language: string, base: string): Promise<void> {
  const primary = primarySubtag(language);
  if (tables[primary] || !LANGUAGES.includes(primary as Language)) return;
  const init = { credentials: 'omit', signal: AbortSignal.timeout(WORDS_TIMEOUT_MS) } as const;
  const loaded: Partial<Table> | null = await fetch(`${base}/v1/words/${primary}.json`, init)
    .then((answer) => (answer.ok ? (answer.json() as Promise<Partial<Table>>) : null))
    .catch(() => null);
  if (loaded) tables[primary] = { ...ENGLISH, ...loaded };
}

const PLURALS = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

export type Words = ReturnType<typeof wordsIn>;

/** Returns a language's words and formats. `override` returns the page's own word, or null. Uses English if `language` is invalid. */
export function wordsIn(language: string, override: (attribute: string) => string | null) {
  try {
    new Intl.Locale(language);
  } catch {
    language = 'en';
  }
  const primary = primarySubtag(language);
  const word = (name: Word): string =>
    override(name === 'unit' ? name : `word-${name}`) ?? (tables[primary] ?? ENGLISH)[name];

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
    /** “27 days” */
    days: numbers({ style: 'unit', unit: 'day', unitDisplay: 'long' }),
    /** “today” */
    now: new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(0, 'day'),
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
