// Makes the static assets: what browsers and machines load besides the API. wrangler runs it before it bundles the Worker, and
// vitest before the tests.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openapi } from '../openapi/document.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Writes a file whole, and only if it is new: a server that watches the folder never sees half of one. */
function write(path: string, content: string | Uint8Array): void {
  const bytes = Buffer.from(content);
  try {
    if (readFileSync(path).equals(bytes)) return;
  } catch {
    mkdirSync(dirname(path), { recursive: true });
  }
  const draft = join(ROOT, 'dist', `draft-${process.pid}`);
  writeFileSync(draft, bytes);
  renameSync(draft, path);
}

export default async function build(): Promise<void> {
  const directory = join(ROOT, 'dist/assets');
  write(join(directory, 'api/v1/openapi.json'), JSON.stringify(openapi()));
}

if (import.meta.main) await build();
