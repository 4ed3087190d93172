// Runs the service on stand-ins for databases. Each runs one batch at a time, in order of arrival, and takes MS milliseconds for it.
// They replay the results of the real database for the call with Bench-Begin, which also resets them to idle.
import './quiet.js';
import { resultsOf, statement } from './replay.js';
import worker from './worker.js';

let results;
let standIns;

/** Tracks when it will be idle: workerd does not allow one request to wait for another, so each waits until its own batch is done. */
function standIn(ms) {
  let idleAt = 0;
  return {
    prepare: () => statement,
    async batch() {
      const now = Date.now();
      idleAt = Math.max(now, idleAt) + ms;
      await scheduler.wait(idleAt - now);
      return results;
    },
  };
}

export default {
  async fetch(request, env, context) {
    if (request.headers.has('Bench-Begin')) {
      results = await resultsOf(request.clone(), env, context);
      standIns = Object.fromEntries(env.DATABASES.map((binding) => [binding, standIn(env.MS)]));
    }
    return worker.fetch(request, { ...env, ...standIns }, context);
  },
};
