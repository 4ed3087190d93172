// The promised size of the Worker, which is 88 KiB gzipped, not counting the list of suffixes.
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
    return readFileSync(join(directory, 'index.js'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('the Worker without the list of public suffixes is at most 91 KiB, minified and gzipped', () => {
  // Replaces the list with a module that contains only types.
  const size = gzipSync(bundle('--alias', 'tldts:./src/env.ts')).length;
  expect(size).toBeLessThanOrEqual(91 * KiB);
});

test('the Worker contains neither Node modules nor the operator’s tools, and loads the list of suffixes lazily', () => {
  const code = bundle().toString();
  expect(code).not.toMatch(/["']node:/);
  expect(code).not.toContain('prepareDemo');
  expect(code).not.toMatch(/operationId|toJSONSchema/); // the build writes the OpenAPI document to a file
  expect(code).toMatch(/Promise\.resolve\(\)\.then\(\(\)=>/);
});
