// The bundle that `wrangler deploy` would upload, and its size.
import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { median } from './stats.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const WRANGLER = 'node_modules/wrangler/bin/wrangler.js';
const STARTS = 9;

export type Bundle = {
  code: string;
  /** Gzipped bytes. */
  size: number;
  /** Gzipped bytes without the list of public suffixes, which loads only when a wildcard is registered. */
  sizeWithoutList: number;
  /** Milliseconds to load the bundle and run its top level. */
  startMs: number;
};

export function build(): Bundle {
  using directory = newDirectory();
  const sizeWithoutList = gzipSync(deployed(directory.path, ['--alias', 'tldts:./src/env.ts'])).length;
  const code = deployed(directory.path);
  const startMs = startOf(join(directory.path, 'index.js'));
  return { code: code.toString(), size: gzipSync(code).length, sizeWithoutList, startMs };
}

const newDirectory = () => mkdtempDisposableSync(join(tmpdir(), 'bench-'));

/** Builds the bundle in `directory` and returns its code. */
function deployed(directory: string, more: string[] = []): Buffer {
  const args = [WRANGLER, 'deploy', '--dry-run', '--outdir', directory, ...more];
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: 'pipe' });
  return readFileSync(join(directory, 'index.js'));
}

export function codeOf(): string {
  using directory = newDirectory();
  return deployed(directory.path).toString();
}

/** Bundles a file in test/bench/workers. */
export function bundled(file: string): string {
  const entryPoints = [join(import.meta.dirname, 'workers', file)];
  const { outputFiles } = esbuild.buildSync({ entryPoints, bundle: true, minify: true, format: 'esm', write: false });
  return outputFiles[0]?.text ?? '';
}

/** The file's load time in milliseconds: the median of several Node processes. Uses Node because workerd's clock stops during startup. */
function startOf(file: string): number {
  const script = `const start = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - start)`;
  const args = ['--no-warnings', '--input-type=module', '--eval', script];
  return median(
    Array.from({ length: STARTS }, () => Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))),
  );
}
