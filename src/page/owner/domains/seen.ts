// What a list shows while its view is open: nothing leaves its place, so that nothing else moves under the pointer.
import { useRef } from 'preact/hooks';

/** All rows that were listed since the view was opened, by their keys, in the order in which they were first seen. */
export function useSeen<T>(listed: readonly T[], keyOf: (row: T) => string): Map<string, T> {
  const { current: seen } = useRef(new Map<string, T>());
  for (const row of listed) seen.set(keyOf(row), row); // a key that is there keeps its place
  return seen;
}
