// Rules of the lists of alerts.
import type { FieldErrors } from '../core/conflict.ts';
import type { Circumstances } from '../operation.ts';
import { parseCursor } from './cursor.ts';

export const CURSOR_RULE = 'must be the value of next from the previous page, and must appear only once';

/** Returns the error of a cursor that names none of the databases `numbers`. */
export const cursorErrors = ({ cursor }: { cursor?: string | undefined }, { numbers }: Circumstances): FieldErrors => {
  const position = cursor === undefined ? null : parseCursor(cursor);
  return position === null || numbers.includes(position.number) ? {} : { cursor: [`cursor ${CURSOR_RULE}`] };
};
