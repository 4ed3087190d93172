// The rows of a CSV file for people: each day beside the day it is compared with, if there is one.
import type { Cell } from '../../core/csv.ts';
import type { Day } from '../scale.ts';

const DAY_COLUMNS = ['date', 'uses', 'compared_date', 'compared_uses'];

/** Returns the names of the columns, and a row for each day. Compared months can have more days than the month itself. */
export function dayRows(used: readonly Day[], compared: readonly Day[] | null): Cell[][] {
  const lists = compared === null ? [used] : [used, compared];
  const rows = Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, index) =>
    lists.flatMap((days) => [days[index]?.date ?? null, days[index]?.count ?? null]),
  );
  return [DAY_COLUMNS.slice(0, 2 * lists.length), ...rows];
}
