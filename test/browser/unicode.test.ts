// Checks for all of Unicode that the site stored for a host is the origin that Chromium sends from that host. The rules run in workerd, as
// deployed, because the URL parsers of workerd, Chromium and Node use tables of different Unicode versions.
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

// Excludes *, which is the wildcard in a site. In every version of Unicode, planes 4 to 13 are unassigned, and planes 15 and 16 are for
// private use. Tables cannot differ there, so samples are enough.
const SCALARS = [
  ...[range(0x21, 0x29), range(0x2b, 0xd7ff), range(0xe000, 0x3ffff), range(0x40000, 0xdffff, 97)].flat(),
  ...[range(0xe0000, 0xeffff), range(0xf0000, 0x10ffff, 97)].flat(),
];
/** Characters that can affect their neighbors: assigned, not private, not ideographic, and not from one of four large scripts. */
const LIVE = SCALARS.filter(
  (c) => !/[\p{Cn}\p{Co}\p{Ideographic}\p{sc=Hang}\p{sc=Egyp}\p{sc=Xsux}\p{sc=Yiii}]/u.test(c),
);
const MARKS = LIVE.filter((c) => /\p{M}/u.test(c));
const ACCENTS = ['\u0301', '\u0323', '\u0334', '\u0345'];
const JOINERS = ['\u200c', '\u200d'];
const LETTERS = LIVE.filter((c) => /\p{L}/u.test(c));
const COMPOSED = SCALARS.filter((c) => c !== c.normalize('NFD'));
const HANGUL = COMPOSED.filter((c) => /\p{sc=Hang}/u.test(c));

const HOSTS: Record<string, () => string[]> = {
  // Mapped or rejected characters, between letters and at the start of a label.
  'in a label': () => SCALARS.map((c) => `a${c}b.example`),
  'as a label': () => SCALARS.map((c) => `${c}.example`),
  // The character after a letter that can combine with marks, and after another copy of itself.
  'after a letter': () => LIVE.flatMap((c) => [`e${c}.example`, `${c}${c}.example`]),
  // A label must not mix directions, and a right-to-left label constrains the others. U+0870 and U+10D4A are recent letters.
  'right to left': () =>
    LIVE.flatMap((c) => [
      ...[`\u05d0${c}.example`, `\u05d0${c}\u05d0.example`, `\u0628${c}1.example`, `\u0870${c}.example`],
      ...[`\u{10d4a}1${c}.example`, `${c}.\u05d0.example`, `a${c}.\u05d0.example`, `1${c}.example`, `${c}-.example`],
    ]),
  // Whether a label may contain a joiner depends on the characters beside it. U+0628 and U+1820 join on both sides, and U+094D is a virama.
  'beside a joiner': () =>
    JOINERS.flatMap((joiner) => [
      ...LIVE.flatMap((c) => [
        ...[`\u0628${c}${joiner}\u0628.example`, `\u0628${joiner}${c}\u0628.example`],
        ...[`e\u094d${joiner}${c}.example`, `e${c}${joiner}e.example`],
      ]),
      ...MARKS.flatMap((m) => [`\u1820${m}${joiner}\u1820.example`, `\u1820${joiner}${m}\u1820.example`]),
    ]),
  // The same text, decomposed or partly composed. A Hangul syllable decomposes into two or three letters. If it has three, it can also be
  // written as a syllable of the first two, followed by the third letter.
  decomposed: () => COMPOSED.map((c) => `${c.normalize('NFD')}.example`),
  'partly composed': () =>
    HANGUL.map((c) => `${c.normalize('NFD').replace(/^../u, (two) => two.normalize('NFC'))}.example`),
  // Parsers reorder marks by their combining class, which may be missing from an older table. U+0345 becomes a letter in the process.
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

/** Passes a single string in each direction, because passing the items of a list takes longer than parsing one string. */
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

/** Returns the number of hosts, and the first ones in readable notation. */
const report = (found: typeof accepted) => [
  found.length,
  ...found.slice(0, MAX_SHOWN).map(({ text, site, origin }) => `${legible(text)}: ${site}, not ${origin}`),
];

test('every stored site equals the origin that Chromium sends', () => {
  expect(report(accepted.filter(({ site, origin }) => origin !== null && origin !== site))).toEqual([0]);
});

/** workerd's table does not contain these two, so the order of digits and marks beside them is not checked. */
const RECENT = /[\u0870\u{10d4a}]/u;

test('Chromium accepts every stored host, except some with recent letters', () => {
  expect(report(accepted.filter(({ text, origin }) => origin === null && !RECENT.test(text)))).toEqual([0]);
});

test('the service accepts more than 100,000 different characters in hosts', () => {
  expect(accepted.filter(({ text }) => /^https:\/\/a.b\.example$/u.test(text)).length).toBeGreaterThan(100_000);
});
