// Finds an owner's database (docs/design.md, "Several databases"). All of an owner's data is in one database, which the credential names,
// so a request needs no directory and takes one round trip.
import { ALPHABET, type Credential } from './credential.ts';

/** A database's name in wrangler.toml. Database 0 is DB, with the letter 0. Database 61 is DB_61, with the letter z. */
export type Binding = 'DB' | `DB_${number}`;

/** Returns the databases that are bound, in ascending order. */
export const boundIn = <D1>(bindings: { readonly [binding in Binding]?: D1 | undefined }) =>
  BINDINGS.flatMap((binding, number) => {
    const d1 = bindings[binding];
    return d1 === undefined ? [] : [{ number, binding, d1 }];
  });
/** Every binding, by number. */
export const BINDINGS = Array.from(ALPHABET, (_, number): Binding => (number === 0 ? 'DB' : `DB_${number}`));

/** Returns null if the number is out of range. */
export const bindingOf = (number: number): Binding | null => BINDINGS[number] ?? null;
/** Returns null if `binding` is not the name of a database. */
export const numberOf = (binding: string): number | null => {
  const number = BINDINGS.indexOf(binding as Binding);
  return number === -1 ? null : number;
};

/** D1 rejects writes to a database of 10 GB. A database over this size leaves time to stop what fills it. */
export const LARGE_GB = 7;

/** Ids of businesses, API keys, sites and former tokens in database k start at k × IDS_PER_DATABASE + 1. */
export const IDS_PER_DATABASE = 1_000_000_000;

/** Returns the number of the database whose range contains the id. Does not check that the database exists. */
export const databaseOfId = (id: number): number => Math.floor((id - 1) / IDS_PER_DATABASE);

/** Returns the inclusive ranges of database numbers that are missing from `bound`, which must be ascending. */
export function gapsIn(bound: readonly number[]): [from: number, to: number][] {
  const ends = [...bound, BINDINGS.length];
  return ends.flatMap((end, index) => {
    const from = (ends[index - 1] ?? -1) + 1;
    return from < end ? [[from, end - 1]] : [];
  });
}

/** Some owners' data is in databases that the configuration does not bind. Retries succeed once these are bound. */
export class NotBound extends Error {
  constructor(numbers: number[]) {
    const [haveOwners, areNotBound] =
      numbers.length === 1 ? ['has owners', 'is not bound'] : ['have owners', 'are not bound'];
    super(`${numbers.map(bindingOf).join(' and ')} ${haveOwners} but ${areNotBound} in the configuration`);
  }
}

/**
 * Returns the database to which the first foreign id in database `number` belongs. Such an id means that the configuration has swapped two
 * databases. Null if all ids belong to `number`.
 */
export function otherDatabaseOf(number: number, ids: (number | null)[]): Binding | null {
  const other = ids.find((id) => id !== null && databaseOfId(id) !== number);
  return other ? bindingOf(databaseOfId(other)) : null;
}

/**
 * Returns the number of the database in which to look up a credential. A credential that names no database is looked up in the database of
 * the business in the path, or in DB if that one is not bound. Null if the credential names an unbound database.
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
