// A database of 1.0.0-rc.1 with three months of data is upgraded by every later migration, and then answers as it did in that version (both
// written by test/sim/release.ts). npm run deploy applies a migration while the old Worker still serves, so a migration must also suit the
// code before it: what that code reads and writes stays, and what is new has a default.
import { applyD1Migrations } from 'cloudflare:test';
import { drizzle } from 'drizzle-orm/d1';
import { beforeAll, expect, test } from 'vitest';
import { purge } from '../../src/purge.ts';
import { call, env, later, resetDatabases } from '../support.ts';
import answers from './1.0.0-rc.1.ndjson?raw';
import dump from './1.0.0-rc.1.sql?raw';

const REGENERATE = `the tables in test/databases/1.0.0-rc.1.sql differ from migrations/0001_schema.sql: until 1.0.0-rc.1 is released, run npx \
node --import ./src/tools/node.js test/sim/release.ts; after it, leave 0001 as it was and add a migration`;
const statements = dump.split(/;\n/).filter(Boolean);

/** Loads the dump into ONE, and applies the migrations after 0001 and another one. DB becomes a fresh database. */
async function upgrade(queries: string[]): Promise<void> {
  await resetDatabases();
  await env.ONE.batch(statements.map((sql) => env.ONE.prepare(sql)));
  const migrations = [...env.MIGRATIONS, { name: '9999_made_up.sql', queries }];
  await applyD1Migrations(env.ONE, migrations.slice(1));
  await applyD1Migrations(env.DB as D1Database, migrations);
}

async function columns(d1: D1Database) {
  const sql = `select tables.name as "table", columns.* from sqlite_master as tables, pragma_table_xinfo(tables.name) as columns
    where tables.type = 'table' and tables.name not like '\\_cf\\_%' escape '\\' order by "table", cid`;
  return (await d1.prepare(sql).all()).results;
}

/** Rejects unless ONE has the columns of a fresh database and answers as it did in 1.0.0-rc.1. Answers may have members that are new. */
async function check(): Promise<void> {
  expect(await columns(env.ONE)).toEqual(await columns(env.DB as D1Database));
  const bindings = { DB: env.ONE, DB_1: undefined, DB_2: undefined };
  for (const line of answers.trimEnd().split('\n')) {
    const { request, as, headers, body, status, answer } = JSON.parse(line);
    const [method, path] = request.split(' ');
    const options = { as: as ?? undefined, headers, bindings, ...(body && { body }) };
    const given = await call(method, `/api/v1${path}`, options);
    expect({ status: given.status, answer: given.body }, request).toMatchObject({ status, answer });
  }
  for (let turn = 0; turn < 10; turn++) await purge(drizzle(env.ONE), later(turn * 120_000));
}

beforeAll(() => {
  const plain = (sql: string) => sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ').replace(/;$/, '').trim();
  const declared = (env.MIGRATIONS[0]?.queries ?? []).map(plain).filter(Boolean);
  const created = statements.map(plain).filter((sql) => /^create /i.test(sql));
  if (created.join('\n') !== declared.join('\n')) throw new Error(REGENERATE);
});

test('a database of 1.0.0-rc.1, upgraded by every migration, has all columns and answers as before', async () => {
  await upgrade([]);
  await check();
});

test('the old Worker serves a database to which a migration adds a column, an index and a table', {
  tags: 'slow',
}, async () => {
  await upgrade([
    `alter table businesses add column made_up text not null default ''`,
    'create index made_up_index on daily_usage (day)',
    'create table made_up_table (business_id integer primary key references businesses (id), note text) strict',
  ]);
  await check();
});

const LEDGER = `business_id INTEGER, digest BLOB, day INTEGER, forget_on INTEGER, quantity INTEGER, source INTEGER`;
const rebuilt = (columns: string, selected: string) => [
  `create table made_up_table (${columns}, primary key (business_id, digest)) strict, without rowid`,
  `insert into made_up_table select ${selected} from ledger`,
  'drop table ledger',
  'alter table made_up_table rename to ledger',
];
test.each<[string, string[], string]>([
  ['drops a column', ['alter table businesses drop column alert_at'], 'GET /business'],
  [
    'confuses columns',
    rebuilt(LEDGER, 'business_id, digest, forget_on, day, quantity, source'),
    'POST /business/usage/1',
  ],
  ['adds a column without a default', rebuilt(`${LEDGER}, made_up TEXT NOT NULL`, `*, ''`), 'POST /business/usage/1'],
])('the check rejects a migration that %s', { tags: 'slow' }, async (_, queries, request) => {
  await upgrade(queries);
  await expect(check()).rejects.toThrow(`${request}: `);
});
