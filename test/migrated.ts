// Before each file of tests in workerd: databases of its own, with the tables of migrations/.
import { applyD1Migrations, reset } from 'cloudflare:test';
import { env, homes } from './support.ts';

await reset();
await Promise.all(homes.map(({ d1 }) => applyD1Migrations(d1, env.MIGRATIONS)));
