// Whether local databases can be used. Asked before the Workers runtime starts, which would fail with a stack, or create an empty
// database where a name is misspelt.
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getSystemErrorMessage } from 'node:util';

/** Room for what the runtime writes even for a read: logs of SQLite, and databases of its own. */
const ROOM_BYTES = 1024 * 1024;

/** Fails with a line that says how to create databases if there are none in the folder. */
export function requireDatabases(folder: string): void {
  const files = globSync('v3/d1/*/*.sqlite', { cwd: folder, exclude: (name) => name.endsWith('metadata.sqlite') });
  if (files.length === 0)
    throw new Error(
      `There are no local databases in ${folder}. npm run dev creates some, in another folder with -- --persist-to DIR.`,
    );
}

/** Creates the folder if it is missing. Fails with a line that says why nothing can be written there. */
export function requireRoom(folder: string): void {
  const probe = join(folder, `.room-${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true });
    try {
      writeFileSync(probe, Buffer.alloc(ROOM_BYTES));
    } finally {
      rmSync(probe, { force: true });
    }
  } catch (error) {
    const { errno, message } = error as NodeJS.ErrnoException;
    throw new Error(`${folder} cannot be written: ${errno === undefined ? message : getSystemErrorMessage(errno)}`);
  }
}
