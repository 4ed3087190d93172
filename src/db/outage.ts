// Classifies D1 errors by their messages, because D1 has no error codes. test/rules/outage.test.ts names the source of each text. See
// https://developers.cloudflare.com/d1/observability/debug-d1/#error-list, and workerd's src/cloudflare/internal/d1-api.ts.
import { TimedOut } from './timeout.ts';

/**
 * Nothing was stored, for one of three reasons:
 * - The database was busy (if a local database is locked, the message mentions a commit token), or blocked by an export or import.
 * - A limit was exhausted: the size of the database, the storage of the account, or the daily rows of the free plan.
 * - A local database file is damaged, so a statement failed and its transaction was rolled back.
 */
const NOT_RUN =
  /overloaded|processing a long-running|database is locked|session commit token|exceeded maximum DB size|exceeded D1's|SQLITE_FULL|SQLITE_CORRUPT|SQLITE_NOTADB/i;
/**
 * The batch may have run, because the connection or the database was lost before the response. Local NOT_RUN errors can quote these texts,
 * so NOT_RUN is tested first.
 */
const UNKNOWN =
  /connection lost|disconnected|transient issue on remote node|object to be reset|was reset|reset because|code has been updated|internal error|got: error code/i;

/** Returns `not_run` if the batch did not run, and `unknown` if it may have run. Null if the error is not an outage. */
export function outageOf(error: unknown): 'not_run' | 'unknown' | null {
  if (error instanceof TimedOut) return 'unknown';
  const message = error instanceof Error ? error.message : '';
  if (NOT_RUN.test(message)) return 'not_run';
  return UNKNOWN.test(message) ? 'unknown' : null;
}
