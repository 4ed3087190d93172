// Where a list of all databases goes on that has the newest first. Ids are counted for each database, so an id alone does not say it.
import { ALPHABET } from './credential.ts';
import { idOf } from './request.ts';

/** A database, and the id before which the list goes on there. Null: it begins with the newest. */
export type Place = { number: number; before: number | null };

export const cursorOf = ({ number, before }: Place): string => `${ALPHABET[number]}${before ?? ''}`;

/** The place that a cursor means, or null if it is none. The database may not exist. */
export function placeOf(cursor: string): Place | null {
  const [, letter, id] = /^([0-9A-Za-z])(.*)$/.exec(cursor) ?? [];
  if (letter === undefined) return null;
  const before = id ? idOf(id) : null;
  return id && before === null ? null : { number: ALPHABET.indexOf(letter), before };
}
