// Before each file of tests in workerd: a database of its own, with the tables of migrations/.
import { applyD1Migrations, reset } from 'cloudflare:test';
import { env } from './support.ts';

await reset();
await applyD1Migrations(env.DB, env.MIGRATIONS);
