// The service's clock, which determines days and limits. This computer's clock can be wrong.
let offsetMs = 0;

/** In milliseconds since 1970. */
export const now = (): number => Date.now() + offsetMs;

/** Sets the clock from a response's `Date` header. If the header is missing, as in local development, leaves the clock unchanged. */
export function setClock(date: string | null): void {
  const time = Date.parse(date ?? '');
  if (!Number.isNaN(time)) offsetMs = time - Date.now();
}
