// Before the tests: the assets, as wrangler's build makes them; in watch mode, before each run. A process of its own makes them:
// here, vite would transform every module of the build first, and the data of all browsers among them, which takes 20 seconds.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const BUILD = join(import.meta.dirname, '../../src/tools/build.ts');
const run = promisify(execFile);

async function build(): Promise<void> {
  await run(process.execPath, [BUILD]);
}

/** Each project has a module of its own, and they all wait for the same build. */
const shared = globalThis as { assets?: Promise<void> };

export const built = () => {
  shared.assets ??= build();
  return shared.assets;
};

export default async function assets(project: TestProject) {
  project.onTestsRerun(build);
  await built();
}
