// Keeps the ids of new rows in the range of their database.
import { and, sql } from 'drizzle-orm';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { IDS_PER_DATABASE } from '../core/database.ts';
import { rowValues } from './new-row.ts';
import { isPermitted } from './permission.ts';
import { statement } from './statement.ts';
import { builder } from './text.ts';

/** The SQLite table that stores the last id of each AUTOINCREMENT table. */
export const sequence = sqliteTable('sqlite_sequence', { name: text().notNull(), seq: integer().notNull() });

const WITH_IDS = ['businesses', 'access', 'api_keys'];
const tables = sql.raw(`json_each('${JSON.stringify(WITH_IDS)}')`);
const addSequences = statement(['last'], (permission, $) => {
  const isThere = sql`select 1 from ${sequence} where ${sequence.name} = value`;
  return builder.insert(sequence).select(
    sql`select ${rowValues(sequence, { name: sql`value`, seq: $.last })} from ${permission} cross join ${tables}
      where ${isPermitted(permission)} and not exists (${isThere})`,
  );
});
const raiseSequences = statement(['last'], (permission, $) => {
  const existsPermission = sql`exists (select 1 from ${permission} where ${isPermitted(permission)})`;
  const isIncluded = sql`${sequence.name} in (select value from ${tables})`;
  return builder
    .update(sequence)
    .set({ seq: sql`${$.last}` })
    .where(and(isIncluded, sql`${sequence.seq} < ${$.last}`, existsPermission));
});

/**
 * Returns the steps that raise the next ids into the range of database `number`. Every batch that can create a table's first row includes
 * these steps, so a new database needs no setup.
 */
export function raiseIds(number: number) {
  const values = { last: number * IDS_PER_DATABASE };
  return { added: addSequences(values), raised: raiseSequences(values) };
}
