// npm run dev: applies migrations, prepares demo businesses and new demo keys in the local databases, and starts the service. Once
// the service responds, it prints the lines to paste into another terminal.
import { spawn, spawnSync } from 'node:child_process';
import { get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { reasonOf } from '../cli/errors.ts';
import { databaseCount, directory, port as portValue, readValue } from '../cli/values.ts';
import { OPERATOR_SECRETS } from '../core/operator.ts';
import type { Demo } from './build.ts';
import { problemOf } from './port.ts';

const { port, persist, count } = optionsOf();
// Checked before anything changes: a second start on the same port would replace the key of the first.
const problem = await problemOf(port);
if (problem !== null) end(problem, 1);

// Loaded late: all this takes more than a second to load, and an error need not wait for it.
const [
  { folderOf, withDatabases },
  { createOperatorKey },
  { requireRoom },
  { configWith },
  { prepareDemo },
  { DEMO_VARIABLE },
] = await Promise.all([
  import('../cli/open.ts'),
  import('../cli/operator-keys.ts'),
  import('../cli/state.ts'),
  import('./dev-config.ts'),
  import('./demo.ts'),
  import('./build.ts'),
]);
// Keeps wrangler quiet and offline. Not in a .env file, whose lines would become variables of the Worker.
const env = { ...process.env, CLOUDFLARE_CF_FETCH_ENABLED: 'false', WRANGLER_HIDE_BANNER: 'true' };
const shell = process.platform === 'win32';
const { bindings, config } = prepared();
const where = [
  ...(config === undefined ? [] : ['--config', config]),
  ...(persist === undefined ? [] : ['--persist-to', persist]),
];

for (const binding of bindings) {
  const migrated = spawnSync('wrangler', ['d1', 'migrations', 'apply', binding, '--local', ...where], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
    shell,
  });
  if (migrated.status === 0) continue;
  process.stderr.write(migrated.stdout);
  end(`The migrations of ${binding} were not applied.`, 1);
}
const { charts, shop, api_key, other } = await withDatabases({ 'persist-to': persist, config }, (databases) =>
  prepareDemo(databases, new Date(), port),
).catch((error) => end(reasonOf(error), 1));

// The page shows the first of them, in a folder that is not the deployed one.
const demo: Demo = { directory: `dist/dev-${port}`, business: charts.id, token: charts.token };
const { operator_key, secret } = await createOperatorKey('full', OPERATOR_SECRETS[0]);
const variable = `${OPERATOR_SECRETS[0]}:${secret}`;
const server = spawn(
  'wrangler',
  ['dev', '--port', `${port}`, '--assets', demo.directory, '--var', variable, ...where],
  {
    stdio: 'inherit',
    env: { ...env, [DEMO_VARIABLE]: JSON.stringify(demo) },
    shell,
  },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => server.kill(signal));
// A signal to npm ends npm and its shell but does not reach this process, which only sees that its parent changed.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && server.kill(), 500).unref();
server.on('exit', (code) => process.exit(code ?? 0));

while (!(await answers())) await wait(100);
await wait(300); // wrangler's line about that request comes first
const others = other && {
  exports: `export OTHER=${other.business.id} OTHER_KEY=${other.api_key} OTHER_TOKEN=${other.business.token}\n`,
  example: 'curl $API/business/usage/$OTHER -H "Authorization: Bearer $OTHER_KEY"\n',
  admin: `npm run -s admin -- ${['database', 'list', ...where].join(' ')}\n`,
};
console.log(`
Ready: http://localhost:${port} shows the chart of a demo business, and http://localhost:${port}/owner is the console for owners: sign
in with the API_KEY below. To use the API, paste these lines into another terminal:

export API=http://localhost:${port}/api/v1
export API_KEY=${api_key}
export BUSINESS=${charts.id} TOKEN=${charts.token}
export SHOP=${shop.id} SHOP_TOKEN=${shop.token}
export OPERATOR_KEY=${operator_key}
${others?.exports ?? ''}
and then, for example:

curl $API/business/usage/$BUSINESS -H "Authorization: Bearer $TOKEN"
curl $API/business/$SHOP/access -H "Authorization: Bearer $API_KEY" --json '{"sites":["https://shop.example"]}'
${others ? others.example + others.admin : ''}`);

/** The databases to serve. What is wrong with the configuration or the folder of the databases ends this with one line. */
function prepared() {
  try {
    const configured = configWith(count);
    requireRoom(folderOf({ 'persist-to': persist }));
    return configured;
  } catch (error) {
    return end(reasonOf(error), 1);
  }
}

/** Not with `fetch`, which refuses ports such as 6000. */
function answers(): Promise<boolean> {
  return new Promise((done) => {
    get({ host: 'localhost', port, agent: false }, (answer) => {
      answer.resume();
      done(true);
    }).on('error', () => done(false));
  });
}

/** A wrong option prints one line on stderr and exits with 2. */
function optionsOf() {
  const options = {
    port: { type: 'string', default: '8787' },
    databases: { type: 'string', default: '1' },
    'persist-to': { type: 'string' },
  } as const;
  try {
    const { values } = parseArgs({ options });
    const persist = values['persist-to'];
    return {
      port: readValue(portValue('8788'), '--port', values.port),
      count: readValue(databaseCount('3'), '--databases', values.databases),
      persist: persist === undefined ? undefined : readValue(directory, '--persist-to', persist),
    };
  } catch (error) {
    return end(reasonOf(error), 2);
  }
}

function end(line: string, code: number): never {
  process.stderr.write(`${line}\n`);
  process.exit(code);
}
