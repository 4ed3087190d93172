// The scheduled runs as the platform starts them. Each run stores its end time and logs what it did.
import { describe, expect, test, vi } from 'vitest';
import { SCHEDULES } from '../src/core/schedule.ts';
import { formatTimestamp } from '../src/core/time.ts';
import type { Bindings } from '../src/env.ts';
import { runScheduled } from '../src/schedule.ts';
import { logged } from './log-lines.ts';
import { BASE, databases, homes, later, NOW, newApp, STAMP } from './support.ts';

/** Starts a run one second late. Returns the logged lines, and the error that the run threw, or null. */
async function scheduled(cron: string, bindings: object = databases(), at = NOW) {
  const lines: object[] = [];
  const errors: object[] = [];
  const log = { log: (line: object) => lines.push(logged(line)), error: (line: object) => errors.push(logged(line)) };
  const started = runScheduled(
    { cron, scheduledTime: at.getTime() },
    { VERSION: { id: 'v-1' }, ...bindings } as Bindings,
    () => new Date(at.getTime() + 1000),
    log,
  );
  const thrown = await started.then(
    () => null,
    (error: unknown) => `${error}`,
  );
  return { logged: lines, errors, thrown };
}
/** Reads the runs' end times from the health check of a new instance. */
const runs = async () => {
  const answer = await newApp().app.fetch(new Request(`${BASE}/api/v1/health`), databases());
  return (await answer.json<{ runs: object }>()).runs;
};
const d1 = { round_trips: expect.any(Number), rows_read: expect.any(Number), rows_written: expect.any(Number) };
const base = { scheduled: STAMP, late_ms: 1000, ms: 0, failed: [], d1, version: 'v-1' };
const ALERTS = { operation: 'alerts', ...base, alerts: 0, oldest: null, receiver_ms: 0 };
const PURGE = { operation: 'purge', ...base, ids: 0 };

test('each schedule starts its own run, and the health check reports when that run ended', async () => {
  expect(await runs()).toEqual({ alerts: null, purge: null });
  expect(await scheduled(SCHEDULES.alerts)).toEqual({ logged: [ALERTS], errors: [], thrown: null });
  const ended = '2026-03-15T12:00:01.000000Z';
  expect(await runs()).toEqual({ alerts: ended, purge: null });
  expect(await scheduled(SCHEDULES.purge)).toEqual({ logged: [PURGE], errors: [], thrown: null });
  expect(await runs()).toEqual({ alerts: ended, purge: ended });
  await scheduled(SCHEDULES.alerts, databases(), later(60_000));
  expect(await runs()).toEqual({ alerts: '2026-03-15T12:01:01.000000Z', purge: ended });
});

test('an unknown schedule starts no run and fails', async () => {
  const before = await runs();
  const thrown = 'Error: unknown schedule */4 * * * *: it must be * * * * * or */2 * * * *';
  expect(await scheduled('*/4 * * * *')).toEqual({ logged: [], errors: [], thrown });
  expect(await runs()).toEqual(before);
});

const RECEIVER = { ALERT_URL: 'https://product.example/', ALERT_SECRET: `whsec_${btoa('s'.repeat(32))}` };

describe('while a database fails', () => {
  test.each(homes)(
    'a run continues with the other databases and then fails with an error that names $binding',
    async ({ binding, d1: failing }) => {
      const line = { database: binding, error: expect.stringContaining('D1_ERROR: Network connection lost.') };
      const bindings = databases((d1) => {
        if (d1 !== failing) return d1;
        const broken = () => Promise.reject(new Error('D1_ERROR: Network connection lost.'));
        return {
          prepare: () => ({ bind: () => ({ run: broken, all: broken }) }),
          batch: broken,
        } as unknown as D1Database;
      });
      for (const [cron, operation, done] of [
        [SCHEDULES.alerts, 'send_alerts', ALERTS],
        [SCHEDULES.purge, 'purge', PURGE],
      ] as const) {
        // A run folds the limits of two databases, which differ from minute to minute.
        const at = new Date(
          NOW.getTime() + 60_000 * [0, 2, 1].indexOf(homes.findIndex((home) => home.binding === binding)),
        );
        const { logged, errors, thrown } = await scheduled(cron, { ...bindings, ...RECEIVER }, at);
        expect(logged).toEqual([{ ...done, scheduled: formatTimestamp(at), failed: [binding] }]);
        // DB stores the end times of all runs.
        const unstored = binding === 'DB' ? [{ operation: done.operation, ...line }] : [];
        const folding = operation === 'send_alerts' ? [{ operation: 'fold_limits', ...line }] : [];
        expect(errors).toEqual([...folding, { operation, ...line }, ...unstored]);
        expect(thrown).toBe(`Error: ${done.operation}: ${binding} failed`);
      }
    },
  );
});

test('a run ends after five seconds and logs an error if DB does not store its end time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const never = () => new Promise(() => {});
  const DB = {
    prepare: (sql: string) => ({ bind: () => ({ run: sql.includes('runs') ? never : async () => ({ meta: {} }) }) }),
    batch: async () => [],
  };
  const ran = scheduled(SCHEDULES.alerts, { DB });
  await vi.advanceTimersByTimeAsync(5000);
  const error = expect.stringMatching(/^Error: no response within 5000 ms/);
  expect((await ran).errors).toEqual([{ operation: 'alerts', database: 'DB', error }]);
  vi.useRealTimers();
});
