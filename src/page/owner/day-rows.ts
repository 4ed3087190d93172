// The rows of a CSV file for people: each day beside the day it is compared with.
import type { Cell } from '../../core/csv.ts';
import type { Day } from '../scale.ts';

export const DAY_COLUMNS = ['date', 'uses', 'compared_date', 'compared_uses'];

/** Returns a row for each day. Compared months can have more days than the month itself. */
export const dayRows = (used: readonly Day[], compared: readonly Day[]): Cell[][] =>
  Array.from({ length: Math.max(used.length, compared.length) }, (_, index) =>
    [used[index], compared[index]].flatMap((day) => [day?.date ?? null, day?.count ?? null]),
  );
