// What a failure of D1 means for the statements that met it, told from its message: D1 gives no codes.
// https://developers.cloudflare.com/d1/observability/debug-d1/#error-list

/**
 * The statements did not run, or nothing of them was stored: the database was busy, could not be found (the message of the commit
 * token is what a lock does to local reads), or a limit of it is used up: its size, the account's, the free plan's rows of a day.
 */
const NOT_RUN =
  /overloaded|database is locked|SQLITE_BUSY|cannot resolve D1 DB|failed to get session commit token|exceeded maximum|exceeded D1's free tier|SQLITE_FULL/i;
/** They may have run: the connection or the database went away before the answer. */
const UNKNOWN = /network connection lost|object to be reset|was reset|reset because|time[d -]*out/i;

/** Whether the failure is one of the database and not of a statement, and what it leaves behind; null where it is not. */
export function outageOf(error: unknown): 'not_run' | 'unknown' | null {
  const message = error instanceof Error ? error.message : '';
  if (NOT_RUN.test(message)) return 'not_run';
  return UNKNOWN.test(message) ? 'unknown' : null;
}
