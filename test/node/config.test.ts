// wrangler.toml as wrangler reads it: what no run of the Worker shows.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { unstable_readConfig } from 'wrangler';
import { SCHEDULES } from '../../src/core/schedule.ts';

const config = unstable_readConfig({ config: resolve(import.meta.dirname, '../../wrangler.toml') });

test('no old version of the Worker has an address of its own', () => {
  expect(config.preview_urls).toBe(false);
});

test('every request is logged, and one in a hundred is traced', () => {
  expect(config.observability).toEqual({
    enabled: true,
    logs: { enabled: true },
    traces: { enabled: true, head_sampling_rate: 0.01 },
  });
});

test('each minute there are two runs, and the second is the one of the alerts', () => {
  expect(config.triggers).toEqual({ crons: Object.values(SCHEDULES) });
});
