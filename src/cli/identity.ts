// Whether each database is the one that its binding says: a command must not work on another because names were exchanged.
import { bindingOf } from '../core/database.ts';
import { identity } from '../db/schema.ts';
import { type BoundDatabase, failingDatabase, metLock } from './databases.ts';
import { reasonOf } from './errors.ts';

type Identity = typeof identity.$inferSelect;

/** The databases; in place of one that says that it is another, one that fails like a database that is down. */
export async function recognized(databases: readonly BoundDatabase[]): Promise<BoundDatabase[]> {
  const identities = await Promise.all(databases.map(identityOf));
  const read = identities.map((own) => (typeof own === 'string' ? null : own));
  const first = read[databases.findIndex(({ number }) => number === 0)];
  return databases.map((database, index) => {
    const own = identities[index];
    if (typeof own === 'string') return { ...database, db: failingDatabase(own) };
    if (!own) return database;
    const problem =
      own.number !== database.number
        ? `it is the database ${bindingOf(own.number)}`
        : first && own.mark !== first.mark && 'it is of another service than DB';
    return problem ? { ...database, db: failingDatabase(problem) } : database;
  });
}

/** Null if a database has no mark yet. If it cannot be asked, the reason: it must not be used then, even if it can be asked later. */
async function identityOf({ db }: BoundDatabase): Promise<Identity | null | string> {
  try {
    return (await db.select().from(identity).get()) ?? null;
  } catch (error) {
    if (metLock(error)) throw error;
    const reason = reasonOf(error);
    return reason.includes('no such table: identity') ? null : reason;
  }
}
