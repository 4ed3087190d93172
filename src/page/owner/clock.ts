// The service's clock: days and limits follow it, and the clock of this computer can be wrong.
let offsetMs = 0;

/** In milliseconds since 1970. */
export const now = (): number => Date.now() + offsetMs;

/** Sets the clock by the `Date` header of a response. Without one, as in local development, uses the local clock. */
export function setClock(date: string | null): void {
  const time = Date.parse(date ?? '');
  if (!Number.isNaN(time)) offsetMs = time - Date.now();
}
