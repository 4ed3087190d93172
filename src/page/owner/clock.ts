// The time by the clock of the service. That of this computer can be wrong, and days and limits are the service's.

let aheadMs = 0;

/** In milliseconds since 1970. */
export const now = (): number => Date.now() + aheadMs;

/** Takes the header `Date` of a response. Without one, as in local development, the clock of this computer counts. */
export function setClock(date: string | null): void {
  const there = Date.parse(date ?? '');
  if (!Number.isNaN(there)) aheadMs = there - Date.now();
}
