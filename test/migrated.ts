// Before each file of tests in workerd: databases of its own, with the tables of migrations/, whose ids are in the range of the database;
// and after each test, that every line it logged is one of docs/operating.md.
// All migrations are one batch: one after the other, they would take longer than many a file.
import { afterEach, expect } from 'vitest';
import { raiseIds } from '../src/db/ids.ts';
import { readVerdict } from '../src/db/statement.ts';
import { asking } from './ask.ts';
import { undocumentedLines } from './log-lines.ts';
import { env, homes, NOW, resetDatabases } from './support.ts';

await resetDatabases();
const migrations = env.MIGRATIONS.flatMap(({ queries }) => queries);
const migrated = homes.map(async (home) => {
  await home.d1.batch(migrations.map((sql) => home.d1.prepare(sql)));
  await asking(home, 'create_business', NOW)(readVerdict, raiseIds(home.number));
});
await Promise.all(migrated);

afterEach(() => expect(undocumentedLines()).toEqual([]));
