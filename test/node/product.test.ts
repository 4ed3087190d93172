// The Worker in docs/embedding.md runs: it records its uses through a service binding.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBusiness } from '../../src/cli/businesses.ts';
import { withDatabase } from '../../src/cli/database.ts';
import { access, type Business, dailyUsage } from '../../src/db/schema.ts';
import { type Service, startService } from './server.ts';
import { newDatabase } from './state.ts';

let state: string;
let business: Business;
let service: Service;

beforeAll(async () => {
  state = newDatabase();
  const fields = { user_id: 1, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' };
  const row = { ...fields, country_id: 1, business_size: 'small' };
  business = await withDatabase({ 'persist-to': state }, async (db) => {
    const made = await createBusiness(db, row, new Date());
    const stamp = made.created_at;
    await db
      .insert(access)
      .values({ business_id: made.id, site: 'https://acme.example', created_at: stamp, updated_at: stamp });
    return made;
  });
  service = await startService(state, ['test/product/wrangler.toml', 'wrangler.toml']);
});
afterAll(() => service?.stop());

const visit = async (origin: string) => {
  const headers = { Authorization: `Bearer ${business.token}`, Origin: origin };
  const answer = await fetch(`${service.url}/?business=${business.id}`, { headers });
  return { status: answer.status, body: await answer.json(), cors: answer.headers.get('Access-Control-Allow-Origin') };
};

test('is the one in docs/embedding.md, with its binding', () => {
  const document = readFileSync('docs/embedding.md', 'utf8');
  const config = readFileSync('test/product/wrangler.toml', 'utf8');
  expect(document).toContain(`\`\`\`ts\n${readFileSync('test/product/index.ts', 'utf8')}\`\`\``);
  expect(document).toContain(`\`\`\`toml\n${config.slice(config.indexOf('[[services]]'))}\`\`\``);
});

test('acts on 200, and passes a refusal on with its reason', async () => {
  expect(await visit('https://acme.example')).toEqual({ status: 200, body: { answer: 42 }, cors: '*' });
  expect(await visit('https://evil.example')).toEqual({
    status: 403,
    body: { status: false, message: 'Origin https://evil.example is not authorized for this business.' },
    cors: '*',
  });
  await visit('https://acme.example');
  const counts = await withDatabase({ 'persist-to': state }, (db) =>
    db.select({ count: dailyUsage.count }).from(dailyUsage),
  );
  expect(counts).toEqual([{ count: 2 }]);
});
