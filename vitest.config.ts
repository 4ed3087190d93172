// Configures all tests as Vitest projects. The Worker's tests run in workerd on a real D1 database. Tests of Node code, browsers and
// servers run in Node. The projects in a group run together, one file at a time on each processor. Groups run one after another, so other
// tests do not interfere with the browser or the measurements. Random tests run for FUZZ_SECONDS seconds and print a seed (FUZZ_SEED) that
// repeats them. `npm test` runs the projects `rules` and `worker`, without the tests that have the tag `slow`.
// (@cloudflare/vitest-pool-workers has been renamed to @cloudflare/vitest-plugin. package.json maps the well-known name to the maintained
// package.)
import { existsSync, statfsSync } from 'node:fs';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';

/**
 * Stores databases in memory if the system has an in-memory file system with enough space. On disk, workerd spends two fifths of its time
 * waiting for writes.
 */
const [MEMORY, ROOM] = ['/dev/shm', 2 ** 31];
const freeIn = ({ bavail, bsize }: { bavail: number; bsize: number }) => bavail * bsize;
if (existsSync(MEMORY) && freeIn(statfsSync(MEMORY)) > ROOM) process.env.TMPDIR ??= MEMORY;

/** A full run gives each random test half its usual time (README.md, "Commands"). */
if (process.env.CI !== undefined) process.env.FUZZ_SECONDS ??= '15';
/** workerd sees only environment variables that are bound. */
const fuzz = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('FUZZ_')));
const workerWith = (d1Databases: string[]) =>
  cloudflareTest(async () => ({
    wrangler: { configPath: './wrangler.toml' },
    miniflare: { d1Databases, bindings: { ...fuzz, MIGRATIONS: await readD1Migrations('migrations') } },
  }));
/** ONE starts without tables, and each test creates them. */
const worker = workerWith(['DB', 'DB_1', 'DB_2', 'ONE']);
const workerOptions = {
  // Bundles each package into one file. Otherwise, workerd loads the packages' 250 modules one after another.
  deps: {
    optimizer: {
      ssr: {
        enabled: true,
        include: [
          ...['drizzle-orm', 'drizzle-orm/d1', 'drizzle-orm/sqlite-core', 'zod/mini', 'zod-openapi', 'fast-check'],
          ...['hono', 'hono/factory', 'hono/hono-base', 'hono/route', 'hono/router/trie-router', 'hono/utils/accept'],
          ...['hono/utils/url', '@hono/zod-validator', 'tldts', '@cfworker/json-schema', 'punycode/punycode.es6.js'],
          ...['@noble/hashes/sha2.js', '@noble/hashes/utils.js'],
        ],
      },
    },
  },
  globalSetup: 'test/node/assets.ts',
  setupFiles: 'test/migrated.ts',
  isolate: false, // workerd takes a second to start, so test files share it, each with its own databases
  testTimeout: 60_000,
  hookTimeout: 60_000,
};
const nodeOptions = {
  globalSetup: 'test/node/migrated.ts',
  isolate: false, // wrangler takes a second to load
  testTimeout: 60_000,
  hookTimeout: 60_000,
};
const nodeTests = ['test/{cli,tools}/**/*.test.ts', 'test/{node,sim}/**/*.test.ts', 'test/hostile/http.test.ts'];
/** With this time zone, a date formatted in local time by mistake would be the day before. */
const env = { TZ: 'America/Los_Angeles' };
/** Loads the browser data (20 MB) with Node. Transforming it as JSON would take 20 seconds. */
const resolve = { alias: { '@mdn/browser-compat-data': '@mdn/browser-compat-data/forLegacyNode' } };
const group = (groupOrder: number) => ({ sequence: { groupOrder } });

export default defineConfig({
  test: {
    tags: [
      {
        name: 'slow',
        description: 'Makes many calls, or repeats a rule for each operation: not in npm test.',
      },
    ],
    slowTestThreshold: Number.POSITIVE_INFINITY, // tests have timeouts instead
    maxWorkers: '100%',
    projects: [
      {
        // Runs on three databases, to detect when one is mistaken for another. The simulator also plays with a single one.
        plugins: [worker],
        test: { ...workerOptions, name: 'worker', include: ['test/*.test.ts', 'test/databases/*.test.ts'] },
      },
      // Pure rules, of the service and of its pages. They need no server, and no files that a build creates.
      { resolve, test: { name: 'rules', include: ['test/rules/*.test.ts'], isolate: false, testTimeout: 60_000, env } },
      {
        resolve,
        test: {
          ...nodeOptions,
          name: 'node',
          include: nodeTests,
          env,
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
          // A browser can be slow on a busy machine. .ci/run lists the tests that passed only on the second try. No other project may
          // retry: a use that is lost in one of two runs is a bug.
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
        },
      },
      // Need not run alone: it alternates between requests and their baseline, so other load affects both.
      { test: { ...group(2), name: 'cost', include: ['test/fuzz/cost.test.ts'], hookTimeout: 180_000 } },
    ],
  },
});
