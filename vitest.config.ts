// Two projects: the Worker's tests run in workerd on a real D1; what runs in Node, or against a server, is tested in Node.
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';

const inNode = ['test/admin/**/*.test.ts', 'test/node/**/*.test.ts', 'test/hostile/http.test.ts'];

export default defineConfig({
  test: {
    globalSetup: 'test/node/assets.ts',
    projects: [
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: { bindings: { MIGRATIONS: await readD1Migrations('migrations') } },
          })),
        ],
        test: { name: 'worker', include: ['test/**/*.test.ts'], exclude: inNode },
      },
      { test: { name: 'node', include: inNode, testTimeout: 60_000, hookTimeout: 60_000 } },
    ],
  },
});
