// Runs the service on stand-ins for databases. Each stand-in runs batches sequentially, MS milliseconds per batch. A call with Bench-Begin
// captures the real database's results for the stand-ins to replay, and resets the stand-ins to idle.
import './quiet.js';
import { captureResults, statement } from './replay.js';
import worker from './worker.js';

console.error = () => {}; // calls that still wait when the measurement ends run into their deadline

let results;
let standIns;

/** Tracks when the stand-in will be idle. A request waits until then, because workerd does not let it wait for another request. */
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
      results = await captureResults(request.clone(), env, context);
      standIns = Object.fromEntries(env.DATABASES.map((binding) => [binding, standIn(env.MS)]));
    }
    return worker.fetch(request, { ...env, ...standIns }, context);
  },
};
