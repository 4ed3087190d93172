// The two back ends that README.md shows: the one with fetch runs, beside the service; the Worker is the one that the tests run.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { freePort } from '../node/server.ts';
import { type Ask, type Check, dayOf, unless, usage, type Variables } from './check.ts';

type Run = (file: string, program: string, env: Record<string, string>) => { output(): string };

/** Needs https://shop.example registered for SHOP. `run` starts a program and sees to its end. */
export async function checkProducts(markdown: string, check: Check, ask: Ask, variables: Variables, run: Run) {
  const { API, API_KEY, SHOP, SHOP_TOKEN } = variables;
  const worker = readFileSync('test/product/index.ts', 'utf8');
  const config = /^\[\[services\]\].*/ms.exec(readFileSync('test/product/wrangler.toml', 'utf8'))?.[0];
  check(
    'products: the Worker is test/product/index.ts',
    unless(markdown.includes(`\`\`\`ts\n${worker}\`\`\``), 'it is not'),
  );
  check(
    'products: its binding is that of test/product',
    unless(markdown.includes(`\`\`\`toml\n${config}\`\`\``), 'it is not'),
  );

  const program = /^```js\n(.*?)^```$/ms.exec(markdown)?.[1] ?? '';
  const start = async (api: string) => {
    const port = await freePort();
    const product = run('product.mjs', program, { API: api, BUSINESS: SHOP, PORT: `${port}` });
    return async (origin: string) => {
      const headers = { Authorization: `Bearer ${SHOP_TOKEN}`, Origin: origin };
      for (let tries = 0; tries < 100; tries++) {
        const answer = await fetch(`http://localhost:${port}/`, { headers }).catch(() => null);
        if (answer)
          return { status: answer.status, body: (await answer.json()) as { answer?: number; status?: boolean } };
        await new Promise((resume) => setTimeout(resume, 50));
      }
      throw new Error(`the product did not start: ${product.output()}`);
    };
  };

  const count = async () => {
    const today = dayOf(Date.now());
    const { body } = await ask('GET', usage(SHOP, `?from=${today}&to=${today}`), { as: API_KEY });
    return body.data.used[0].count as number;
  };
  const visit = await start(API);
  const before = await count();
  const let_in = await visit('https://shop.example');
  check('products: fetch: acts on 200', unless(let_in.status === 200 && let_in.body.answer === 42, let_in));
  const refused = await visit('https://evil.example');
  check(
    'products: fetch: passes a refusal on',
    unless(refused.status === 403 && refused.body.status === false, refused),
  );
  check('products: fetch: counts one use', unless((await count()) === before + 1, await count()));

  const keys: unknown[] = [];
  const failing = createServer((request, answer) => {
    keys.push(request.headers['idempotency-key']);
    answer.writeHead(keys.length === 1 ? 503 : 200).end('{}');
  }).listen(0);
  const visitBeside = await start(`http://localhost:${(failing.address() as { port: number }).port}`);
  const repeated = await visitBeside('https://shop.example');
  failing.close();
  const once = repeated.status === 200 && keys.length === 2 && keys[0] === keys[1] && keys[0] !== undefined;
  check('products: fetch: repeats a 503 once, with the same key', unless(once, { repeated, keys }));
}
