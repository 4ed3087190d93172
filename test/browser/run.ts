// npm run test:browser: what pages in a real browser can do with a token, and what they are told.
import assert from 'node:assert/strict';
import { ask, findChromium, frameIn, type Init, OWN_PAGE, openWorld, type Passed, type World } from './world.ts';

const CHECK_WITHIN_MS = 60_000;

const refused = (origin: string, advice = '') => ({
  status: 403,
  body: { status: false, message: `Origin ${origin} is not authorized for this business.${advice}` },
});
const ADVICE = ' Register it from a server, or from an authorized page.';
const days = (count: number) => `?from=2026-01-01&to=2026-01-0${count}`;
const REPORT = {
  status: 200,
  body: { status: true, data: { used: [{ date: '2026-01-01', count: 0 }] } },
};

const exchanges = (passed: Passed[]) => passed.map(({ method, status }) => `${method} ${status}`);

type Check = (world: World) => Promise<void>;
const CHECKS: Record<string, Check> = {
  'a registered page reads its report': async ({ business, visit, service, ports }) => {
    const { usage, token } = await business(`http://localhost:${ports.a}`);
    const page = await visit(`http://localhost:${ports.a}/`);
    assert.deepEqual(await ask(page, service + usage + days(1), token), REPORT);
  },

  'a page of another port, host or address is refused, and can read why': async ({
    business,
    visit,
    service,
    ports,
  }) => {
    const { usage, token } = await business(`http://localhost:${ports.a}`, 'https://shop.example');
    const origins = [
      `http://localhost:${ports.b}`,
      `http://127.0.0.1:${ports.a}`,
      `http://app.localhost:${ports.a}`,
      `http://shop.example:${ports.a}`,
      `http://localhost.example:${ports.a}`,
    ];
    for (const origin of origins) {
      const page = await visit(`${origin}/`);
      assert.deepEqual(await ask(page, service + usage + days(1), token), refused(origin));
    }
  },

  'a page of any port of localhost passes once that is registered, and no other host': async (world) => {
    const { business, visit, service, ports } = world;
    const { usage, token } = await business('http://localhost:*');
    for (const port of [ports.a, ports.b]) {
      const page = await visit(`http://localhost:${port}/`);
      assert.deepEqual(await ask(page, service + usage + days(1), token), REPORT);
    }
    for (const origin of [`http://127.0.0.1:${ports.a}`, `http://app.localhost:${ports.a}`]) {
      const page = await visit(`${origin}/`);
      assert.deepEqual(await ask(page, service + usage + days(1), token), refused(origin));
    }
  },

  'pages of any subdomain pass once they are registered, and neither the domain nor its namesakes': async (world) => {
    const { business, visit, service, ports } = world;
    const { usage, token } = await business(`http://*.shop.example:${ports.a}`);
    for (const host of ['www.shop.example', 'pr-12.preview.shop.example']) {
      const page = await visit(`http://${host}:${ports.a}/`);
      assert.deepEqual(await ask(page, service + usage + days(1), token), REPORT);
    }
    const origins = [
      `http://shop.example:${ports.a}`,
      `http://evilshop.example:${ports.a}`,
      `http://www.shop.example.evil.example:${ports.a}`,
      `http://www.shop.example:${ports.b}`,
    ];
    for (const origin of origins) {
      const page = await visit(`${origin}/`);
      assert.deepEqual(await ask(page, service + usage + days(1), token), refused(origin));
    }
  },

  'a page is known by the origin that its browser serialises, however its address was written': async (world) => {
    const { business, visit, service, ports } = world;
    const { usage, token } = await business(
      `http://B\u00fccher.example:${ports.a}/shop`,
      `http://LOCALHOST:${ports.a}`,
    );
    const addresses = [
      `http://b\u00fccher.example:${ports.a}/`,
      `http://XN--BCHER-KVA.example:${ports.a}/`,
      `http://user:secret@LocalHost:${ports.a}/`,
    ];
    for (const address of addresses) {
      assert.deepEqual(await ask(await visit(address), service + usage + days(1), token), REPORT);
    }
  },

  'a page that hides its referrer is known all the same': async ({ business, visit, service, ports, passed }) => {
    const { usage, token } = await business(`http://localhost:${ports.a}`);
    const page = await visit(`http://localhost:${ports.a}/no-referrer`);
    assert.deepEqual(await ask(page, service + usage + days(1), token), REPORT);
    const call = passed.find(({ method, path }) => method === 'GET' && path.startsWith(usage));
    assert.equal(call?.headers.referer, undefined);
  },

  'a sandboxed frame of a registered page (origin null) is refused, and can read why': async (world) => {
    const { business, visit, service, ports } = world;
    const { usage, token } = await business(`http://localhost:${ports.a}`);
    for (const path of ['/sandboxed', '/sandboxed-srcdoc', '/data']) {
      const page = await visit(`http://localhost:${ports.a}${path}`);
      assert.deepEqual(await ask(frameIn(page), service + usage + days(1), token), refused('null'));
    }
  },

  'a frame that keeps the origin of its registered page reads its report': async (world) => {
    const { business, visit, service, ports } = world;
    const { usage, token } = await business(`http://localhost:${ports.a}`);
    for (const path of ['/sandboxed-same-origin', '/srcdoc']) {
      const page = await visit(`http://localhost:${ports.a}${path}`);
      assert.deepEqual(await ask(frameIn(page), service + usage + days(1), token), REPORT);
    }
  },

  'a file: page is refused, and can read why': async ({ business, visit, service, ports, file }) => {
    const { usage, token } = await business(`http://localhost:${ports.a}`);
    assert.deepEqual(await ask(await visit(file), service + usage + days(1), token), refused('null'));
  },

  'a page can read every other refusal too': async ({ business, visit, service, ports, api_key }) => {
    const { usage, access, token } = await business(`http://localhost:${ports.a}`);
    const page = await visit(`http://localhost:${ports.a}/`);
    const json = { 'Content-Type': 'application/json' };
    const refusals: [status: number, path: string, credential: string, init?: Init][] = [
      [401, usage, 'unknown'],
      [403, access, token],
      [404, '/api/v1/unknown', token],
      [404, `${access}/999999999`, api_key, { method: 'DELETE' }],
      [413, access, api_key, { method: 'POST', headers: json, body: ' '.repeat(1024 * 1024 + 1) }],
      [422, `${usage}?from=2026-02-30`, token],
      [422, access, api_key, { method: 'POST', headers: json, body: '{"sites":["null"]}' }],
    ];
    for (const [status, path, credential, init] of refusals) {
      const heard = await ask(page, service + path, credential, init);
      assert.ok('status' in heard, `${status} is not readable: ${JSON.stringify(heard)}`);
      assert.equal(heard.status, status);
      assert.equal(typeof (heard.body as { message?: unknown }).message, 'string');
    }
  },

  'the preflight is sent without the token, answered with 204, and then cached': async (world) => {
    const { business, visit, service, ports, passed } = world;
    const { usage, token } = await business(`http://localhost:${ports.a}`);
    const page = await visit(`http://localhost:${ports.a}/`);
    const calls = () => exchanges(passed.filter(({ path }) => path.startsWith(usage)));
    assert.deepEqual(await ask(page, service + usage + days(1), token), REPORT);
    assert.deepEqual(calls(), ['OPTIONS 204', 'GET 200']);
    const preflight = passed.find(({ method, path }) => method === 'OPTIONS' && path.startsWith(usage));
    assert.equal(preflight?.headers.authorization, undefined);
    assert.equal(preflight?.headers['access-control-request-headers'], 'authorization');
    // Chromium keeps it for two hours, however long it is told to.
    for (let again = 0; again < 3; again++) assert.deepEqual(await ask(page, service + usage + days(1), token), REPORT);
    assert.deepEqual(calls(), ['OPTIONS 204', 'GET 200', 'GET 200', 'GET 200', 'GET 200']);
  },

  'the preflight needs no database; a failure of the database is a status that a page can read': async (world) => {
    const { brokenService, visit, ports } = world;
    const { origin, passed } = await brokenService();
    const page = await visit(`http://localhost:${ports.a}/`);
    const heard = await ask(page, `${origin}/api/v1/business/usage/1`, 'x'.repeat(24));
    assert.deepEqual(heard, { status: 500, body: { message: 'Server Error' } });
    assert.deepEqual(exchanges(passed), ['OPTIONS 204', 'GET 500']);
  },

  'a page may send headers of its own, and an Idempotency-Key': async ({ business, visit, service, ports }) => {
    const { usage, token } = await business(`http://localhost:${ports.a}`);
    const page = await visit(`http://localhost:${ports.a}/`);
    const headers = {
      'Idempotency-Key': 'order-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    for (const attempt of ['first', 'repeated']) {
      const heard = await ask(page, service + usage, token, { method: 'POST', headers });
      assert.ok('status' in heard, `${attempt}: ${JSON.stringify(heard)}`);
      assert.deepEqual(
        { ...heard, body: (heard.body as { data: { count: number } }).data.count },
        { status: 200, body: 1 },
      );
    }
  },

  'a page that insists on sending cookies gets no answer': async ({ business, visit, service, ports }) => {
    const { usage, token } = await business(`http://localhost:${ports.a}`);
    const page = await visit(`http://localhost:${ports.a}/`);
    const heard = await ask(page, service + usage + days(1), token, { credentials: 'include' });
    assert.deepEqual(heard, { failure: 'TypeError' });
  },

  'adding and removing a domain takes effect with the next request': async ({
    business,
    visit,
    service,
    ports,
    manage,
  }) => {
    const { usage, access, token } = await business('https://shop.example');
    const origin = `http://localhost:${ports.a}`;
    const page = await visit(`${origin}/`);
    const report = () => ask(page, service + usage + days(1), token);
    assert.deepEqual(await report(), refused(origin));
    const { data } = await manage('POST', access, { sites: [origin] });
    assert.deepEqual(await report(), REPORT);
    await manage('DELETE', `${access}/${data.access_list[1]?.id}`);
    assert.deepEqual(await report(), refused(origin));
    await manage('DELETE', access);
    assert.deepEqual(await report(), REPORT);
  },

  'a page can manage domains with an API key where it is registered, and is told to register where it is not': async (
    world,
  ) => {
    const { business, visit, service, ports, api_key } = world;
    const registered = `http://localhost:${ports.a}`;
    const { access, usage, token } = await business(registered);
    const stranger = await visit(`http://localhost:${ports.b}/`);
    assert.deepEqual(await ask(stranger, service + access, api_key), refused(`http://localhost:${ports.b}`, ADVICE));
    const page = await visit(`${registered}/`);
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ sites: [`http://localhost:${ports.b}`] }),
    };
    assert.equal(((await ask(page, service + access, api_key, init)) as { status: number }).status, 200);
    assert.deepEqual(await ask(stranger, service + usage + days(1), token), REPORT);
  },

  "a page of the service's own host sends no Origin with a GET: an API key passes, a token only once it is registered":
    async (world) => {
      const { business, visit, service, api_key, passed, manage } = world;
      const { usage, access, token } = await business('https://shop.example');
      const page = await visit(service + OWN_PAGE);
      assert.deepEqual(await ask(page, usage + days(1), api_key), REPORT);
      const call = passed.findLast(({ path }) => path.startsWith(usage));
      assert.deepEqual([call?.headers.origin, call?.headers['sec-fetch-site']], [undefined, 'same-origin']);
      assert.deepEqual(await ask(page, usage + days(1), token), refused(service));
      assert.deepEqual(await ask(page, usage, token, { method: 'POST' }), refused(service));
      await manage('POST', access, { sites: [service] });
      assert.deepEqual(await ask(page, usage + days(1), token), REPORT);
    },
};

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let late: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error(`not done within ${ms} ms`)), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(late));
}

async function main(executable: string): Promise<number> {
  const closing: (() => unknown)[] = [];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void close().finally(() => process.exit(130)));
  }
  let [passed, failed] = [0, 0];
  try {
    const world = await openWorld(executable, closing);
    for (const [sentence, check] of Object.entries(CHECKS)) {
      try {
        await within(CHECK_WITHIN_MS, check(world));
        passed += 1;
        console.log(`ok      ${sentence}`);
      } catch (error) {
        failed += 1;
        console.log(`FAILED  ${sentence}\n${error instanceof Error ? error.stack : error}`);
      }
    }
  } finally {
    await close();
  }
  console.log(`browser: ${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

const executable = findChromium();
if (executable === null) {
  const where = process.env.CHROMIUM ? `at ${process.env.CHROMIUM}, which CHROMIUM names` : 'in the usual places';
  console.error(`There is no Chromium ${where}: install it (apt-get install chromium), or name one in CHROMIUM.`);
  process.exit(1);
}
process.exitCode = await main(executable);
