// Cursors for newest-first lists that span all databases. Each database assigns its own ids, so a cursor contains a database and an id.
import { ALPHABET } from './credential.ts';
import { parseId } from './request.ts';

/** The next page's database. `before` is an exclusive upper bound for the page's ids, or null if the page starts with the newest entry. */
export type Position = { number: number; before: number | null };

export const formatCursor = ({ number, before }: Position): string => `${ALPHABET[number]}${before ?? ''}`;

/** Parses a cursor. Returns null if it is malformed. Does not check that the database exists. */
export function parseCursor(cursor: string): Position | null {
  const [, letter, id] = /^([0-9A-Za-z])(.*)$/.exec(cursor) ?? [];
  if (letter === undefined) return null;
  const before = id ? parseId(id) : null;
  return id && before === null ? null : { number: ALPHABET.indexOf(letter), before };
}
