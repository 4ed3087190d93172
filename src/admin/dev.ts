// npm run dev: migrations, demo businesses and a fresh demo key in the local database, then the service.
import { spawn, spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { DEMO_VARIABLE, type Demo } from './build.ts';
import { prepareDemo } from './demo.ts';
import { reasonOf } from './errors.ts';

const values = optionsOf();
// Loaded here: wrangler takes most of a second, for which a refusal need not wait.
const { withDatabase } = await import('./database.ts');
// Quiet, and with no look-ups elsewhere. Here and not in a .env file, whose lines would become variables of the Worker.
const env = { ...process.env, CLOUDFLARE_CF_FETCH_ENABLED: 'false', WRANGLER_HIDE_BANNER: 'true' };
const shell = process.platform === 'win32';
const persist = values['persist-to'] === undefined ? [] : ['--persist-to', values['persist-to']];

const migrated = spawnSync('wrangler', ['d1', 'migrations', 'apply', 'DB', '--local', ...persist], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env,
  shell,
});
if (migrated.status !== 0) {
  process.stderr.write(migrated.stdout);
  process.exit(1);
}
const { charts, shop, api_key } = await withDatabase(values, (db) => prepareDemo(db, new Date()));

console.log(`
The chart of a demo business is at http://localhost:${values.port}, its page for owners too. Two demo businesses are in the local
database. Paste these lines into another terminal:

export API=http://localhost:${values.port}/api/v1
export API_KEY=${api_key}
export BUSINESS=${charts.id} TOKEN=${charts.token}
export SHOP=${shop.id} SHOP_TOKEN=${shop.token}

and then, for example:

curl $API/business/usage/$BUSINESS -H "Authorization: Bearer $TOKEN"
curl $API/business/$SHOP/access -H "Authorization: Bearer $API_KEY" --json '{"sites":["https://shop.example"]}'
`);

// The page shows the first of them: in a folder beside the one that is deployed.
const demo: Demo = { directory: `dist/dev-${values.port}`, business: charts.id, token: charts.token };
const server = spawn('wrangler', ['dev', '--port', values.port, '--assets', demo.directory, ...persist], {
  stdio: 'inherit',
  env: { ...env, [DEMO_VARIABLE]: JSON.stringify(demo) },
  shell,
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => server.kill(signal));
// A signal to npm alone ends npm and the shell below it, and nothing tells this process but that its parent is another.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && server.kill(), 500).unref();
server.on('exit', (code) => process.exit(code ?? 0));

/** A wrong option is one line on stderr, and 2. */
function optionsOf() {
  try {
    return parseArgs({ options: { port: { type: 'string', default: '8787' }, 'persist-to': { type: 'string' } } })
      .values;
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exit(2);
  }
}
