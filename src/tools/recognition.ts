// Whether the databases that a deployment finds are the ones that it is for: an error in a name must never put an empty database, or
// that of another, in the place of one with owners.
import { bindingOf, databaseOfId, IDS_PER_DATABASE } from '../core/database.ts';
import type { identity } from '../db/schema.ts';

export type Identity = typeof identity.$inferSelect;

/** What a deployment knows of a database before it changes anything. */
export type Found = {
  number: number;
  /** Its name and binding, for messages. */
  label: string;
  exists: boolean;
  /** Its tables, without those of D1 and SQLite. */
  tables: string[];
  /** The last id that was given in it; null if there was none. */
  lastId: number | null;
  /** Null if it has none yet. */
  identity: Identity | null;
};

/** Whether a database has the tables of the service. */
const isOurs = ({ tables }: Found) => tables.includes('businesses');
/** Whether anything was ever created in it. */
const wasUsed = ({ number, lastId }: Found) => lastId !== null && lastId > number * IDS_PER_DATABASE;

/**
 * Why the databases cannot be those of this Worker, in one line; null if they can. `homes` are the numbers of the databases in which
 * owners are. Whether the Worker is deployed already is a different question, for a DB that `isNew`.
 */
export function problemWith(databases: Found[], homes: number[], worker: string): string | null {
  const bound = new Map(databases.map((found) => [found.number, found]));
  const unbound = homes.filter((home) => !bound.has(home)).map(bindingOf);
  if (unbound.length > 0)
    return `Owners have their data in ${unbound.join(', ')}, which the configuration does not bind`;

  const marked = firstMarked(databases);
  for (const found of databases) {
    const { number, label, exists, identity, lastId } = found;
    if (identity !== null) {
      if (identity.worker !== worker)
        return `${label} is a database of the Worker ${identity.worker}, not of ${worker}`;
      if (identity.number !== number) return `${label} is the database ${bindingOf(identity.number)} of the service`;
      if (identity.mark !== marked?.identity?.mark)
        return `${label} and ${marked?.label} are databases of different services`;
    } else if (exists && !isOurs(found) && found.tables.length > 0) {
      return `${label} has tables that are not of this service: ${found.tables.join(', ')}`;
    } else if (lastId !== null && lastId > 0 && databaseOfId(lastId) !== number) {
      return `${label} has the ids of ${bindingOf(databaseOfId(lastId))}`;
    }
    if (number !== 0 && homes.includes(number) && identity === null && !wasUsed(found))
      return `Owners have their data in ${bindingOf(number)}, but ${label} ${exists ? 'is empty' : 'does not exist'}`;
  }
  const [first] = databases;
  const other = databases.find(({ number, exists }) => number !== 0 && exists);
  if (first !== undefined && isNew(first) && other !== undefined)
    return `${first.label} ${first.exists ? 'is empty' : 'does not exist'}, but ${other.label} exists`;
  return null;
}

/** Whether a database is not there, or has no tables yet. */
export const isNew = (found: Found): boolean => !isOurs(found);

/** The mark of the service, if one of its databases has it. */
export const markOf = (databases: Found[]): string | undefined => firstMarked(databases)?.identity?.mark;

const firstMarked = (databases: Found[]) => databases.find(({ identity }) => identity !== null);
