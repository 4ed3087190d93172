// What the documents name exists: links, files, commands and settings.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLineOf } from '../../src/cli/command-line.ts';
import { codesIn, DOCUMENTS, read, tableIn } from './document.ts';

const all = (path: string, pattern: RegExp) => [...read(path).matchAll(pattern)].map(([, found = '']) => found);
const missing = (paths: string[]) => paths.filter((path) => !existsSync(path));
/** As GitHub makes it of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

test.each(DOCUMENTS)('%s links to documents, headings and pictures that exist', (path) => {
  const links = all(path, /(?:\]\(|src(?:set)?=")(?!https?:)([^)"]+)/g).map((link) => {
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

test.each(DOCUMENTS)('%s names files and scripts that exist', (path) => {
  expect(missing(all(path, /`((?:src|test|docs|migrations|\.ci)\/[^`\s]*)`/g))).toEqual([]);
  const { scripts } = JSON.parse(read('package.json'));
  expect(all(path, /npm run (?:-s )?([\w:-]+)/g).filter((name) => !(name in scripts))).toEqual([]);
});

test('the code cites documents and headings that exist', () => {
  const sources = ['src', 'test', 'migrations'].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => join(folder, `${name}`)),
  );
  const files = [...sources.filter((file) => /^(?!.*node_modules).*\.(ts|sql|toml|css)$/.test(file)), 'wrangler.toml'];
  const cited = files.flatMap((file) => [...read(file).matchAll(/(docs\/\w+\.md)(?:,? "([A-Z][^"]+)")?/g)]);
  expect(missing(cited.map(([, document = '']) => document))).toEqual([]);
  for (const [, document = '', heading] of cited) if (heading) expect(read(document)).toContain(`# ${heading}\n`);
});

test('README.md names the two commands, and where every part of src is', () => {
  expect(read('README.md')).toMatch(/^npm ci && npm run dev$.*^npm ci && npm test$/ms);
  const named = tableIn('README.md', 'Path', 'What is there').flatMap(([cell]) => codesIn(cell));
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(named).toEqual(expect.arrayContaining(folders.map(({ name }) => `src/${name}/`)));
  expect(missing(named)).toEqual([]);
});

test('docs/operating.md has every command of npm run admin, with its options', () => {
  const formOf = (command = '') => command.replace(/(--[\w-]+) ("[^"]*"|[^\s\]]+)/g, '$1'); // without examples of values
  const { help } = commandLineOf(['--help']) as { help: string };
  const forms = [...help.matchAll(/^ {2}(\S.*)$/gm)].map(([, command]) => formOf(command));
  const named = tableIn('docs/operating.md', 'Command', 'What it does').map(([cell]) => formOf(codesIn(cell)[0]));
  expect(named.sort()).toEqual(forms.sort());
});

test('the rate limits are those of wrangler.toml', () => {
  const set = all('wrangler.toml', /limit = (\d+), period = 10\b/g);
  for (const path of ['docs/api.md', 'docs/operating.md']) expect(all(path, /(\d+) in 10 seconds/g)).toEqual(set);
});
