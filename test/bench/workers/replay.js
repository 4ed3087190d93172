// What a database gave to one call, to be given again.
import worker from './worker.js';

/** Prepared where nothing is asked. */
export const statement = { bind: () => statement };

/** The results of the one batch that a call runs. */
export async function resultsOf(request, env, context) {
  let results;
  const DB = {
    prepare: (sql) => env.DB.prepare(sql),
    batch: async (statements) => (results = await env.DB.batch(statements)),
  };
  await worker.fetch(request, { ...env, DB }, context);
  return results;
}
