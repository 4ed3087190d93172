// The service on databases that are stand-ins. Each runs one batch at a time, in the order in which they arrive, and takes MS for it.
// Its results are those that the real database gave to the call with Bench-Begin, which starts with idle stand-ins.
import './quiet.js';
import { resultsOf, statement } from './replay.js';
import worker from './worker.js';

let results;
let standIns;

/** It knows when it will be idle. No request waits for another, which workerd does not allow: each waits until its batch is done. */
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
