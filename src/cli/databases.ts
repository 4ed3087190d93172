// The databases of the service, as the operator's commands use them.
import { drizzle } from 'drizzle-orm/d1';
import { Conflict } from '../core/conflict.ts';
import { bindingOf, databaseOfId } from '../core/database.ts';
import type { Operation } from '../core/policy.ts';
import { type Ask, type BoundDatabases, noCost, runBatch } from '../db/batch.ts';
import { callByOperator } from '../db/call.ts';
import { type Database, homes } from '../db/schema.ts';
import { reasonOf } from './errors.ts';

/** The second is for reads: miniflare writes a bookmark in the transaction of each. */
const MET_LOCK = /database is locked|Failed to get session commit token/;

/** Whether an error is a lock of a local database, which a dev server holds for moments. */
export const metLock = (error: unknown): boolean => MET_LOCK.test(reasonOf(error));

/** A database with its number, which is in the ids and credentials that are created there. */
export type NumberedDatabase = { number: number; db: Database };

/** One of the databases, as the configuration binds it. `name` is its name at Cloudflare. */
export type BoundDatabase = NumberedDatabase & { binding: string; name: string };

/** All databases of a configuration, in the order of their numbers. */
export class Databases {
  readonly all: readonly BoundDatabase[];
  /** DB, where homes and imported tokens are claimed. */
  readonly first: BoundDatabase;
  constructor(all: BoundDatabase[]) {
    this.all = all.toSorted((a, b) => a.number - b.number);
    const [first] = this.all;
    if (first?.number !== 0) throw new Error('The configuration binds no database DB.');
    this.first = first;
  }

  /** The database with this number, if it is bound. */
  numbered(number: number): BoundDatabase | undefined {
    return this.all.find((database) => database.number === number);
  }

  /** The database in which a business or key with this id is; undefined if there can be none. Fails if that database is not bound. */
  holding(id: number): BoundDatabase | undefined {
    const number = databaseOfId(id);
    const database = this.numbered(number);
    const binding = bindingOf(number);
    if (database === undefined && binding !== null)
      throw new Error(`The id ${id} is one of ${binding}, which the configuration does not bind.`);
    return database;
  }

  /** As the functions take them that commands and routes share: for one operation. A failure names its database. */
  asking(operation: Operation, now: Date): BoundDatabases {
    return {
      numbers: this.all.map(({ number }) => number),
      askIn: (number) => (read, steps) => {
        const database = this.numbered(number);
        if (database === undefined) throw new Error(`Database ${number} is not bound.`);
        return naming(database, asking(database, operation, now)(read, steps));
      },
    };
  }

  /**
   * Reads from each database. One that fails is named in `failures`, and the others are read. Fails if all of them do, if one is
   * locked, which is temporary, or if what is asked for is not possible.
   */
  async each<T>(read: (database: BoundDatabase) => Promise<T>): Promise<{ values: T[]; failures: string[] }> {
    const results = await Promise.allSettled(this.all.map(read));
    const values = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failures = results.flatMap((result, index) => {
      if (result.status === 'fulfilled') return [];
      if (metLock(result.reason) || result.reason instanceof Conflict) throw result.reason;
      return [failureOf(this.all[index], result.reason)];
    });
    if (values.length === 0) throw new Error(failures.join('; '));
    return { values, failures };
  }
}

/** Asks a database by the operator: what a route has as `ask`. A business that is unknown is an error. */
export const asking =
  ({ db }: Pick<NumberedDatabase, 'db'>, operation: Operation, now: Date, business_id: number | null = null): Ask =>
  async (read, steps) => {
    const { row, rows, bytes } = await runBatch(
      db.$client,
      callByOperator(operation, business_id, now),
      read,
      steps,
      noCost(),
    );
    if (row === undefined || row.refusal !== null)
      throw new Error(
        row?.refusal === 'unknown_business' ? 'There is no business with that id.' : `refused: ${row?.refusal}`,
      );
    return { ...rows, row, bytes };
  };

/** How messages name a database. */
export const nameOf = (database: Pick<BoundDatabase, 'binding' | 'name'> | undefined) =>
  `${database?.binding} (${database?.name})`;

const failureOf = (database: BoundDatabase | undefined, error: unknown) =>
  `${nameOf(database)} failed: ${reasonOf(error)}`;

/** What a database is asked, where nobody has typed which one that is: if it fails, the error names it. */
export const naming = <T>(database: BoundDatabase, work: Promise<T>): Promise<T> =>
  work.catch((error) => {
    throw error instanceof Conflict ? error : new Error(failureOf(database, error));
  });

/** In place of a database that must not be used. It fails like one that is down, so commands that do not need it go on. */
export const failingDatabase = (message: string): Database =>
  drizzle({
    prepare(): never {
      throw new Error(message);
    },
  } as unknown as D1Database);

/** Reads from each database (`Databases.each`). Owners whose database is not bound are a failure, too: the result lacks what they have. */
export async function eachOfOwners<T>(databases: Databases, read: (database: BoundDatabase) => Promise<T>) {
  const { values, failures } = await databases.each(async (database) => {
    const homesIn =
      database === databases.first ? database.db.selectDistinct({ number: homes.database }).from(homes) : [];
    return { value: await read(database), claimed: await homesIn };
  });
  const unbound = values
    .flatMap(({ claimed }) => claimed)
    .filter(({ number }) => databases.numbered(number) === undefined);
  const missing = unbound
    .sort((a, b) => a.number - b.number)
    .map(({ number }) => `${bindingOf(number)} has owners, but the configuration does not bind it`);
  return { values: values.map(({ value }) => value), failures: [...failures, ...missing] };
}
