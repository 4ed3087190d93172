// npm run test:page: what a browser shows, in real Chromium. Not part of npm test: not every machine has one.
import { defineConfig } from 'vitest/config';
import { findChromium } from './world.ts';

if (findChromium() === null) {
  console.error(
    'There is no Chromium here: install it (Debian: apt-get install chromium), or set CHROMIUM to its path.',
  );
  process.exit(1);
}

export default defineConfig({
  test: { include: ['test/browser/**/*.browser.ts'], testTimeout: 30_000, hookTimeout: 60_000 },
});
