// The Drizzle schema and the migrations describe the same tables and columns.
import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { describe, expect, test } from 'vitest';
import * as schema from '../src/db/schema.ts';
import { env } from './support.ts';

const tables = Object.values(schema).filter((exported) => is(exported, SQLiteTable)) as SQLiteTable[];
const all = async <T>(sql: string) => (await env.DB.prepare(sql).all<T>()).results;
const stored = () =>
  all<{ name: string; sql: string }>(
    `select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'd1_%'
      and name not like '_cf_%' order by name`,
  );

test('the schema and the database have the same tables, all of them STRICT', async () => {
  const found = await stored();
  expect(found.map(({ name }) => name)).toEqual(tables.map((table) => getTableConfig(table).name).sort());
  for (const { sql } of found) expect(sql).toMatch(/STRICT/);
});

test('tables with public ids are AUTOINCREMENT, and the table of daily counts is WITHOUT ROWID', async () => {
  const sql = Object.fromEntries((await stored()).map(({ name, sql }) => [name, sql]));
  for (const name of ['businesses', 'sites', 'api_keys'])
    expect(sql[name]).toMatch(/id +INTEGER PRIMARY KEY AUTOINCREMENT/);
  expect(sql.daily_usage).toMatch(/PRIMARY KEY \(business_id, day\)\n\) STRICT, WITHOUT ROWID/);
});

test('the database has no triggers or views', async () => {
  expect(await all(`select name from sqlite_master where type in ('trigger', 'view')`)).toEqual([]);
});

describe.each(tables.map((table) => [getTableConfig(table).name, getTableConfig(table)] as const))(
  '%s',
  (name, config) => {
    test('has the same columns, types and NOT NULL constraints in the schema and the database', async () => {
      // A key that is an alias of the rowid is never null.
      const columns = await all(
        `select name, type, "notnull" or (pk = 1 and type = 'INTEGER') as "notnull" from pragma_table_xinfo('${name}') order by cid`,
      );
      expect(columns).toEqual(
        config.columns.map((column) => ({
          name: column.name,
          type: column.getSQLType().toUpperCase(),
          notnull: column.notNull ? 1 : 0,
        })),
      );
    });
  },
);
