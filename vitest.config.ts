// Everything that is a test is a project of this file. The Worker's tests run in workerd on a real D1; what runs in Node, in a
// browser or against a server is tested in Node. Projects of one group run together, a file on each processor, and groups one after
// the other: a browser, and what measures, are not disturbed by the others. What is random runs for seconds, not for a count
// (FUZZ_SECONDS), and prints the seed that repeats it (FUZZ_SEED). Slow tests have a tag: `npm test` leaves them out, and whatever runs a
// whole project runs them. (The makers of @cloudflare/vitest-pool-workers call it @cloudflare/vitest-plugin now: package.json has an
// alias, so that the name that people know gets what is maintained.)
import { existsSync, statfsSync } from 'node:fs';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';

/**
 * The databases are in memory where the system has a folder there with this room: on a disk, workerd waits for each write, two fifths
 * of the time.
 */
const [MEMORY, ROOM] = ['/dev/shm', 2 ** 31];
const freeIn = ({ bavail, bsize }: { bavail: number; bsize: number }) => bavail * bsize;
if (existsSync(MEMORY) && freeIn(statfsSync(MEMORY)) > ROOM) process.env.TMPDIR ??= MEMORY;

/** A run of everything gives each random test half of what it has by hand (README.md, "Commands"). */
if (process.env.CI !== undefined) process.env.FUZZ_SECONDS ??= '15';
/** Of the environment, workerd sees only what is bound. */
const fuzz = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('FUZZ_')));
const workerWith = (d1Databases: string[]) =>
  cloudflareTest(async () => ({
    wrangler: { configPath: './wrangler.toml' },
    miniflare: { d1Databases, bindings: { ...fuzz, MIGRATIONS: await readD1Migrations('migrations') } },
  }));
/** ONE has no tables: a test begins with those that it is about. */
const worker = workerWith(['DB', 'DB_1', 'DB_2', 'ONE']);
const workerOptions = {
  // One file each: workerd would ask for their 250 modules one after the other.
  deps: {
    optimizer: {
      ssr: {
        enabled: true,
        include: [
          ...['drizzle-orm', 'drizzle-orm/d1', 'drizzle-orm/sqlite-core', 'zod/mini', 'zod-openapi', 'fast-check'],
          ...['hono', 'hono/factory', 'hono/hono-base', 'hono/route', '@hono/zod-validator', 'tldts'],
          '@cfworker/json-schema',
        ],
      },
    },
  },
  setupFiles: 'test/migrated.ts',
  isolate: false, // workerd takes a second to start: a file gets databases of its own, not a workerd
  testTimeout: 60_000,
  hookTimeout: 60_000,
};
const nodeOptions = {
  globalSetup: 'test/node/migrated.ts',
  isolate: false, // wrangler takes a second to load
  testTimeout: 60_000,
  hookTimeout: 60_000,
};
const nodeTests = ['test/{cli,tools}/**/*.test.ts', 'test/node/**/*.test.ts', 'test/hostile/http.test.ts'];
const group = (groupOrder: number) => ({ sequence: { groupOrder } });

export default defineConfig({
  test: {
    globalSetup: 'test/node/assets.ts',
    tags: [
      {
        name: 'slow',
        description: 'Starts processes, makes many calls, or repeats a rule for each operation: not in npm test.',
      },
    ],
    slowTestThreshold: Number.POSITIVE_INFINITY, // what is too slow meets its timeout
    maxWorkers: '100%',
    projects: [
      {
        // On three databases, where one could be mistaken for another. What is about a deployment with one is in
        // test/one-database.test.ts.
        plugins: [worker],
        test: { ...workerOptions, name: 'worker', include: ['test/*.test.ts', 'test/databases/*.test.ts'] },
      },
      {
        // The same data of all browsers (20 MB), read by Node: as JSON it would be transformed, for 20 seconds.
        resolve: { alias: { '@mdn/browser-compat-data': '@mdn/browser-compat-data/forLegacyNode' } },
        test: {
          ...nodeOptions,
          name: 'node',
          include: nodeTests,
          globalSetup: [nodeOptions.globalSetup, 'test/node/served.ts'],
        },
      },
      { test: { ...nodeOptions, ...group(1), name: 'docs', include: ['test/docs/*.test.ts'] } },
      {
        test: {
          ...nodeOptions,
          ...group(1),
          name: 'browser',
          include: ['test/browser/*.test.ts'],
          // A browser on a busy machine is late now and then. .ci/run lists what passed only at the second try.
          // No other project may: a use that is lost in one run of two is lost.
          retry: process.env.CI === undefined ? 0 : 1,
          globalSetup: [nodeOptions.globalSetup, 'test/browser/owners.ts'],
        },
      },
      {
        plugins: [workerWith(['DB'])],
        test: { ...workerOptions, name: 'fuzz', include: ['test/fuzz/fuzz.test.ts'] },
      },
      {
        test: {
          ...nodeOptions,
          ...group(2),
          name: 'load',
          include: ['test/load/*.test.ts'],
          exclude: ['test/load/quotas.test.ts'],
        },
      },
      {
        plugins: [worker],
        test: { ...workerOptions, name: 'quotas', include: ['test/load/quotas.test.ts'] },
      },
      // It need not be alone: it measures CPU time, in turn with that of its baseline.
      { test: { ...group(2), name: 'cost', include: ['test/fuzz/cost.test.ts'], hookTimeout: 180_000 } },
    ],
  },
});
