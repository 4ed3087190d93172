// Before each file of tests in workerd: databases of its own, with the tables of migrations/, whose ids are in the range of the database.
import { applyD1Migrations, reset } from 'cloudflare:test';
import { raiseIds } from '../src/db/ids.ts';
import { readVerdict } from '../src/db/statement.ts';
import { asking } from './ask.ts';
import { env, homes, NOW } from './support.ts';

await reset();
const migrated = homes.map(async (home) => {
  await applyD1Migrations(home.d1, env.MIGRATIONS);
  await asking(home, 'create_business', NOW)(readVerdict, raiseIds(home.number));
});
await Promise.all(migrated);
