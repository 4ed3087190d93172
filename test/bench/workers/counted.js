// Wraps another Worker and reports the database cost of each call in a response header. Not used for timing.
import './quiet.js';
import worker from './worker.js';

class Statement {
  constructor(native, cost) {
    this.native = native;
    this.cost = cost;
  }
  bind(...values) {
    return new Statement(this.native.bind(...values), this.cost);
  }
  all = async () => this.cost.add([await this.native.all()])[0];
  run = this.all;
  first = async () => (await this.all()).results[0] ?? null;
}

class Cost {
  round_trips = 0;
  rows_read = 0;
  rows_written = 0;
  add(results) {
    this.round_trips += 1;
    for (const { meta } of results) {
      this.rows_read += meta.rows_read;
      this.rows_written += meta.rows_written;
    }
    return results;
  }
}

export default {
  async fetch(request, env, context) {
    const cost = new Cost();
    const DB = env.DB && {
      prepare: (sql) => new Statement(env.DB.prepare(sql), cost),
      batch: async (statements) => cost.add(await env.DB.batch(statements.map(({ native }) => native))),
    };
    const answer = await worker.fetch(request, { ...env, DB }, context);
    const { round_trips, rows_read, rows_written } = cost;
    const counted = new Response(answer.body, answer);
    counted.headers.set('Bench-Cost', JSON.stringify({ round_trips, rows_read, rows_written }));
    return counted;
  },
};
