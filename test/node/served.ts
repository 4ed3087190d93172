// The server that the tests in Node share. It starts only when a test first asks for it, because most runs of a single test file do not
// need it. Its owners are created before it starts, because a running server can lock its database against other processes.
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { dailyUsage } from '../../src/db/schema.ts';
import { createBusiness, createKey } from '../ask.ts';
import { type LocalDatabase, withDatabases } from './local.ts';
import type {} from './migrated.ts'; // for the types of the provided values
import { startService } from './server.ts';

type Owner = { key: string; businesses: { id: number; token: string }[] };
/** The URL of the service, and an owner for each file that changes data. */
export type Served = { url: string; ofHttp: Owner; ofClient: Owner };

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL from which state.ts requests the shared server. The first request starts the server, and the response is a `Served`. */
    served: string;
  }
}

export default async function served(project: TestProject) {
  let started: ReturnType<typeof start> | undefined;
  const door = createServer(async (_, answer) => {
    started ??= start(project);
    const [status, body] = await started.then(
      ({ found }) => [200, JSON.stringify(found)] as const,
      (error) => [500, `${error}`] as const,
    );
    answer.writeHead(status).end(body);
  });
  await once(door.listen(0, '127.0.0.1'), 'listening');
  project.provide('served', `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  return async () => {
    door.close();
    await (await started?.catch(() => undefined))?.stop();
  };
}

async function start(project: TestProject) {
  const { folder, migrated } = project.getProvidedContext();
  const state = join(folder, 'served');
  cpSync(migrated, state, { recursive: true });
  const owners = await withDatabases({ 'persist-to': state }, async ({ first }) => ({
    ofHttp: await newOwner(first, 7, 6),
    ofClient: await newOwner(first, 8, 1),
  }));
  const { url, stop } = await startService(state);
  const found: Served = { url, ...owners };
  return { found, stop };
}

/** Creates an owner with a key and businesses, each with five uses on 2 March 2026. */
async function newOwner(home: LocalDatabase, user_id: number, count: number): Promise<Owner> {
  const now = new Date();
  const fields = { user_id, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' };
  const { api_key: key } = await createKey(home, { user_id, name: 'test' }, now);
  const businesses: Owner['businesses'] = [];
  for (let left = count; left > 0; left--) {
    const { id, token } = await createBusiness(home, { ...fields, country_id: 1, business_size: 'small' }, now);
    await home.db.insert(dailyUsage).values({ business_id: id, day: '2026-03-02', count: 5 });
    businesses.push({ id, token });
  }
  return { key, businesses };
}
