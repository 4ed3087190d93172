// Before each file of tests in workerd: databases of its own, with the tables of migrations/, whose ids are in the range of the database.
import { applyD1Migrations, reset } from 'cloudflare:test';
import { raiseIds } from '../src/cli/homes.ts';
import { env, homes } from './support.ts';

await reset();
const migrated = homes.map(async (home) => {
  await applyD1Migrations(home.d1, env.MIGRATIONS);
  await home.db.batch([...raiseIds(home)]);
});
await Promise.all(migrated);
