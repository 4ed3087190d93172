// Whether each database is the one that its binding says: a command must not work on another because names were exchanged.
import { bindingOf } from '../core/database.ts';
import { identity } from '../db/schema.ts';
import { type BoundDatabase, failingDatabase, metLock } from './databases.ts';

type Identity = typeof identity.$inferSelect;

/** The databases; in place of one that says that it is another, one that fails like a database that is down. */
export async function recognized(databases: readonly BoundDatabase[]): Promise<BoundDatabase[]> {
  const identities = await Promise.all(databases.map(identityOf));
  const first = identities[databases.findIndex(({ number }) => number === 0)];
  return databases.map((database, index) => {
    const own = identities[index];
    if (!own) return database;
    const problem =
      own.number !== database.number
        ? `it is the database ${bindingOf(own.number)}`
        : first && own.mark !== first.mark && 'it is of another service than DB';
    return problem ? { ...database, db: failingDatabase(problem) } : database;
  });
}

/** Null if a database has no mark yet, or cannot be asked: then whatever needs it says why. */
async function identityOf({ db }: BoundDatabase): Promise<Identity | null> {
  try {
    return (await db.select().from(identity).get()) ?? null;
  } catch (error) {
    if (metLock(error)) throw error;
    return null;
  }
}
