// The promised size of the Worker, which is 98 KiB gzipped, not counting the list of suffixes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const WRANGLER = join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
const KiB = 1024;

function bundle(...more: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'bundle-'));
  try {
    const args = [WRANGLER, 'deploy', '--dry-run', '--outdir', directory, ...more];
    execFileSync(process.execPath, args, { cwd: ROOT, stdio: 'pipe' });
    const { sources } = JSON.parse(readFileSync(join(directory, 'index.js.map'), 'utf8')) as { sources: string[] };
    return { code: readFileSync(join(directory, 'index.js')), sources };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('the Worker without the list of public suffixes is at most 98 KiB, minified and gzipped', () => {
  // Replaces the list with a module that contains only types.
  const size = gzipSync(bundle('--alias', 'tldts:./src/env.ts').code).length;
  expect(size).toBeLessThanOrEqual(98 * KiB);
});

test('the Worker contains neither Node modules nor the operator’s tools nor another clock, and loads the list of suffixes lazily', () => {
  const built = bundle();
  const code = built.code.toString();
  const own = built.sources.flatMap((source) => /src\/([\w-]+\.ts)$/.exec(source)?.slice(1) ?? []);
  expect(own).toEqual(expect.arrayContaining(['index.ts', 'worker.ts']));
  expect(own).not.toContain('rehearsal.ts');
  expect(code).not.toMatch(/["']node:/);
  expect(code).not.toContain('prepareDemo');
  expect(code).not.toMatch(/operationId|toJSONSchema/); // the build writes the OpenAPI document to a file
  expect(code).toMatch(/Promise\.resolve\(\)\.then\(\(\)=>/);
});
