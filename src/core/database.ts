// Which database holds the data of an owner (docs/design.md, "Several databases"). Everything of one owner is in one database, and a
// credential names it, so a request needs no directory and one round trip.
import { ALPHABET, type Credential } from './credential.ts';

/** A database by its name in wrangler.toml. Number 0 is DB, and its letter is 0; number 61 is DB_61, and its letter is z. */
export type Binding = 'DB' | `DB_${number}`;
/** Every binding, by number. */
export const BINDINGS = Array.from(ALPHABET, (_, number): Binding => (number === 0 ? 'DB' : `DB_${number}`));

/** The binding of a database, or null if there is none with this number. */
export const bindingOf = (number: number): Binding | null => BINDINGS[number] ?? null;
/** The number of a database, or null if `binding` is not the name of one. */
export const numberOf = (binding: string): number | null => {
  const number = BINDINGS.indexOf(binding as Binding);
  return number === -1 ? null : number;
};

/** Ids of businesses, API keys and access entries in database k start at k × IDS_PER_DATABASE + 1. */
export const IDS_PER_DATABASE = 1_000_000_000;

/** The number of the database with this id. It may not exist. */
export const databaseOfId = (id: number): number => Math.floor((id - 1) / IDS_PER_DATABASE);

/** The numbers between those of `bound`, which are ascending, and after them: from and to of each gap. */
export function gapsIn(bound: readonly number[]): [from: number, to: number][] {
  const ends = [...bound, BINDINGS.length];
  return ends.flatMap((end, index) => {
    const from = (ends[index - 1] ?? -1) + 1;
    return from < end ? [[from, end - 1]] : [];
  });
}

/** Owners are in databases that the configuration does not bind. Trying again helps once it binds them. */
export class NotBound extends Error {
  constructor(numbers: number[]) {
    super(`owners are in ${numbers.map(bindingOf).join(' and ')}, which the configuration does not bind`);
  }
}

/** Another database to which one of these ids belongs: the ids of the databases were exchanged. Null if all belong to `number`. */
export function otherDatabaseOf(number: number, ids: (number | null)[]): Binding | null {
  const other = ids.find((id) => id !== null && databaseOfId(id) !== number);
  return other ? bindingOf(databaseOfId(other)) : null;
}

/**
 * The `after` with which a list over all databases continues once the database of `after` has no more: it precedes the first id of the next
 * bound database. Null after the last.
 */
export function startOfNextDatabase(after: number, isBound: (binding: Binding) => boolean): number | null {
  const next = BINDINGS.findIndex((name, number) => number > databaseOfId(after + 1) && isBound(name));
  return next === -1 ? null : next * IDS_PER_DATABASE;
}

/**
 * The number of the database in which a credential is looked up, and no other: the one that it names. An imported token names none: it is
 * looked up in the one of the business in the path, or in DB if the path names no database that is bound. Null if there is no such
 * database.
 */
export function databaseFor(
  { database }: Pick<Credential, 'database'>,
  business_id: number,
  isBound: (binding: Binding) => boolean,
): number | null {
  const number = database ?? databaseOfId(business_id);
  const binding = bindingOf(number);
  if (binding !== null && isBound(binding)) return number;
  return database === null ? 0 : null;
}
