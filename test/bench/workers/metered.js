// Adds what a call took of its database to the response: the wait for its batches and their SQL in milliseconds, and rows read and written.
import './quiet.js';
import worker from './worker.js';

export default {
  async fetch(request, env, context) {
    const taken = [0, 0, 0, 0];
    const DB = {
      prepare: (sql) => env.DB.prepare(sql),
      async batch(statements) {
        const sent = performance.now();
        const results = await env.DB.batch(statements);
        taken[0] += performance.now() - sent;
        for (const { meta } of results) {
          taken[1] += meta.duration;
          taken[2] += meta.rows_read;
          taken[3] += meta.rows_written;
        }
        return results;
      },
    };
    const answer = await worker.fetch(request, { ...env, DB }, context);
    const metered = new Response(answer.body, answer);
    metered.headers.set('Bench-Taken', taken.join(' '));
    return metered;
  },
};
