// Checks the links, files, commands and settings that the documents name.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLineOf } from '../../src/cli/command-line.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { IMPORTED } from '../../src/core/credential.ts';
import type { Rule } from '../../src/core/policy.ts';
import { ERROR_CODES } from '../../src/http/errors.ts';
import type { Operation } from '../../src/operation.ts';
import { OPERATIONS } from '../../src/operations.ts';
import { FINAL_AFTER_DAYS, LOWER_DAYS } from '../../src/usage/rules.ts';
import { codesIn, DOCUMENTS, read, tableIn } from './document.ts';

const all = (path: string, pattern: RegExp) => [...read(path).matchAll(pattern)].map(([, found = '']) => found);
const missing = (paths: string[]) => paths.filter((path) => !existsSync(path));
/** The anchor that GitHub generates for a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

test.each(DOCUMENTS)('%s links only to existing documents, headings and pictures', (path) => {
  const links = all(path, /(?:\]\(|src(?:set)?=")(?!https?:|\$)([^)"]+)/g).map((link) => {
    const [file, anchor] = link.split('#');
    return { target: file ? join(path, '..', file) : path, anchor };
  });
  expect(missing(links.map(({ target }) => target))).toEqual([]);
  const broken = links.filter(
    ({ target, anchor }) =>
      anchor &&
      !all(target, /^#+ (.*)$/gm)
        .map(anchorOf)
        .includes(anchor),
  );
  expect(broken).toEqual([]);
});

test.each(DOCUMENTS)('%s names only existing files and scripts', (path) => {
  expect(missing(all(path, /`((?:src|test|docs|migrations|\.ci)\/[^`\s]*)`/g))).toEqual([]);
  const { scripts } = JSON.parse(read('package.json'));
  expect(all(path, /npm run (?:-s )?([\w:-]+)/g).filter((name) => !(name in scripts))).toEqual([]);
});

test.each(DOCUMENTS)('%s names only existing commands of npm run admin', (path) => {
  const wordsOf = (command: string) => /^([a-z-]+) [a-z-]+(?= |$)/.exec(command);
  const [groups, commands] = [1, 0].map((part) => Object.keys(COMMANDS).map((usage) => wordsOf(usage)?.[part]));
  const named = codesIn(read(path)).flatMap((code) => wordsOf(code) ?? []);
  expect(named.filter(([, group]) => groups?.includes(group)).filter(([words]) => !commands?.includes(words))).toEqual(
    [],
  );
});

test('the code cites only existing documents and headings', () => {
  const sources = ['src', 'test', 'migrations'].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => join(folder, `${name}`)),
  );
  const files = [...sources.filter((file) => /^(?!.*node_modules).*\.(ts|sql|toml|css)$/.test(file)), 'wrangler.toml'];
  const cited = files.flatMap((file) => [...read(file).matchAll(/(docs\/\w+\.md)(?:,? "([A-Z][^"]+)")?/g)]);
  expect(missing(cited.map(([, document = '']) => document))).toEqual([]);
  for (const [, document = '', heading] of cited) if (heading) expect(read(document)).toContain(`# ${heading}\n`);
});

test('README.md shows the two start commands', () => {
  expect(read('README.md')).toMatch(/^npm ci && npm run dev$.*^npm ci && npm test$/ms);
});

test('docs/design.md lists every folder in src, except for those of resources', () => {
  const named = tableIn('docs/design.md', 'Path', 'What is there').flatMap(([cell]) => codesIn(cell));
  const folders = readdirSync('src', { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !existsSync(`src/${entry.name}/operations.ts`),
  );
  expect(named).toEqual(expect.arrayContaining(folders.map(({ name }) => `src/${name}/`)));
  expect(missing(named)).toEqual([]);
});

test('docs/operating.md lists every command of npm run admin with the options that it requires', () => {
  const formOf = (command = '') => command.replace(/ \[.*/, '').replace(/(--[\w-]+) \S+/g, '$1'); // without example values
  const { help } = commandLineOf(['--help']) as { help: string };
  const forms = [...help.matchAll(/^ {2}(\S.*)$/gm)].map(([, command]) => formOf(command));
  const named = tableIn('docs/operating.md', 'Command', 'Followed by').flatMap(([word, cell]) =>
    codesIn(cell).map((others) => formOf(`${codesIn(word)[0]} ${others}`)),
  );
  const create = 'business create --user --name --main-domain --site --country --size'; // too long for the table
  expect(named.sort()).toEqual(forms.map((form) => (form === create ? 'business create' : form)).sort());
});

test('docs/api.md lists every Error-Code and no other', () => {
  const named = tableIn('docs/api.md', 'Status and `Error-Code`', 'When').map(([cell]) => codesIn(cell)[0]);
  expect([...new Set(named)].sort()).toEqual(ERROR_CODES.toSorted());
});

test('docs/api.md states which tokens can be imported', () => {
  const [, row = ''] = tableIn('docs/api.md', 'Member').find(([member]) => member === '`token`') ?? [];
  const [, characters, fewest, most] = /\[([^\]]*)\]\{(\d+),(\d+)\}\$$/.exec(IMPORTED.source) ?? [];
  expect(row).toContain(`: ${fewest} to ${most} characters from \`${characters?.replaceAll('\\', '')}\`, `);
  expect(row).toMatch(/, not beginning with `bua_`$/);
});

test('the documents state until when a use can be lowered, and when the count of a month is final', () => {
  const numbers = (path: string, pattern: RegExp) => all(path, pattern).map(Number);
  expect(numbers('docs/api.md', /their day is more than (\d+) days ago/g)).toEqual([LOWER_DAYS]);
  expect(numbers('docs/product.md', /the use within (\d+) days of its day/g)).toEqual([LOWER_DAYS]);
  expect(numbers('docs/api.md', /`final` is true (\d+) days after the month ends/g)).toEqual([FINAL_AFTER_DAYS]);
  expect(numbers('docs/product.md', /(\d+) days after its end/g)).toEqual([FINAL_AFTER_DAYS]);
});

test('docs/api.md, "Retries": the operations of the first row need an Idempotency-Key, those below it reject one, and no others do either', () => {
  const text = read('docs/api.md');
  const anchorsOf = (cell = '') => [...cell.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor);
  const rows = tableIn('docs/api.md', 'Operation', 'After a 500 or no response').map(([cell]) => anchorsOf(cell));
  /** The sections to which the table in "Basics" links these rules. */
  const sectionsOf = (applies: (rule: Rule) => boolean) =>
    Object.values<Operation>(OPERATIONS).flatMap(({ method, path, rules }) => {
      const request = `${method} /api/v1${path.replaceAll(/:(\w+)/g, '{$1}')}`;
      const links = text.split('\n').filter((line) => line.startsWith(`| [\`${request}\`]`));
      return rules.flatMap((rule, index) => (applies(rule) ? anchorsOf(links[index]) : []));
    });
  expect(rows[0]?.sort()).toEqual(sectionsOf(({ retry }) => retry === 'with_key').sort());
  const rejecting = sectionsOf(({ retry, rejectsKey }) => retry === 'never' || rejectsKey !== undefined);
  expect(rows.slice(1).flat().sort()).toEqual(rejecting.sort());
});

test('docs/operating.md states the rate limits set in wrangler.toml', () => {
  const set = all('wrangler.toml', /^simple = { limit = (\d+), period = 10\b/gm);
  expect(all('docs/operating.md', /(\d+) in 10 seconds/g)).toEqual(set);
});
