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

const MONTHS = Array.from({ length: 12 }, (_, month) => Date.UTC(2026, month));

/** Some browsers know a language without names of its months, and write “M10”. They format an unknown one like the browser's own. */
function canFormat(language: string): boolean {
  const [known] = Intl.DateTimeFormat.supportedLocalesOf(language);
  const { format } = new Intl.DateTimeFormat(language, { month: 'short', timeZone: 'UTC' });
  return known !== undefined && !MONTHS.some((month) => /M\d/.test(format(month)));
}

/** The calendars whose months begin when those of the bars do. The year is the language's own. */
const SAME_MONTHS = ['gregory', 'buddhist', 'japanese', 'roc'];

/** The plural categories of a language, in the order of `unit`'s forms, and which of them a count has. */
function pluralsOf(language: string) {
  const rules = new Intl.PluralRules(language);
  const { pluralCategories } = rules.resolvedOptions();
  const categories = PLURALS.filter((category) => pluralCategories.includes(category));
  return { categories, indexOf: (count: number) => categories.indexOf(rules.select(count)) };
}

/**
 * Returns a language's words and formats. `override` returns the page's own word, or null. Uses English if `language` is invalid, and English
 * formats if the browser lacks those of `language`.
 */
export function wordsIn(language: string, override: (attribute: string) => string | null) {
  try {
    new Intl.Locale(language);
  } catch {
    language = 'en';
  }
  const primary = primarySubtag(language);
  const table = tables[primary];
  const given = (name: Word) => override(name === 'unit' ? name : `word-${name}`);
  const word = (name: Word): string => given(name) ?? (table ?? ENGLISH)[name];
  /** Whether a word is of the page's language, and not the English one in its place. */
  const isOwn = (name: Word) => table !== undefined || given(name) !== null;

  const forms = word('unit').split('|');
  const plurals = pluralsOf(isOwn('unit') ? language : 'en');
  // A page in Korean can have English words: Korean has one form, and “call|calls” two.
  const { indexOf } = plurals.categories.length < forms.length ? pluralsOf('en') : plurals;
  const unit = (count: number) => forms[indexOf(count)] ?? (forms.at(-1) as string);
  const counted = (count: number) => {
    const counter = unit(count);
    return number(count) + (/^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(counter) ? '' : ' ') + counter;
  };

  const local = canFormat(language) ? language : 'en';
  const { calendar } = new Intl.DateTimeFormat(local).resolvedOptions();
  const gregorian = SAME_MONTHS.includes(calendar) ? {} : { calendar: 'gregory' };
  const numbers = (options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(local, options).format;
  const number = numbers();
  const dates = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(local, { ...options, ...gregorian, timeZone: 'UTC' });
    return (from: string, to = from) => format.formatRange(new Date(from), new Date(to));
  };
  const date = { day: 'numeric', month: 'short', year: 'numeric' } as const;
  const range = dates(date);
  const longDay = dates({ ...date, weekday: 'short' });
  return {
    word,
    unit,
    number,
    counted,
    compact: numbers({ notation: 'compact' }),
    /** “27 days” */
    days: numbers({ style: 'unit', unit: 'day', unitDisplay: 'long' }),
    /** “today” */
    now: new Intl.RelativeTimeFormat(isOwn('today') ? local : 'en', { numeric: 'auto' }).format(0, 'day'),
    percent: numbers({ style: 'percent', signDisplay: 'exceptZero' }),
    period: (unit: Unit) =>
      new Intl.DisplayNames(local, { type: 'dateTimeField' }).of(unit === 'week' ? 'weekOfYear' : unit) ?? unit,
    day: dates({ day: 'numeric', month: 'short' }),
    month: dates({ month: 'short' }),
    monthAndYear: dates({ month: 'short', year: 'numeric' }),
    range: (from: string, to: string) => (from === to ? longDay(from) : range(from, to)),
    rightToLeft: /^(ar|he|fa|ur|ps|sd|ug|yi|dv|ckb)$/.test(primary),
  };
}
