// Extracts examples and tables from the documents, and matches printed responses against actual ones.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';

const inDocs = readdirSync('docs').filter((name) => name.endsWith('.md'));
export const DOCUMENTS = ['README.md', ...inDocs.map((name) => `docs/${name}`)];
export const read = (path: string) => readFileSync(path, 'utf8');

/**
 * Every `sh` block that calls the local service or its tools, with the output block below it. Without an output block, each curl command
 * only has to succeed. Excludes blocks that install packages, which test/node/client.test.ts tests, and the loop in docs/moving.md.
 */
export const examplesIn = (path: string) =>
  [...read(path).matchAll(/^ *```sh\n(.*?)^ *```\n(?:```(?:json|csv)\n(.*?)^```\n)?/gms)].flatMap(
    ({ index, 1: block = '', 2: output }) => {
      const line = read(path).slice(0, index).split('\n').length;
      const lines = output === undefined ? block.split(/\n(?=curl )/) : [block];
      const runsHere = /\$API|npm run -s admin/.test(block) && !/npm install|export API=|businesses\.csv/.test(block);
      return runsHere
        ? lines.map((command) => ({ name: `${path}:${line} ${command.trim()}`, command, printed: output ?? '' }))
        : [];
    },
  );

/** The rows of the table whose header starts with these cells. */
export function tableIn(path: string, ...header: string[]): string[][] {
  const [, table] = read(path).split(`| ${header.join(' | ')} |`);
  if (table === undefined) throw new Error(`${path} has no table with the header ${header.join(', ')}`);
  const [rows = ''] = table.split('\n\n');
  return [...rows.matchAll(/^ *\| (.*) \|$/gm)].map(([, cells = '']) => cells.split(' | '));
}

export const codesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

const DAY_MS = 86_400_000;
export const dayFromNow = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

type Day = { date: string; count: number };
/** Matches a report of `length` days up to today that contains at least one use. */
const isReport = (printed: Day[], length: number) => (used: Day[]) =>
  used.length === length &&
  [dayFromNow(0), dayFromNow(-1)].includes(used.at(-1)?.date ?? '') && // midnight may have passed
  used.some(({ count }) => count > 0) &&
  [...printed, ...used].every((day) => `${Object.keys(day)}` === 'date,count');

/** Parses JSON or CSV (to rows). */
export const parseOutput = (text: string): unknown =>
  /^(date|business_id),/.test(text)
    ? text
        .trim()
        .split(/\r?\n/)
        .map((line) => line.split(','))
    : JSON.parse(text);

const isPositive = expect.toSatisfy((value: number) => Number.isInteger(value) && value > 0, 'a positive integer');
const isTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
/** Matchers for values that vary, by key. Null and 0 must match exactly. */
const VARIES: Record<string, unknown> = {
  ...{ id: isPositive, business_id: isPositive, next: isPositive, count: isPositive, remaining: isPositive },
  ...{ created_at: isTime, updated_at: isTime, at: isTime },
  ...{ day_ends: isTime, month_starts: isTime, month_ends: isTime },
  token: expect.stringMatching(/^bua_pk_0[0-9A-Za-z]{33}$/),
  operator_key: expect.stringMatching(/^bua_op_[0-9A-Za-z]{43}$/),
  secret: expect.stringMatching(/^record:[0-9a-f]{64}$/),
  store: expect.stringMatching(/^echo record:[0-9a-f]{64} \| npx wrangler secret put OPERATOR_KEY_1$/),
  date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
};

/**
 * Matchers for values that vary, chosen by the printed text: days and counts in CSV.
 */
const VARIANTS: [RegExp, unknown][] = [
  [/^\d{4}-\d\d-\d\d$/, VARIES.date],
  [/^\d+$/, expect.stringMatching(/^\d+$/)],
];

/** `…` matches any text. */
const patternOf = (printed: string) =>
  new RegExp(
    `^${printed
      .split('…')
      .map((part) => part.replaceAll(/[.*+?()[\]|^$]/g, '\\$&'))
      .join('.*')}$`,
  );

/** Returns a matcher for a printed response. */
export function like(printed: unknown, command = '', key = ''): unknown {
  const days = printed as Day[];
  if (key === 'used') return expect.toSatisfy(isReport(days, command.includes('from=') ? days.length : 30), 'a report');
  const variant = VARIANTS.find(([pattern]) => typeof printed === 'string' && pattern.test(printed));
  if (variant !== undefined) return variant[1];
  if (key in VARIES && printed !== null && printed !== 0 && !Array.isArray(printed)) return VARIES[key];
  if (typeof printed === 'string' && printed.includes('…')) return expect.stringMatching(patternOf(printed));
  if (Array.isArray(printed)) return printed.map((entry) => like(entry, command));
  if (typeof printed !== 'object' || printed === null) return printed;
  return Object.fromEntries(Object.entries(printed).map(([name, value]) => [name, like(value, command, name)]));
}
