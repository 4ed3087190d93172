// What an error of D1 means for its batch, read from the message: D1 has no error codes. test/outage.test.ts says where each text is from. See
// https://developers.cloudflare.com/d1/observability/debug-d1/#error-list, and workerd's src/cloudflare/internal/d1-api.ts.
import { TimedOut } from './timeout.ts';

/**
 * Nothing was stored. The database was busy (a lock of a local database mentions a commit token) or blocked by an export or an import, or
 * a limit is exhausted: the size of the database, the storage of the account, or the daily rows of the free plan. Or the file of a local
 * database is damaged: then a statement failed, and its transaction was rolled back.
 */
const NOT_RUN =
  /overloaded|processing a long-running|database is locked|session commit token|exceeded maximum DB size|exceeded D1's|SQLITE_FULL|SQLITE_CORRUPT|SQLITE_NOTADB/i;
/**
 * The batch may have run: the connection or the database went away before the response. Local errors of the first kind can quote these, so
 * NOT_RUN is looked at first.
 */
const UNKNOWN =
  /connection lost|disconnected|transient issue on remote node|object to be reset|was reset|reset because|code has been updated|internal error|got: error code/i;

/** Whether an error is an outage, and whether the batch may have run. Null if it is not an outage. */
export function outageOf(error: unknown): 'not_run' | 'unknown' | null {
  if (error instanceof TimedOut) return 'unknown';
  const message = error instanceof Error ? error.message : '';
  if (NOT_RUN.test(message)) return 'not_run';
  return UNKNOWN.test(message) ? 'unknown' : null;
}
