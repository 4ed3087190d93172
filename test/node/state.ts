// Folders and databases for single tests, all removed after the last test (migrated.ts), and the shared server.
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import type {} from './migrated.ts'; // for the types that `inject` returns
import type { Served } from './served.ts';

export const newFolder = (): string => mkdtempSync(join(inject('folder'), 'state-'));

/** Creates a migrated database and returns its state directory. */
export function newDatabase(): string {
  const state = newFolder();
  cpSync(inject('migrated'), state, { recursive: true });
  return state;
}

/** Returns the shared server. The first call starts it. */
export async function served(): Promise<Served> {
  const answer = await fetch(inject('served'));
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return JSON.parse(text);
}
