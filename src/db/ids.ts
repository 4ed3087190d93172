// Keeps the ids of new rows in the range of their database.
import { and, sql } from 'drizzle-orm';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { IDS_PER_DATABASE } from '../core/database.ts';
import { isBeforeDeadline } from './call.ts';
import { rowValues } from './new-row.ts';
import { isPermitted } from './permission.ts';
import { statement } from './statement.ts';
import { builder } from './text.ts';

/** The SQLite table that stores the last id of each AUTOINCREMENT table. */
export const sequence = sqliteTable('sqlite_sequence', { name: text().notNull(), seq: integer().notNull() });

const WITH_IDS = ['businesses', 'sites', 'api_keys', 'former_tokens'];
const begun = statement(['last'], (permission, $) => {
  const isThere = sql`select 1 from ${sequence} where ${sequence.name} = value`;
  return builder.insert(sequence).select(
    sql`select ${rowValues(sequence, { name: sql`value`, seq: $.last })}
      from ${permission} cross join json_each(${sql.raw(`'${JSON.stringify(WITH_IDS)}'`)})
      where ${and(isPermitted(permission), isBeforeDeadline)} and not exists (${isThere})`,
  );
});

/**
 * The step that begins the ids of tables without rows in the range of database `number`. Every batch that can create a table's first row
 * includes it or follows one that did, so a new database needs no setup.
 */
export const beginIds = (number: number) => ({ begun: begun({ last: number * IDS_PER_DATABASE }) });
