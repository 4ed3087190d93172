// Before the tests: the assets, as wrangler's build makes them; in watch mode, before each run.
import type { TestProject } from 'vitest/node';
import build from '../../src/tools/build.ts';

export default function assets(project: TestProject) {
  project.onTestsRerun(() => build());
  return build();
}
