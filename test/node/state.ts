// Folders and databases of a test's own, in one folder that is removed when all tests have ended (migrated.ts).
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import type {} from './migrated.ts'; // what `inject` can give

export const newFolder = (): string => mkdtempSync(join(inject('folder'), 'state-'));

/** The state directory of a new database, with the tables of migrations/. */
export function newDatabase(): string {
  const state = newFolder();
  cpSync(inject('migrated'), state, { recursive: true });
  return state;
}
