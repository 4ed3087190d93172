// Folders and databases of a test's own, in one folder that is removed when all tests have ended (migrated.ts), and the server of all.
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import type {} from './migrated.ts'; // what `inject` can give
import type { Served } from './served.ts';

export const newFolder = (): string => mkdtempSync(join(inject('folder'), 'state-'));

/** The state directory of a new database, with the tables of migrations/. */
export function newDatabase(): string {
  const state = newFolder();
  cpSync(inject('migrated'), state, { recursive: true });
  return state;
}

/** The server that all tests share. The first who asks waits until it has started. */
export async function served(): Promise<Served> {
  const answer = await fetch(inject('served'));
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return JSON.parse(text);
}
