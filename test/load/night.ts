// The service in a bad night, for nights.test.ts: each database except DB fails in its own way until the night is over.
import worker from '../../src/index.ts';

type Fault = (batch: () => Promise<unknown>) => Promise<unknown>;
const answersAfter =
  (ms: number): Fault =>
  (batch) =>
    scheduler.wait(ms).then(batch);
const FAULTS: Record<string, Fault> = {
  DB_1: answersAfter(25_000),
  DB_2: answersAfter(80_000),
  async DB_3() {
    throw new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.');
  },
  async DB_4(batch) {
    await batch();
    throw new Error('Network connection lost.');
  },
};
let isNight = false;

/** Returns the bindings, with databases that fail. */
const atNight = (env: Record<string, unknown>) => ({
  ...env,
  ...Object.fromEntries(
    Object.entries(FAULTS).map(([binding, fault]) => {
      const d1 = env[binding] as D1Database;
      return [binding, { prepare: (sql: string) => d1.prepare(sql), batch: (all: []) => fault(() => d1.batch(all)) }];
    }),
  ),
});

export default {
  fetch(request: Request, env: Record<string, unknown>, context: ExecutionContext) {
    if (new URL(request.url).pathname !== '/night')
      return worker.fetch(request, (isNight ? atNight(env) : env) as never, context);
    isNight = request.method === 'PUT';
    return new Response(null, { status: 204 });
  },
};
