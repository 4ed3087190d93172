// The two back ends in docs/embedding.md against a working service. failing-service.test.ts runs them against a failing one.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { access, type BusinessRow, dailyUsage } from '../../src/db/schema.ts';
import { createBusiness } from '../ask.ts';
import { withDatabases } from './local.ts';
import { IN_A_WORKER, inAWorker, ON_ANY_SERVER, onAnyServer, run } from './products.ts';
import { type Service, startService } from './server.ts';
import { newDatabase, served } from './state.ts';

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
  service = await startService(state, { front: 'docs/examples/worker/wrangler.toml' });
});
afterAll(() => service?.stop());

const visit = async (origin: string) => {
  const headers = { Authorization: `Bearer ${business.token}`, Origin: origin };
  const answer = await fetch(`${service.url}/?business=${business.id}`, { headers });
  return { status: answer.status, body: await answer.json(), cors: answer.headers.get('Access-Control-Allow-Origin') };
};

test('in a Worker: the program and its service binding are those in docs/embedding.md', () => {
  const document = readFileSync('docs/embedding.md', 'utf8');
  const config = readFileSync('docs/examples/worker/wrangler.toml', 'utf8');
  expect(document).toContain('(examples/worker/index.ts)');
  expect(document).toContain(`\`\`\`toml\n${config.slice(config.indexOf('[[services]]'))}\`\`\``);
});

test('in a Worker: the program acts on 200 and forwards a refusal with its reason', async () => {
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

test('in a Worker: the program does not let visitors change the path', async () => {
  const headers = { Authorization: `Bearer ${business.token}`, Origin: 'https://acme.example' };
  for (const query of [`?business=../${business.id}/token`, '?business=../../health', '?business=', '']) {
    const answer = await fetch(`${service.url}/${query}`, { headers });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({ status: false, message: 'business id is not valid' });
  }
});

describe('the program for any server', () => {
  const withWork = (work: string, program = ON_ANY_SERVER) => program.replace('({ answer: 42 })', work);

  test('acts on 200 and forwards a refusal with its reason', async () => {
    const { url, ofProduct } = await served();
    const product = await onAnyServer(url, { BUSINESS: `${ofProduct.businesses[0]?.id}` });
    try {
      const headers = { Authorization: `Bearer ${ofProduct.businesses[0]?.token}`, Origin: 'https://acme.example' };
      const [works, refused] = await Promise.all([fetch(product.url, { headers }), fetch(product.url)]);
      expect([works.status, await works.json()]).toEqual([200, { answer: 42 }]);
      expect([refused.status, await refused.json()]).toEqual([401, { message: 'Unauthenticated.' }]);
      expect(refused.headers.get('Error-Code')).toBe('unauthenticated');
      expect(refused.headers.get('WWW-Authenticate')).toBe('Bearer');
    } finally {
      await product.stop();
    }
    expect(product.log).toEqual([]);
  });

  test.each([
    [{}, 'API, BUSINESS'],
    [{ API: 'http://127.0.0.1/api/v1' }, 'BUSINESS'],
    [{ API: '', BUSINESS: '7' }, 'API'],
  ])('given the variables %j, names the missing ones and exits', async (variables, named) => {
    const { log, ended } = run(ON_ANY_SERVER, variables);
    expect(await ended).toBe(1);
    expect(log).toEqual([`Missing in the environment: ${named}`]);
  });

  test('exits when its port is in use, without affecting the server on that port', async () => {
    const { url } = await served();
    const product = await onAnyServer(url);
    try {
      const { port: PORT } = new URL(product.url);
      const second = run(ON_ANY_SERVER, { API: `${url}/api/v1`, BUSINESS: '7', PORT });
      expect(await second.ended).toBe(1);
      const message = new RegExp(`^listen EADDRINUSE: address already in use .*:${PORT}$`);
      expect(second.log).toEqual([expect.stringMatching(message)]);
      expect((await fetch(product.url)).status).toBe(401);
    } finally {
      await product.stop();
    }
  });

  test.each(['Promise.reject(new Error("secret"))', '({ answer: 42n })', 'secret.answer'])(
    'responds with 500 like the Worker if the work fails with %s, hides the cause, and serves the next visitor',
    async (work) => {
      const { url, ofProduct } = await served();
      const BUSINESS = `${ofProduct.businesses[0]?.id}`;
      const products = [
        await onAnyServer(url, { BUSINESS }, withWork(work)),
        await inAWorker(url, withWork(work, IN_A_WORKER)),
      ];
      for (const product of products) {
        try {
          const headers = { Authorization: `Bearer ${ofProduct.key}` };
          for (let visits = 2; visits > 0; visits--) {
            const answer = await fetch(product.url.replace(/business=\d+/, `business=${BUSINESS}`), { headers });
            expect([answer.status, await answer.json()]).toEqual([500, { message: 'Server Error' }]);
            expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
          }
        } finally {
          await product.stop();
        }
        expect(product.log.length).toBeGreaterThan(0);
      }
    },
  );
});
