// Two projects: the Worker's tests run in workerd on a real D1, the operator's tools and what is built are tested in Node.
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: { bindings: { MIGRATIONS: await readD1Migrations('migrations') } },
          })),
        ],
        test: { name: 'worker', include: ['test/**/*.test.ts'], exclude: ['test/admin/**'] },
      },
      { test: { name: 'node', include: ['test/admin/**/*.test.ts'], testTimeout: 60_000 } },
    ],
  },
});
