// The commands in docs/restoring.md and its examples, which wrangler runs on local databases instead of remote ones.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { claimHome } from '../../src/homes/homes.ts';
import { boundTo, createBusiness } from '../ask.ts';
import { ROOT, threeDatabases } from '../cli/support.ts';
import { read } from '../docs/document.ts';
import { type LocalDatabase, openDatabases, withDatabases } from './local.ts';
import { newFolder } from './state.ts';

const RESTORING = read('docs/restoring.md').replaceAll('--remote', '--local');
const NOW = new Date('2026-03-15T12:00:00.000Z');
const TIMEOUT = { timeout: 180_000 };

/** Creates a checkout with three databases in wrangler's folder, and with their tables if `state` is given. */
function checkoutOf(config: string, state?: string) {
  const folder = newFolder();
  const own = join(folder, '.wrangler/state');
  mkdirSync(own, { recursive: true });
  cpSync(config, join(folder, 'wrangler.toml'));
  if (state !== undefined) cpSync(state, own, { recursive: true });
  for (const name of ['migrations', 'docs']) symlinkSync(join(ROOT, name), join(folder, name));
  return { folder, where: { config: join(folder, 'wrangler.toml'), 'persist-to': own } };
}

/** Replaces gpg and npx: encrypts nothing, and runs this project's wrangler. */
const PROGRAMS = `npx() { "$@"; }
  gpg() { case "$*" in *--decrypt*) cat "\${!#}";; *) cp "\${!#}" "\${!#}.gpg";; esac; }`;
const shellIn = (folder: string, script: string) =>
  execFileSync('bash', ['-ec', `${PROGRAMS}\n${script}`], {
    cwd: folder,
    env: { ...process.env, CI: 'true', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
    stdio: 'pipe',
  });

/** The rows of all tables, and the definitions of tables and indexes. */
async function contentOf({ db: { $client } }: LocalDatabase) {
  const rows = async (query: string) => (await $client.prepare(query).all()).results;
  const schema = await rows(
    `select type, name, tbl_name, sql from sqlite_schema where name not glob '_cf_*' order by 1, 2`,
  );
  const tables = schema.flatMap(({ type, name }) => (type === 'table' ? [`${name}`] : []));
  return { schema, rows: await Promise.all(tables.map(async (name) => [name, await rows(`select * from "${name}"`)])) };
}

test('the claims in DB can be saved, or collected from every database, and put back', TIMEOUT, async () => {
  const [save = '', putBack = '', collect = ''] = [...RESTORING.matchAll(/^ *```sh\n([^`]*)^ *```$/gm)]
    .map(([, block = '']) =>
      block.replace('business-usage-access-1', 'COLLECTED').replaceAll('business-usage-access', 'DB'),
    )
    .filter((block) => block.includes('claims'));
  expect(save + putBack + collect).not.toMatch(/d1 export|--file/); // these would block the database
  const three = await threeDatabases();
  const { folder, where } = checkoutOf(three.config, three['persist-to']);
  const token = 'Token-of-another-system-1';
  const { databases, close } = await openDatabases(where);
  const [DB, DB_1, DB_2] = databases.all as [LocalDatabase, LocalDatabase, LocalDatabase];
  await claimHome(boundTo(databases.all, NOW), 7, { token, wanted: 1 });
  const fields = { user_id: 7, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example', token };
  await createBusiness(DB_1, { ...fields, country_id: 1, business_size: 'small' }, NOW);
  // More claims than the commands send at once.
  const users = 'with recursive n(i) as (select 8 union all select i + 1 from n where i < 507) select';
  const homes = `insert into homes ${users} i, 2, i - 7, '2026-03-15T12:00:00.000000Z' from n`;
  const keys = `insert into api_keys (id, user_id, name, hash, last_four, role, created_at, created_by)
    ${users} 2000000000 + i, i, 'key', printf('%064x', i), 'abcd', 'full', '', 'operator' from n`;
  await DB.db.$client.prepare(homes).run();
  await DB_2.db.$client.prepare(keys).run();
  await close();

  const claims = () =>
    withDatabases(where, async ({ first: { db } }) => [
      (await db.$client.prepare('select user_id, database, place from homes order by user_id').all()).results,
      (await db.$client.prepare('select hash from imported_tokens').all()).results,
    ]);
  const before = await claims();
  const collectAll = ['DB', 'DB_1', 'DB_2'].map((binding) => collect.replace('COLLECTED', binding)).join('\n');
  for (const script of [save, collectAll]) {
    shellIn(folder, script);
    await withDatabases(where, async ({ first: { db } }) => {
      for (const table of ['homes', 'imported_tokens']) await db.$client.prepare(`delete from ${table}`).run();
    });
    expect(await claims()).toEqual([[], []]);
    shellIn(folder, putBack);
    expect(await claims()).toEqual(before);
    for (const name of readdirSync(folder).filter((name) => name.startsWith('claims'))) rmSync(join(folder, name));
  }
  await withDatabases(where, async ({ all }) => {
    expect(await claimHome(boundTo(all, NOW), 7)).toEqual({ home: 1, isFree: true });
    expect(await claimHome(boundTo(all, NOW), 600, { token })).toMatchObject({ isFree: false });
  });
});

/** The commands that export and encrypt all databases, and those that restore DB. */
const backUp = parse(read('docs/examples/backup.yml'))
  .jobs.backup.steps.flatMap(({ run = '' }) => (run.includes('export') ? run : []))
  .join('\n')
  .replaceAll('--remote', '--local');
const restore = /(\n *gpg --decrypt .*?)\n *```/s.exec(RESTORING)?.[1] ?? '';

test('a database restored from its export is complete', TIMEOUT, async () => {
  const { config } = await threeDatabases();
  const [old, lost] = [checkoutOf(config), checkoutOf(config)];
  // Every table of this database has rows (test/sim/release.ts). D1 finds the statement that inserts the last change too long.
  const dump = readFileSync(join(ROOT, 'test/databases/1.0.0-rc.1.sql'), 'utf8').split(/;\n/).filter(Boolean);
  const long = JSON.stringify([`O'Hara \\n "😀"`.repeat(10_000)]);
  const before = await withDatabases(old.where, async ({ all, first }) => {
    for (const { db } of all) await db.$client.batch(dump.map((one) => db.$client.prepare(one)));
    const change = `insert into changes (subject, subject_id, id, at, actor, action, after) values ('business', 1, 99, '', '', '', ?)`;
    await first.db.$client.prepare(change).bind(long).run();
    return Promise.all(all.map(contentOf));
  });

  shellIn(old.folder, backUp);
  for (const binding of ['DB', 'DB_1', 'DB_2']) {
    cpSync(join(old.folder, `${binding}.sql.gpg`), join(lost.folder, `${binding}.sql.gpg`));
    const commands = restore.replaceAll('DB', binding);
    // Proves that the statements must be split.
    if (binding === 'DB') expect(() => shellIn(lost.folder, commands.replace('DB-cut.sql\n', 'DB.sql\n'))).toThrow();
    shellIn(lost.folder, commands);
  }
  expect(await withDatabases(lost.where, ({ all }) => Promise.all(all.map(contentOf)))).toEqual(before);
});
