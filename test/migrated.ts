// Before each file of tests in workerd: databases of its own, with the tables of migrations/, whose ids are in the range of the database.
// All migrations are one batch: one after the other, they would take longer than many a file.
import { raiseIds } from '../src/db/ids.ts';
import { readVerdict } from '../src/db/statement.ts';
import { asking } from './ask.ts';
import { empty, env, homes, NOW } from './support.ts';

await empty();
const migrations = env.MIGRATIONS.flatMap(({ queries }) => queries);
const migrated = homes.map(async (home) => {
  await home.d1.batch(migrations.map((sql) => home.d1.prepare(sql)));
  await asking(home, 'create_business', NOW)(readVerdict, raiseIds(home.number));
});
await Promise.all(migrated);
