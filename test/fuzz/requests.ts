// Recipes for requests without a valid credential. A recipe describes a large request in a few values, which a search can mutate, combine
// and print. No recipe targets a known fault.
import { shapeOf } from '../../src/cli/command-line.ts';
import { API, type Operation } from '../../src/operation.ts';
import { OPERATIONS } from '../../src/operations.ts';

/** `length` characters of an alphabet. Cycles through `letters` distinct characters, each repeated `run` times. */
type Part = { alphabet: string; start: number; letters: number; run: number; length: number };
export type Recipe = {
  route: string;
  frame: string;
  value: string;
  prefix: string;
  entries: number;
  parts: Part[];
  /** Whether the entries differ. */
  varied: boolean;
  /** Whether the body escapes all non-ASCII characters. */
  escaped: boolean;
  caller: string;
  headers: Record<string, Part>;
};
export type Sent = { method: string; path: string; headers: Record<string, string>; body?: string };
export type Random = () => number;

const MAX_BODY = 1024 * 1024;
const MAX_LINE = 8000; // workerd rejects longer paths and headers
const AMOUNTS = [1, 2, 8, 64, 250, 1000, 2000, 8000, 100_000];

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));
const ALPHABETS: Record<string, string[]> = {
  'letters and digits': [...range(0x61, 0x7a), ...range(0x30, 0x39)],
  'accented letters': range(0xc0, 0x24f),
  'combining marks': range(0x300, 0x36f),
  Arabic: range(0x610, 0x6ff),
  'Hangul jamo': range(0x1100, 0x11ff),
  'Hangul syllables': range(0xac00, 0xd7a3),
  CJK: range(0x4e00, 0x9fff),
  'compatibility forms': [...range(0xf900, 0xfdff), ...range(0xff01, 0xff5e)],
  emoji: range(0x1f600, 0x1f64f),
  invisible: range(0x200b, 0x200f),
  surrogates: range(0xd800, 0xdfff),
  'controls and spaces': [...range(0, 0x20), '\u00a0', '\u2028'],
  'JSON punctuation': ['"', '\\', '[', ']', '{', '}', ':', ',', '{}', '\\u0301'],
  'URL punctuation': ['.', '/', '%', '%41', '%2e', '%00', '@', '*', '-', ':', '&', '=', 'xn--', '+', 'a.'],
};
const PREFIXES = ['', 'https://', 'https://a', 'https://*.', 'https://a.example/', '2026-01-01T00:00:00.'];

type Wrap = (text: string) => string;
/** Every operation, with the text in place of its parameters or in its query, and the paths of none. */
const ROUTES: Record<string, Wrap> = Object.fromEntries([
  ...Object.values<Operation>(OPERATIONS).flatMap(({ method, path, query }): [string, Wrap][] => {
    const route = `${method} ${API}${path}`;
    const at = route.replace(/:\w+/g, '1');
    const names = query === undefined ? [] : Object.keys(shapeOf(query.schema));
    return [
      [route, (text) => route.replace(/:\w+/g, () => text)],
      [`${at}?…`, (text) => `${at}?${text}`],
      ...names.map((name): [string, Wrap] => [`${at}?${name}=…`, (text) => `${at}?${name}=${text}`]),
    ];
  }),
  ...['GET /', `PUT ${API}/`, `OPTIONS ${API}/`].map((route): [string, Wrap] => [route, (text) => route + text]),
]);
/** The routes whose bodies are worth the most requests. */
const LISTS = [`POST ${API}${OPERATIONS.addAccess.path}`, `POST ${API}${OPERATIONS.recordUse.path}`];
const CALLERS: Record<string, Wrap> = {
  'an unknown key': () => `Bearer bua_sk_0${'0'.repeat(33)}`,
  'an unknown token': () => `Bearer bua_pk_0${'0'.repeat(33)}`,
  'an unknown imported token': () => `Bearer ${'a/'.repeat(127)}`,
  'a malformed bearer': (text) => `Bearer ${text}`,
  'no bearer': (text) => text,
};
const HEADERS = ['Origin', 'X-API-Key', 'Idempotency-Key', 'Content-Type', 'X-Request-Id', 'Accept', 'If-None-Match'];

const joined = (count: number, entry: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => entry(index)).join(',');
/**
 * Builds a JSON value from `count` entries. The `text` function returns the text of an entry, which is escaped unless the kind of value is
 * `text`.
 */
const VALUES: Record<string, (count: number, text: (index: number) => string) => string> = {
  text: (_, text) => text(0),
  string: (_, text) => `"${text(0)}"`,
  strings: (count, text) => `[${joined(count, (index) => `"${text(index)}"`)}]`,
  numbers: (count, text) => `[${Array(count).fill(text(0).replace(/\D/g, '') || '1')}]`,
  ids: (count, text) => `[${joined(count, (index) => `{"id":"${text(index)}"}`)}]`,
  ats: (count, text) => `[${joined(count, (index) => `{"id":"a","at":"${text(index)}Z"}`)}]`,
  members: (count, text) => `{${joined(count, (index) => `"${text(index)}${index}":0`)}}`,
  'the same member': (count, text) => `{${joined(count, () => `"${text(0)}":0`)}}`,
  'nested lists': (count) => '['.repeat(count) + ']'.repeat(count),
  'nested objects': (count, text) => `${`{"${text(0)}":`.repeat(count)}0${'}'.repeat(count)}`,
};
const FRAMES: Record<string, Wrap> = {
  body: (value) => value,
  sites: (value) => `{"sites":${value}}`,
  uses: (value) => `{"uses":${value}}`,
  keep_old: (value) => `{"keep_old":${value}}`,
  'a use’s id': (value) => `{"uses":[{"id":${value}}]}`,
  'other member': (value) => `{"sites":["https://a.example"],"uses":[{"id":"a"}],"other":${value}}`,
  'rest of the body': (value) => `{"sites":["https://a.example"],"uses":[{"id":"a"}],${value.slice(1)}`,
};
/** Parts of recipes whose bodies are valid except for the text of each entry. */
const VALID: Partial<Recipe>[] = [
  { route: LISTS[0] as string, frame: 'sites', value: 'strings', prefix: 'https://', entries: 100 },
  { route: LISTS[1] as string, frame: 'uses', value: 'ids', prefix: '', entries: 1000 },
  { route: LISTS[1] as string, frame: 'uses', value: 'ats', prefix: '2026-01-01T00:00:00.', entries: 1000 },
];

/** Returns a recipe's kind. The search keeps each kind's most expensive request. */
export const kindOf = ({ route, frame, value }: Recipe) => (hasBody(route) ? `${route}, ${value} as ${frame}` : route);
const hasBody = (route: string) => /^(POST|PUT|PATCH|DELETE)/.test(route);

function textOf(parts: Part[]): string {
  const texts = parts.map(({ alphabet, start, letters, run, length }) => {
    const all = ALPHABETS[alphabet] ?? [];
    let round = '';
    for (let i = start; i < start + letters && round.length < length; i++) {
      round += all[i % all.length]?.repeat(Math.min(run, length - round.length));
    }
    return round.repeat(Math.ceil(length / round.length)).slice(0, length);
  });
  return texts.join('');
}

/** Builds the body, shortened to the maximum size that the service reads. */
function bodyOf({ frame, value, prefix, entries, parts, varied, escaped }: Recipe): string {
  const quoted = (text: string) => (value === 'text' ? text : JSON.stringify(text).slice(1, -1));
  const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const written = (text: string) => (escaped ? quoted(text).replace(/[^ -~]/g, escapeOf) : quoted(text).toWellFormed());
  let text = textOf(parts);
  let same = written(prefix + text);
  const body = (count: number) => {
    const turned = (index: number) => text.slice(index % text.length) + text.slice(0, index % text.length);
    const entry = (index: number) => (varied && index > 0 ? written(prefix + turned(index)) : same);
    return FRAMES[frame]?.(VALUES[value]?.(count, entry) ?? '') ?? '';
  };
  const bytes = (count: number) => Buffer.byteLength(body(count));
  for (; bytes(1) > MAX_BODY; same = written(prefix + text)) text = text.slice(0, text.length * 0.7);
  const each = Math.max(1, bytes(2) - bytes(1));
  let count = Math.min(entries, Math.floor((MAX_BODY - bytes(1)) / each) + 1);
  while (bytes(count) > MAX_BODY) count = Math.floor(count * 0.95);
  return body(count);
}

export function requestOf(recipe: Recipe): Sent {
  const { route, caller, parts } = recipe;
  const line = textOf(parts).slice(0, MAX_LINE).toWellFormed();
  const path = line.replace(/[^!-~]|[#?]/gu, encodeURIComponent).slice(0, MAX_LINE);
  // fetch expects a header's UTF-8 bytes as Latin-1 characters.
  const header = (text: string) =>
    Buffer.from(text.replace(/\p{Cc}/gu, ''))
      .toString('latin1')
      .slice(0, MAX_LINE);
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  for (const [name, part] of Object.entries(recipe.headers)) headers[name] = header(textOf([part]).toWellFormed());
  headers.Authorization = header(CALLERS[caller]?.(line) ?? '');
  const [method = '', target = ''] = ROUTES[route]?.(path).split(' ') ?? [];
  const sent = { method, path: target, headers };
  return hasBody(route) ? { ...sent, body: bodyOf(recipe) } : sent;
}

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
const keyOf = (random: Random, items: object): string => pick(random, Object.keys(items));

function newPart(random: Random): Part {
  const start = Math.floor(random() * 10_000);
  const [letters, run, length] = [pick(random, AMOUNTS), pick(random, AMOUNTS), pick(random, AMOUNTS)];
  return { alphabet: keyOf(random, ALPHABETS), start, letters, run, length };
}

export function newRecipe(random: Random): Recipe {
  const recipe: Recipe = {
    route: random() < 0.6 ? pick(random, LISTS) : keyOf(random, ROUTES),
    frame: keyOf(random, FRAMES),
    value: keyOf(random, VALUES),
    prefix: pick(random, PREFIXES),
    entries: pick(random, AMOUNTS),
    parts: [newPart(random)],
    varied: random() < 0.5,
    escaped: random() < 0.2,
    caller: random() < 0.7 ? 'an unknown key' : keyOf(random, CALLERS),
    headers: Object.fromEntries(HEADERS.filter(() => random() < 0.05).map((name) => [name, newPart(random)])),
  };
  return random() < 0.5 ? recipe : { ...recipe, ...pick(random, VALID) };
}

/** Returns a copy with random changes, some copied from `other`. */
export function mutate(recipe: Recipe, other: Recipe, random: Random): Recipe {
  const child = structuredClone(recipe);
  const part = pick(random, child.parts);
  const scaled = (amount: number) => Math.ceil(Math.min(1_000_000, amount * pick(random, [0.5, 0.9, 1.1, 2, 8])));
  const gene = keyOf(random, child) as keyof Recipe;
  const changes = [
    () => (child.entries = scaled(child.entries)),
    () => (part.length = scaled(part.length)),
    () => (part.run = scaled(part.run)),
    () => (part.letters = scaled(part.letters)),
    () => (part.start += Math.ceil(random() * 100)),
    () => Object.assign(part, { ...newPart(random), length: part.length }),
    () => (child.parts = [...child.parts, pick(random, other.parts)].slice(-4)),
    () => (child.parts = [part]),
    () => Object.assign(child, structuredClone({ [gene]: other[gene] })),
  ];
  do pick(random, changes)();
  while (random() < 0.4);
  return child;
}
