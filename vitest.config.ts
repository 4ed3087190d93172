// The Worker's tests run in workerd on a real D1; what runs in Node, or against a server, is tested in Node. Apart are the
// fuzzers, which take minutes, and the load, which wants the machine to itself.
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';

const worker = cloudflareTest(async () => ({
  wrangler: { configPath: './wrangler.toml' },
  miniflare: { bindings: { MIGRATIONS: await readD1Migrations('migrations') } },
}));
const workerOptions = {
  setupFiles: 'test/migrated.ts',
  isolate: false, // workerd takes a second to start: a file gets a database of its own, not a workerd
};
const nodeOptions = {
  globalSetup: 'test/node/migrated.ts',
  isolate: false, // wrangler takes a second to load
  testTimeout: 60_000,
  hookTimeout: 60_000,
};
const nodeTests = ['test/{cli,tools}/**/*.test.ts', 'test/node/**/*.test.ts', 'test/hostile/http.test.ts'];

export default defineConfig({
  test: {
    globalSetup: 'test/node/assets.ts',
    slowTestThreshold: Number.POSITIVE_INFINITY, // what is too slow meets its timeout
    maxWorkers: '100%',
    projects: [
      {
        plugins: [worker],
        test: { ...workerOptions, name: 'worker', include: ['test/*.test.ts'], testTimeout: 30_000 },
      },
      {
        plugins: [worker],
        test: { ...workerOptions, name: 'fuzz', include: ['test/fuzz/fuzz.test.ts'], testTimeout: 300_000 },
      },
      { test: { name: 'cost', include: ['test/fuzz/cost.test.ts'], hookTimeout: 60_000 } },
      { test: { ...nodeOptions, name: 'node', include: nodeTests } },
      { test: { ...nodeOptions, name: 'load', include: ['test/load/*.test.ts'] } },
    ],
  },
});
