// What an error of D1 means for the batch that met it. D1 has no error codes, so this reads the message.
// https://developers.cloudflare.com/d1/observability/debug-d1/#error-list
import { DrizzleQueryError } from 'drizzle-orm';

/**
 * Nothing was stored. The database was busy or not found (local reads that meet a lock mention a commit token), or a limit is
 * exhausted: the size of the database, the storage of the account, or the daily rows of the free plan.
 */
const NOT_RUN =
  /overloaded|database is locked|SQLITE_BUSY|cannot resolve D1 DB|failed to get session commit token|exceeded maximum|exceeded D1's free tier|SQLITE_FULL/i;
/** The batch may have run: the connection or the database went away before the response. */
const UNKNOWN = /network connection lost|object to be reset|was reset|reset because|time[d -]*out/i;

/** Whether an error is an outage, and whether the batch may have run. Null if it is not an outage. */
export function outageOf(error: unknown): 'not_run' | 'unknown' | null {
  const message = error instanceof Error ? error.message : '';
  if (NOT_RUN.test(message)) return 'not_run';
  return UNKNOWN.test(message) ? 'unknown' : null;
}

/**
 * The stack of an error and of its causes, for the log. Drizzle wraps D1's error in one that quotes the bound values, so this takes
 * D1's own.
 */
export function stackOf(error: unknown): string {
  const { stack, cause } = error instanceof Error ? error : { stack: `${error}` };
  if (error instanceof DrizzleQueryError) return stackOf(cause);
  return cause instanceof Error ? `${stack}\ncaused by ${stackOf(cause)}` : `${stack}`;
}
