// Builds the assets before the tests and, in watch mode, before each run. The build runs in a separate process. In this process, vite would
// first transform the build's modules, including the data of all browsers, which takes 20 seconds.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const BUILD = join(import.meta.dirname, '../../src/tools/build.ts');
const run = promisify(execFile);

async function build(): Promise<void> {
  await run(process.execPath, [BUILD]);
}

/** Shared by this module's instances in each test project. */
const shared = globalThis as { assets?: Promise<void> };

export const built = () => {
  shared.assets ??= build();
  return shared.assets;
};

export default async function assets(project: TestProject) {
  project.onTestsRerun(build);
  await built();
}
