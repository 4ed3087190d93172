// Before each test file in workerd: creates empty databases with the tables from migrations/, and starts ids in each database's range. All
// migrations run in one batch, because running them in separate batches would take longer than many test files do. After each test: checks
// that docs/operating.md documents every logged line.
import { afterEach, expect } from 'vitest';
import { beginIds } from '../src/db/ids.ts';
import { readVerdict } from '../src/db/statement.ts';
import { asking } from './ask.ts';
import { undocumentedLines } from './log-lines.ts';
import { env, homes, NOW, resetDatabases } from './support.ts';

await resetDatabases();
const migrations = env.MIGRATIONS.flatMap(({ queries }) => queries);
const migrated = homes.map(async (home) => {
  await home.d1.batch(migrations.map((sql) => home.d1.prepare(sql)));
  await asking(home, 'create_business', NOW)(readVerdict, beginIds(home.number));
});
await Promise.all(migrated);

afterEach(() => expect(undocumentedLines()).toEqual([]));
