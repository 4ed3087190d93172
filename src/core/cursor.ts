// The cursor of a newest-first list that spans all databases. Ids are counted per database, so a cursor names both.
import { ALPHABET } from './credential.ts';
import { idOf } from './request.ts';

/** A database, and the id before which the list goes on there. Null: it begins with the newest. */
export type Position = { number: number; before: number | null };

export const cursorOf = ({ number, before }: Position): string => `${ALPHABET[number]}${before ?? ''}`;

/** The position that a cursor means, or null if it is none. The database may not exist. */
export function positionOf(cursor: string): Position | null {
  const [, letter, id] = /^([0-9A-Za-z])(.*)$/.exec(cursor) ?? [];
  if (letter === undefined) return null;
  const before = id ? idOf(id) : null;
  return id && before === null ? null : { number: ALPHABET.indexOf(letter), before };
}
