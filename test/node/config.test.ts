// Settings in wrangler.toml that cannot be tested by running the Worker.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { unstable_readConfig } from 'wrangler';
import { SCHEDULES } from '../../src/core/schedule.ts';

const config = unstable_readConfig({ config: resolve(import.meta.dirname, '../../wrangler.toml') });

test('versions of the Worker have no preview URLs', () => {
  expect(config.preview_urls).toBe(false);
});

test('every request is logged, and one in a hundred is traced', () => {
  expect(config.observability).toEqual({
    enabled: true,
    logs: { enabled: true },
    traces: { enabled: true, head_sampling_rate: 0.01 },
  });
});

test('both schedules of the service are cron triggers', () => {
  expect(config.triggers).toEqual({ crons: Object.values(SCHEDULES) });
});
