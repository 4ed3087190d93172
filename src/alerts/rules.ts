// Cursors of newest-first lists of alerts, which can span all databases. A cursor contains a database, and the last alert of the page: its
// time and, because several alerts can have the same time, its id.

import { ALPHABET } from '../core/credential.ts';
import { errorOf, type FieldErrors } from '../core/field-errors.ts';
import type { Circumstances } from '../operation.ts';

/** Of a list of alerts. */
export const MAX_PER_PAGE = 100;
export const KEEP_ALERTS_DAYS = 90;

/** The next page's database, and the alert after which the page starts. Null if the page starts with the newest alert. */
type Position = { number: number; after: { at: string; id: string } | null };

export const formatCursor = ({ number, after }: Position): string =>
  `${ALPHABET[number]}${after === null ? '' : `${after.at}${after.id}`}`;

export const CURSOR = /^([0-9A-Za-z])(?:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)([\da-f-]{36}))?$/;

/** Parses a cursor. Returns null if it is malformed. Does not check that the database exists. */
export function parseCursor(cursor: string): Position | null {
  const [, letter, at, id] = CURSOR.exec(cursor) ?? [];
  if (letter === undefined) return null;
  return { number: ALPHABET.indexOf(letter), after: at === undefined || id === undefined ? null : { at, id } };
}

export const CURSOR_RULE = 'must be the value of next from the previous page, and must appear only once';

/** Returns the error of a cursor that names none of the databases `numbers`. */
export const cursorErrors = ({ cursor }: { cursor?: string | undefined }, { numbers }: Circumstances): FieldErrors => {
  const position = cursor === undefined ? null : parseCursor(cursor);
  return position === null || numbers.includes(position.number) ? {} : errorOf('cursor', CURSOR_RULE);
};
