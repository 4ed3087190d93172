// Lists the databases: the size and backlog of each bound database.
import { ALPHABET } from '../core/credential.ts';
import { bindingOf } from '../core/database.ts';
import { addDays, dayOf } from '../core/time.ts';
import { stackOf } from '../db/stack.ts';
import { withTimeout } from '../db/timeout.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { batchError, ServiceError } from '../http/errors.ts';
import { success } from '../http/response.ts';
import { serve } from '../serve.ts';
import type { Databases } from './description.ts';
import { operations } from './operations.ts';
import { PROBE_TIMEOUT_MS } from './probe.ts';
import { readDatabase } from './statements.ts';

/** Returns a database's state, or an `error` if it fails. Only operators call this, so the database must be the cause of any failure. */
async function stateOf(c: ContextOf<Guarded>, number: number): Promise<Databases['databases'][number]> {
  const database = { number, letter: ALPHABET.charAt(number), binding: `${bindingOf(number)}` };
  const day = addDays(dayOf(c.get('call').now), -1);
  try {
    const { row, bytes } = await withTimeout(c.get('databases').askIn(number)(readDatabase({ day })), PROBE_TIMEOUT_MS);
    return { ...database, bytes, uses_yesterday: row.uses, backlog: { alerts: row.alerts } };
  } catch (error) {
    const { request_id } = c.get('logEntry');
    c.get('log').error({
      operation: 'read_databases',
      database: database.binding,
      request_id,
      error: stackOf(error),
    });
    // Callers never see the cause.
    const isOutage = batchError(error, true) instanceof ServiceError;
    return { ...database, error: isOutage ? 'does not respond' : 'failed' };
  }
}

export const routes = serve(operations, {
  async readDatabases(c) {
    const { numbers } = c.get('databases');
    return success<Databases>(c, { databases: await Promise.all(numbers.map((number) => stateOf(c, number))) });
  },
});
