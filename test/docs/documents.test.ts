// Checks the links, files, commands and settings that the documents name.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { commandLineOf } from '../../src/cli/command-line.ts';
import { ERROR_CODES } from '../../src/http/errors.ts';
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

test('docs/operating.md states the rate limits set in wrangler.toml', () => {
  const set = all('wrangler.toml', /limit = (\d+), period = 10\b/g);
  expect(all('docs/operating.md', /(\d+) in 10 seconds/g)).toEqual(set);
});

test('the commands in docs/restoring.md save the claims in DB or rebuild them from other databases, and restore them without blocking', () => {
  const [save, putBack, take] = all('docs/restoring.md', /^ *```sh\n([^`]*)^ *```$/gm).filter((block) =>
    block.includes('claims'),
  );
  expect(`${save}${putBack}${take}`).not.toMatch(/d1 export|--file/);

  // Replaces wrangler with a script that runs the SQL on the database file named by $DATABASE.
  const folder = mkdtempSync(join(tmpdir(), 'claims-'));
  const execute = `const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.env.DATABASE);
    const [sql] = process.argv.slice(process.argv.indexOf('--command') + 1);
    if (process.argv.includes('--json')) console.log(JSON.stringify([{ results: database.prepare(sql).all() }]));
    else database.exec(sql);`;
  writeFileSync(join(folder, 'execute.js'), execute);
  const database = (name: string) => {
    const made = new DatabaseSync(join(folder, name));
    for (const file of readdirSync('migrations').sort()) made.exec(read(`migrations/${file}`));
    return made;
  };
  const shell = (script: string, name: string) =>
    execFileSync('bash', ['-ec', `npx() { ${process.execPath} execute.js "$@"; }\n${script}`], {
      cwd: folder,
      env: { ...process.env, DATABASE: name },
    });
  const claims = (of: DatabaseSync) => [
    of.prepare('select user_id, database, place from homes order by 1').all(),
    of.prepare('select * from imported_tokens order by 1').all(),
  ];
  try {
    const [before, restored] = [database('before'), database('restored')];
    const listed = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 700) select';
    before.exec(`insert into homes ${listed} i, i % 62, (i + 61) / 62, '2026-03-15T12:00:00.000000Z' from n;
      insert into imported_tokens ${listed} printf('%064x', i), i from n`);
    restored.exec(
      `insert into homes values (7, 7, 1, '2026-03-15T12:00:00.000000Z'); insert into imported_tokens values ('${'0'.repeat(63)}7', 7)`,
    );
    shell(save ?? '', 'before');
    shell(putBack ?? '', 'restored');
    expect(claims(restored)).toEqual(claims(before));

    rmSync(join(folder, 'claims.sql'));
    for (const part of readdirSync(folder).filter((name) => name.startsWith('claims-'))) rmSync(join(folder, part));
    const [other, rebuilt] = [database('other'), database('rebuilt')];
    other.exec(`insert into businesses (id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
        ${listed} 61000000000 + i, i / 2, '', '', '', 1, '', printf('%024d', i), 'active', '', '' from n;
      insert into api_keys (id, user_id, name, hash, last_four, role, created_at, created_by)
        ${listed} 61000000000 + i, 300 + i / 2, '', printf('%064x', i), 'abcd', 'full', '', 'operator' from n;
      insert into retired_tokens ${listed} printf('%064x', i) from n`);
    rebuilt.exec(`insert into homes values (7, 7, 1, '2026-03-15T12:00:00.000000Z')`);
    shell(take ?? '', 'other');
    shell(putBack ?? '', 'rebuilt');
    expect(claims(rebuilt)).toEqual([
      Array.from({ length: 651 }, (_, user_id) => {
        return user_id === 7
          ? { user_id, database: 7, place: 1 }
          : { user_id, database: 61, place: user_id + (user_id < 7 ? 1 : 0) };
      }),
      Array.from({ length: 700 }, (_, index) => {
        return { hash: (index + 1).toString(16).padStart(64, '0'), user_id: 0 };
      }),
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
