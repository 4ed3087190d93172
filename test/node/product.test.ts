// The two back ends in docs/embedding.md run: the Worker beside the service, the program for any server beside a stand-in.
// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createBusiness } from '../../src/cli/businesses.ts';
import { withDatabases } from '../../src/cli/open.ts';
import { access, type BusinessRow, dailyUsage } from '../../src/db/schema.ts';
import { freePort, type Service, startService } from './server.ts';
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
      .insert(access)
      .values({ business_id: made.id, site: 'https://acme.example', created_at: stamp, updated_at: stamp });
    return made;
  });
  service = await startService(state, 'test/product/wrangler.toml');
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
  const counts = await withDatabases({ 'persist-to': state }, ({ first }) =>
    first.db.select({ count: dailyUsage.count }).from(dailyUsage),
  );
  expect(counts).toEqual([{ count: 2 }]);
});

test('on any server: acts on 200, passes a refusal on, and tries a 503 once more with the same idempotency key', async () => {
  const [, program = ''] = /^```js\n(import .*?)^```$/ms.exec(readFileSync('docs/embedding.md', 'utf8')) ?? [];
  const statuses = [503, 200, 403];
  const received: unknown[] = [];
  const standIn = createServer(({ method, url, headers }, response) => {
    const { authorization, origin, 'idempotency-key': key } = headers;
    received.push({ method, url, authorization, origin, key });
    response.writeHead(statuses.shift() ?? 500).end('{"status":false}');
  }).listen(0);
  const API = `http://localhost:${(standIn.address() as AddressInfo).port}`;
  const PORT = `${await freePort()}`;
  const env = { ...process.env, API, BUSINESS: '7', PORT };
  const product = spawn(process.execPath, ['--input-type=module', '--eval', program], { env });
  const ended = once(product, 'exit');
  try {
    const headers = { Authorization: 'Bearer token', Origin: 'https://acme.example' };
    const visitor = () => fetch(`http://localhost:${PORT}/`, { headers });
    const answers = [await vi.waitFor(visitor, { timeout: 30_000 }), await visitor()];
    expect(answers.map(({ status }) => status)).toEqual([200, 403]);
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([{ answer: 42 }, { status: false }]);
    const use = { method: 'POST', url: '/business/usage/7', authorization: 'Bearer token', origin: headers.Origin };
    const [first, second, third] = received as { key: string }[];
    expect(received).toEqual([use, use, use].map((use) => ({ ...use, key: expect.stringMatching(/^[\w-]{36}$/) })));
    expect([second?.key === first?.key, third?.key === first?.key]).toEqual([true, false]);
  } finally {
    product.kill();
    standIn.close();
    await ended;
  }
});
