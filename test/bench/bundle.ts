// The bundle that `wrangler deploy` would upload.
import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';

const ROOT = resolve(import.meta.dirname, '../..');
const WRANGLER = 'node_modules/wrangler/bin/wrangler.js';

export function codeOf(...more: string[]): string {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'bench-'));
  const args = [WRANGLER, 'deploy', '--dry-run', '--outdir', directory.path, ...more];
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: 'pipe' });
  return readFileSync(join(directory.path, 'index.js'), 'utf8');
}

/** The gzipped size of the bundle, with and without the list of public suffixes, which loads only when a wildcard is registered. */
export function sizesOf(code: string): string {
  const kibibytes = (code: string) => `${(gzipSync(code).length / 1024).toFixed(1)} KiB`;
  return `Bundle, gzipped: ${kibibytes(codeOf('--alias', 'tldts:./src/env.ts'))}, ${kibibytes(code)} with the list of public suffixes.`;
}

/** Bundles a file in test/bench/workers. */
export function bundled(file: string): string {
  const entryPoints = [join(import.meta.dirname, 'workers', file)];
  const { outputFiles } = esbuild.buildSync({ entryPoints, bundle: true, minify: true, format: 'esm', write: false });
  return outputFiles[0]?.text ?? '';
}
