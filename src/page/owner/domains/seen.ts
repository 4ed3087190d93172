// What a list shows while its view is open: nothing leaves its place, so that nothing else moves under the pointer.

/** The keys in the order in which they were first seen: what is new comes last. */
export const inOrderSeen = (seen: readonly string[], now: readonly string[]): string[] => [
  ...new Set([...seen, ...now]),
];

/** `isRegistered`: false for a site that was removed here, and stays in its place. */
export type Row = { site: string; isRegistered: boolean };

/** The rows of a list. `touched` are the sites that were removed here; those that somebody else removed are not shown any more. */
export function rowsOf(seen: readonly string[], registered: readonly string[], touched: ReadonlySet<string>): Row[] {
  const now = new Set(registered);
  return seen
    .filter((site) => now.has(site) || touched.has(site))
    .map((site) => ({ site, isRegistered: now.has(site) }));
}
