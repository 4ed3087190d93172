// The Worker in docs/embedding.md with its service binding. failing-service.test.ts runs it with a service that fails.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BusinessRow, dailyUsage, sites } from '../../src/db/schema.ts';
import { createBusiness } from '../ask.ts';
import { withDatabases } from './local.ts';
import { type Service, startService } from './server.ts';
import { newDatabase } from './state.ts';

let state: string;
let business: BusinessRow;
let service: Service;

beforeAll(async () => {
  state = newDatabase();
  const fields = { user_id: 1, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' };
  const row = { ...fields, country_id: 1, business_size: 'small' };
  business = await withDatabases({ 'persist-to': state }, async ({ first }) => {
    const made = await createBusiness(first, row, new Date());
    const stamp = made.created_at;
    await first.db
      .insert(sites)
      .values({ business_id: made.id, site: 'https://acme.example', created_at: stamp, updated_at: stamp });
    return made;
  });
  service = await startService(state, { front: 'docs/examples/worker/wrangler.toml' });
});
afterAll(() => service?.stop());

const visit = async (origin: string) => {
  const headers = { Authorization: `Bearer ${business.token}`, Origin: origin };
  const answer = await fetch(`${service.url}/?business=${business.id}`, { headers });
  return { status: answer.status, body: await answer.json(), cors: answer.headers.get('Access-Control-Allow-Origin') };
};

test('the Worker and its service binding are those in docs/embedding.md', () => {
  const document = readFileSync('docs/embedding.md', 'utf8');
  const config = readFileSync('docs/examples/worker/wrangler.toml', 'utf8');
  expect(document).toContain('(examples/worker/index.ts)');
  expect(document).toContain(`\`\`\`toml\n${config.slice(config.indexOf('[[services]]'))}\`\`\``);
});

test('the Worker acts on 200 and forwards a refusal with its reason', async () => {
  expect(await visit('https://acme.example')).toEqual({ status: 200, body: { answer: 42 }, cors: '*' });
  expect(await visit('https://evil.example')).toEqual({
    status: 403,
    body: { status: false, message: 'Origin https://evil.example is not authorized for this business.' },
    cors: '*',
  });
  await visit('https://acme.example');
  const counts = await withDatabases({ 'persist-to': state }, ({ first }) =>
    first.db.select({ count: dailyUsage.count }).from(dailyUsage),
  );
  expect(counts).toEqual([{ count: 2 }]);
});

test('the Worker does not let visitors change the path', async () => {
  const headers = { Authorization: `Bearer ${business.token}`, Origin: 'https://acme.example' };
  for (const query of [`?business=../${business.id}/token`, '?business=../../health', '?business=', '']) {
    const answer = await fetch(`${service.url}/${query}`, { headers });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({ status: false, message: 'business id is not valid' });
  }
});
