// Captures a call's database results to replay them.
import worker from './worker.js';

/** A stub of a prepared statement. */
export const statement = { bind: () => statement };

/** Returns the results of a call's only batch. */
export async function captureResults(request, env, context) {
  let results;
  const DB = {
    prepare: (sql) => env.DB.prepare(sql),
    batch: async (statements) => (results = await env.DB.batch(statements)),
  };
  await worker.fetch(request, { ...env, DB }, context);
  return results;
}
