// The bundle that `wrangler deploy` would upload.
import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as esbuild from 'esbuild';

const ROOT = resolve(import.meta.dirname, '../..');
const WRANGLER = 'node_modules/wrangler/bin/wrangler.js';

export function codeOf(): string {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'bench-'));
  const args = [WRANGLER, 'deploy', '--dry-run', '--outdir', directory.path];
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: 'pipe' });
  return readFileSync(join(directory.path, 'index.js'), 'utf8');
}

/** Bundles a file in test/bench/workers. */
export function bundled(file: string): string {
  const entryPoints = [join(import.meta.dirname, 'workers', file)];
  const { outputFiles } = esbuild.buildSync({ entryPoints, bundle: true, minify: true, format: 'esm', write: false });
  return outputFiles[0]?.text ?? '';
}
