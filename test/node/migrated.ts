// Before the tests in Node: a database with its tables, of which each test that wants one takes a copy.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { newState } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where what the tests make is put. */
    folder: string;
    /** The state directory of the database. */
    migrated: string;
  }
}

export default function migrated({ provide }: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'test-'));
  const { directory, remove } = newState();
  provide('folder', folder);
  provide('migrated', directory);
  return () => {
    remove();
    rmSync(folder, { recursive: true, force: true });
  };
}
