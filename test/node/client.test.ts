// A client with types generated from openapi.json compiles, and its calls succeed (test/client, as docs/embedding.md shows it).
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBusiness } from '../../src/cli/businesses.ts';
import { withDatabase } from '../../src/cli/database.ts';
import { createKey } from '../../src/cli/keys.ts';
import { type Business, dailyUsage } from '../../src/db/schema.ts';
import { type Service, startService } from './server.ts';
import { newDatabase } from './state.ts';

const CLIENT = resolve(import.meta.dirname, '../client');
const run = (script: string, ...args: string[]) =>
  execFileSync(process.execPath, [resolve(CLIENT, script), ...args], { cwd: CLIENT, stdio: 'pipe', encoding: 'utf8' });
const compile = () => run('../../node_modules/typescript/bin/tsc', '-p', '.');

let state: string;
let service: Service;
let business: Business;
let api_key: string;

beforeAll(async () => {
  state = newDatabase();
  await withDatabase({ 'persist-to': state }, async (db) => {
    const now = new Date();
    const fields = { user_id: 1, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' };
    business = await createBusiness(db, { ...fields, country_id: 1, business_size: 'small' }, now);
    api_key = (await createKey(db, { user_id: 1, name: 'client', expires_on: null }, now)).api_key;
    await db.insert(dailyUsage).values({ business_id: business.id, day: '2026-03-02', count: 5 });
  });
  service = await startService(state);
  run('node_modules/openapi-typescript/bin/cli.js', `${service.url}/api/v1/openapi.json`, '-o', 'usage.d.ts');
});
afterAll(() => service?.stop());

test('is the one in docs/embedding.md', () => {
  const document = readFileSync(resolve(CLIENT, '../../docs/embedding.md'), 'utf8');
  expect(document).toContain(`\`\`\`ts\n${readFileSync(join(CLIENT, 'index.ts'), 'utf8')}\`\`\``);
});

test('compiles and runs', () => {
  compile();
  const env = { ...process.env, USAGE_URL: service.url, API_KEY: api_key, BUSINESS: `${business.id}` };
  const output = execFileSync(process.execPath, ['index.ts'], { cwd: CLIENT, env, encoding: 'utf8' });
  expect(output).toBe("Acme [ 'https://shop.example' ]\n2026-03-01 0\n2026-03-02 5\n2026-03-03 0\n");
});

test('does not compile where it asks for what there is not', () => {
  const mistakes = `import createClient from 'openapi-fetch';
    import type { paths } from './usage.d.ts';
    const usage = createClient<paths>({ baseUrl: '' });
    const path = { business_id: 1 };
    const { data } = await usage.GET('/api/v1/business/usage/{business_id}', { params: { path } });
    // @ts-expect-error a field that no answer has
    data?.data.used[0]?.counted;
    // @ts-expect-error a path that is none
    await usage.GET('/api/v1/business/{business_id}/acces', { params: { path } });
    // @ts-expect-error a method that the path does not have
    await usage.DELETE('/api/v1/business/usage/{business_id}', { params: { path } });
    // @ts-expect-error a body of another shape
    await usage.POST('/api/v1/business/{business_id}/access', { params: { path }, body: { sites: 'https://a.example' } });`;
  writeFileSync(join(CLIENT, 'mistakes.ts'), mistakes);
  try {
    compile();
  } finally {
    rmSync(join(CLIENT, 'mistakes.ts'));
  }
});
