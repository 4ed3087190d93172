// The site stored for a host is the origin that Chromium sends from it, for all of Unicode. workerd's URL parser has other, older
// tables than Chromium's, and Node's has others again: so the rules run in workerd here, as they are deployed.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { legible } from '../hostile/sites.ts';
import { launch } from './chromium.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TEXTS_PER_CHUNK = 20_000;
const MAX_SHOWN = 20;

const WORKER = `import { canonicalSite } from './src/core/site.ts';
  const sites = async (request) => (await request.json()).map((text) => canonicalSite(text).site ?? null);
  export default { fetch: async (request) => Response.json(await sites(request)) };`;

const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.ceil((to - from + 1) / step) }, (_, index) => String.fromCodePoint(from + index * step));

// Without the *, which has a meaning of its own in a site. The planes 4 to 13 have no character and 15 and 16 only private ones, in every
// version of Unicode: no table can differ, so a few of each block are enough.
const SCALARS = [
  ...[range(0x21, 0x29), range(0x2b, 0xd7ff), range(0xe000, 0x3ffff), range(0x40000, 0xdffff, 97)].flat(),
  ...[range(0xe0000, 0xeffff), range(0xf0000, 0x10ffff, 97)].flat(),
];
/** Those that act on their neighbours: not unassigned, private, nor one of the many that stand for a word or syllable. */
const LIVE = SCALARS.filter(
  (c) => !/[\p{Cn}\p{Co}\p{Ideographic}\p{sc=Hang}\p{sc=Egyp}\p{sc=Xsux}\p{sc=Yiii}]/u.test(c),
);
const MARKS = LIVE.filter((c) => /\p{M}/u.test(c));
const ACCENTS = ['\u0301', '\u0323', '\u0334', '\u0345'];
const LETTERS = LIVE.filter((c) => /\p{L}/u.test(c));
const COMPOSED = SCALARS.filter((c) => c !== c.normalize('NFD'));
const HANGUL = COMPOSED.filter((c) => /\p{sc=Hang}/u.test(c));

const HOSTS: Record<string, () => string[]> = {
  // What a character becomes, or whether it is refused, between letters and where a label begins.
  'in a label': () => SCALARS.map((c) => `a${c}b.example`),
  'as a label': () => SCALARS.map((c) => `${c}.example`),
  // After a letter that a mark composes with, and after itself.
  'behind a letter': () => LIVE.flatMap((c) => [`e${c}.example`, `${c}${c}.example`]),
  // A label may not mix directions, and one from right to left constrains the others. U+0870 and U+10D4A are young letters.
  'from right to left': () =>
    LIVE.flatMap((c) => [
      ...[`\u05d0${c}.example`, `\u05d0${c}\u05d0.example`, `\u0628${c}1.example`, `\u0870${c}.example`],
      ...[`\u{10d4a}1${c}.example`, `${c}.\u05d0.example`, `a${c}.\u05d0.example`, `1${c}.example`, `${c}-.example`],
    ]),
  // The same text, decomposed or half composed: a syllable of Hangul is two or three letters, or a syllable and a third letter.
  decomposed: () => COMPOSED.map((c) => `${c.normalize('NFD')}.example`),
  'half composed': () =>
    HANGUL.map((c) => `${c.normalize('NFD').replace(/^../u, (two) => two.normalize('NFC'))}.example`),
  // Marks in the wrong order are reordered by classes that a parser may not know. U+0345 becomes a letter in the process.
  'with two marks': () =>
    MARKS.flatMap((m) => ACCENTS.flatMap((accent) => [`e${m}${accent}.example`, `e${accent}${m}.example`])),
  'with two accents': () => LETTERS.flatMap((c) => [`${c}\u0323\u0301.example`, `${c}\u0300\u0345.example`]),
  'with an accent on ASCII': () =>
    range(0x21, 0x7e).flatMap((c) => ['\u0301', '\u0338'].map((m) => `${c}${m}.example`)),
};

let miniflare: Miniflare;
let browser: Browser;
let page: Page;
const accepted: { text: string; site: string; origin: string | null }[] = [];

async function sitesOf(url: string, texts: string[]): Promise<(string | null)[]> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(texts) });
  return (await answer.json()) as (string | null)[];
}

/** As one text in both directions: the browser is handed each value of a list separately, which takes longer than to parse it. */
async function originsOf(texts: string[]): Promise<(string | null)[]> {
  const parse = (lines: string) => JSON.stringify(lines.split('\n').map((line) => URL.parse(line)?.origin ?? null));
  return JSON.parse(await page.evaluate(parse, texts.join('\n')));
}

beforeAll(async () => {
  const configuration = readFileSync(resolve(ROOT, 'wrangler.toml'), 'utf8');
  const [, compatibilityDate] = configuration.match(/^compatibility_date = "(.+)"/m) ?? [];
  const stdin = { contents: WORKER, resolveDir: ROOT };
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', target: 'esnext', write: false });
  const modules = [{ type: 'ESModule', path: 'worker.js', contents: outputFiles[0]?.text }];
  const unsafeDirectSockets = [{ host: '127.0.0.1', port: 0, entrypoint: 'default' }];
  const workers = [{ name: 'sites', modules, compatibilityDate, unsafeDirectSockets }];
  miniflare = new Miniflare(convertV4MiniflareOptions({ workers } as never));
  browser = await launch();
  page = await browser.newPage();
  const { origin: url } = await miniflare.unsafeGetDirectURL('sites');
  for (const hosts of Object.values(HOSTS)) {
    const texts = hosts().map((host) => `https://${host}`);
    for (let start = 0; start < texts.length; start += TEXTS_PER_CHUNK) {
      const chunk = texts.slice(start, start + TEXTS_PER_CHUNK);
      const sites = await sitesOf(url, chunk);
      const stored = chunk.flatMap((text, index) => (sites[index] ? [{ text, site: sites[index] }] : []));
      const origins = await originsOf(stored.map(({ text }) => text));
      accepted.push(...stored.map((pair, index) => ({ ...pair, origin: origins[index] ?? null })));
    }
  }
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await miniflare?.dispose();
});

/** How many there are, and the first of them to be read. */
const report = (found: typeof accepted) => [
  found.length,
  ...found.slice(0, MAX_SHOWN).map(({ text, site, origin }) => `${legible(text)}: ${site}, not ${origin}`),
];

test('no host is stored differently from what Chromium sends', () => {
  expect(report(accepted.filter(({ site, origin }) => origin !== null && origin !== site))).toEqual([0]);
});

/** workerd knows fewer of these letters, and looks at the direction of one label at a time: the owner sees no use of such a site. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

test('no host is stored that Chromium refuses, except for some with right-to-left letters', () => {
  expect(report(accepted.filter(({ text, origin }) => origin === null && !RIGHT_TO_LEFT.test(text)))).toEqual([0]);
});

test('most characters that have a meaning are accepted', () => {
  expect(accepted.filter(({ text }) => /^https:\/\/a.b\.example$/u.test(text)).length).toBeGreaterThan(100_000);
});
