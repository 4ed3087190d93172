// What a failure of D1 means for the statements that met it, told from its message: D1 gives no codes.
// https://developers.cloudflare.com/d1/observability/debug-d1/#error-list

/** The statements did not run: the database was busy, or could not be found. (The last is what a lock does to local reads.) */
const NOT_RUN = /overloaded|database is locked|SQLITE_BUSY|cannot resolve D1 DB|failed to get session commit token/i;
/** They may have run: the connection or the database went away before the answer. */
const UNKNOWN = /network connection lost|object to be reset|was reset|reset because|time[d -]*out/i;

/** Whether the failure is one of the database and not of a statement, and what it leaves behind; null where it is not. */
export function outageOf(error: unknown): 'not_run' | 'unknown' | null {
  const message = error instanceof Error ? error.message : '';
  if (NOT_RUN.test(message)) return 'not_run';
  return UNKNOWN.test(message) ? 'unknown' : null;
}
