// Keeps rows in a list until the view is left, so a press never acts on a row other than the one that the user saw.
import { useRef } from 'preact/hooks';

/** Returns every row listed since the view opened, by key, in the order of first appearance. */
export function useSeenRows<T>(listed: readonly T[], keyOf: (row: T) => string): Map<string, T> {
  const { current: rows } = useRef(new Map<string, T>());
  for (const row of listed) rows.set(keyOf(row), row); // setting an existing key keeps its position
  return rows;
}
