// Before the tests in Node: one server for all that call the service as `wrangler dev` runs it. The owners whom they need are made
// before it starts: a process that writes to a database which a server has open may find it locked.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { dailyUsage } from '../../src/db/schema.ts';
import { createBusiness, createKey } from '../ask.ts';
import { type LocalDatabase, withDatabases } from './local.ts';
import type {} from './migrated.ts'; // what it provides
import { startService } from './server.ts';

type Owner = { key: string; businesses: { id: number; token: string }[] };

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the server, and for each file that changes what is stored an owner of its own. */
    served: { url: string; ofHttp: Owner; ofClient: Owner; ofProduct: Owner };
  }
}

export default async function served(project: TestProject) {
  const { folder, migrated } = project.getProvidedContext();
  const state = join(folder, 'served');
  cpSync(migrated, state, { recursive: true });
  const owners = await withDatabases({ 'persist-to': state }, async ({ first }) => ({
    ofHttp: await newOwner(first, 7, 4),
    ofClient: await newOwner(first, 8, 1),
    ofProduct: await newOwner(first, 9, 1),
  }));
  const { url, stop } = await startService(state);
  project.provide('served', { url, ...owners });
  return () => stop();
}

/** An owner with a key and businesses, of which each was used five times on 2 March 2026. */
async function newOwner(home: LocalDatabase, user_id: number, count: number): Promise<Owner> {
  const now = new Date();
  const fields = { user_id, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' };
  const { api_key: key } = await createKey(home, { user_id, name: 'test', expires_on: null }, now);
  const businesses: Owner['businesses'] = [];
  for (let left = count; left > 0; left--) {
    const { id, token } = await createBusiness(home, { ...fields, country_id: 1, business_size: 'small' }, now);
    await home.db.insert(dailyUsage).values({ business_id: id, day: '2026-03-02', count: 5 });
    businesses.push({ id, token });
  }
  return { key, businesses };
}
