// Whether the databases that a deployment finds are the ones that it is for: an error in a name must never put an empty database, or
// that of another, in the place of one with owners.
import { bindingOf, databaseOfId, IDS_PER_DATABASE, numberOf } from '../core/database.ts';
import type { identity } from '../db/schema.ts';

export type Identity = typeof identity.$inferSelect;

/** What a deployment knows of a database before it changes anything. */
export type Found = {
  number: number;
  name: string;
  /** Its name and binding, for messages. */
  label: string;
  exists: boolean;
  /** The names of the databases that the deployed Worker has under this binding. Null if it has none, or is not deployed. */
  live: string[] | null;
  /** Its tables, without those of D1 and SQLite. */
  tables: string[];
  /** The last id that was given in it; null if there was none. */
  lastId: number | null;
  /** Null if it has none yet. */
  identity: Identity | null;
};

/** A database that the deployed Worker has under a binding. */
export type Used = { binding: string; name: string };

/** Whether a database is not there, or has no tables yet. */
const isNew = ({ tables }: Found): boolean => !tables.includes('businesses');
/** Whether anything was ever created in it. */
const wasUsed = ({ number, lastId }: Found): boolean => lastId !== null && lastId > number * IDS_PER_DATABASE;
const emptiness = ({ exists }: Found): string => (exists ? 'is empty' : 'does not exist');

/**
 * Why the databases cannot be those of the Worker, in one line; null if they can. `homes` are the numbers of the databases in which
 * owners are; `used` is what the deployed Worker uses.
 */
export function problemWith(databases: Found[], homes: number[], worker: string, used: Used[]): string | null {
  const bound = new Set(databases.map(({ number }) => number));
  const released = used.find(({ binding }) => !bound.has(numberOf(binding) ?? 0));
  if (released !== undefined)
    return `The Worker ${worker} uses ${released.name} as ${released.binding}, which the configuration does not bind`;
  const unbound = homes.filter((home) => !bound.has(home)).map(bindingOf);
  if (unbound.length > 0)
    return `Owners have their data in ${unbound.join(', ')}, which the configuration does not bind`;
  for (const found of databases) {
    const problem = problemOf(found, homes, worker, firstMarked(databases));
    if (problem !== null) return problem;
  }
  const [first, ...others] = databases;
  return first === undefined ? null : problemOfFirst(first, others, worker);
}

function problemOf(found: Found, homes: number[], worker: string, marked: Found | undefined): string | null {
  const { number, name, label, live, tables, lastId, identity } = found;
  const other = live?.find((used) => used !== name);
  if (other !== undefined) return `The Worker ${worker} uses ${other} as ${bindingOf(number)}, not ${name}`;
  if (identity !== null) {
    if (identity.worker !== worker) return `${label} is a database of the Worker ${identity.worker}, not of ${worker}`;
    if (identity.number !== number) return `${label} is the database ${bindingOf(identity.number)} of the service`;
    if (identity.mark !== marked?.identity?.mark)
      return `${label} and ${marked?.label} are databases of different services`;
  }
  if (isNew(found) && tables.length > 0)
    return `${label} has tables that are not of this service: ${tables.join(', ')}`;
  if (lastId && databaseOfId(lastId) !== number) return `${label} has the ids of ${bindingOf(databaseOfId(lastId))}`;
  if (identity === null && wasUsed(found) && !live?.includes(name))
    return `${label} is in use, but not by the Worker ${worker}`;
  // The database that the Worker uses may be empty: a claim whose command was interrupted stays.
  if (number !== 0 && !live?.includes(name) && homes.includes(number) && !wasUsed(found))
    return `Owners have their data in ${bindingOf(number)}, but ${label} ${emptiness(found)}`;
  return null;
}

/** DB is in every service: an empty one can only be that of the first deployment. */
function problemOfFirst(first: Found, others: Found[], worker: string): string | null {
  if (!isNew(first)) return null;
  const other = others.find(({ exists }) => exists);
  if (other !== undefined) return `${first.label} ${emptiness(first)}, but ${other.label} exists`;
  return first.live && `${first.label} ${emptiness(first)}, but the Worker ${worker} is deployed already`;
}

/** The mark of the service, if one of its databases has it. */
export const markOf = (databases: Found[]): string | undefined => firstMarked(databases)?.identity?.mark;

const firstMarked = (databases: Found[]) => databases.find(({ identity }) => identity !== null);
