// The Drizzle schema and the migrations describe the same tables.
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
  for (const name of ['businesses', 'access', 'api_keys'])
    expect(sql[name]).toMatch(/id +INTEGER PRIMARY KEY AUTOINCREMENT/);
  expect(sql.daily_usage).toMatch(/PRIMARY KEY \(business_id, day\)\n\) STRICT, WITHOUT ROWID/);
});

test('the database has no triggers or views', async () => {
  expect(await all(`select name from sqlite_master where type in ('trigger', 'view')`)).toEqual([]);
});

describe.each(tables.map((table) => [getTableConfig(table).name, getTableConfig(table)] as const))(
  '%s',
  (name, config) => {
    test('has the same columns, types, NOT NULL constraints and primary key in the schema and the database', async () => {
      type Column = { name: string; type: string; notnull: number; pk: number };
      const columns = await all<Column>(
        `select name, type, "notnull", pk from pragma_table_xinfo('${name}') order by cid`,
      );
      const key = config.primaryKeys[0]?.columns.map((column) => column.name) ?? [];
      expect(columns.map(({ pk, ...column }) => ({ ...column, pk: pk > 0 }))).toEqual(
        config.columns.map((column) => ({
          name: column.name,
          type: column.getSQLType().toUpperCase(),
          notnull: column.notNull && !column.primary ? 1 : 0,
          pk: column.primary || key.includes(column.name),
        })),
      );
    });

    test('has the same foreign keys in the schema and the database', async () => {
      const keys = await all(
        `select "from", "table", "to", lower(on_delete) as on_delete from pragma_foreign_key_list('${name}')`,
      );
      expect(keys).toEqual(
        config.foreignKeys.map((key) => {
          const { columns, foreignTable, foreignColumns } = key.reference();
          return {
            ...{ from: columns[0]?.name, table: getTableConfig(foreignTable).name, to: foreignColumns[0]?.name },
            on_delete: key.onDelete ?? 'no action',
          };
        }),
      );
    });

    test('has the same indexes and UNIQUE constraints in the schema and the database', async () => {
      type Index = { name: string; unique: number; origin: string };
      const indexes = await all<Index>(
        `select name, "unique", origin from pragma_index_list('${name}') where origin <> 'pk'`,
      );
      const found = await Promise.all(
        indexes.map(async (index) => {
          const columns = await all<{ name: string }>(
            `select name from pragma_index_info('${index.name}') order by seqno`,
          );
          return `${index.unique ? 'unique ' : ''}${columns.map((column) => column.name).join(', ')}`;
        }),
      );
      const described = [
        ...config.columns.filter((column) => column.isUnique).map((column) => `unique ${column.name}`),
        ...config.uniqueConstraints.map(({ columns }) => `unique ${columns.map((column) => column.name).join(', ')}`),
        ...config.indexes.map(({ config: { columns, unique } }) => {
          const names = columns.map((column) => (column as { name: string }).name).join(', ');
          return `${unique ? 'unique ' : ''}${names}`;
        }),
      ];
      expect(found.sort()).toEqual(described.sort());
    });
  },
);
