// npm run dev: applies the migrations to the local databases and starts the service. After the service responds, prepares demo businesses
// and new demo keys over HTTP, and prints the lines to paste into another terminal.
import { spawn, spawnSync } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import { isIP, isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { newOperatorKey, sha256Hex } from '../core/credential.ts';
import { BINDINGS } from '../core/database.ts';
import { formatSecret } from '../core/operator.ts';
import { parseId } from '../core/request.ts';
import type { ShownDemo } from './build.ts';
import { prepareDemo, serveConsole } from './demo.ts';
import { portProblem } from './port.ts';
import { serviceAt } from './service.ts';
import { isSnapshot } from './snapshot.ts';

/** The slot for this run's operator key. The others are free for permanent keys in `.dev.vars`. */
const SLOT = 'OPERATOR_KEY_4';
/** Another server on the same databases can lock them briefly. */
const LOCK_WAIT_MS = 10_000;
/** The addresses that only this machine can reach. The first stands for the other two. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
/** Stand for all addresses of this machine. */
const ALL_ADDRESSES = ['0.0.0.0', '::'];

const { asked, ip, persist, count } = optionsOf();
const state = resolve(persist ?? join(import.meta.dirname, '../../.wrangler/state'));
// Checked first, because a second server on the same port would replace the first server's key.
const problem = await portProblem(asked, ip);
if (problem !== null) end(problem, 1);
if (globSync('v3/d1/*/*.sqlite', { cwd: state }).some((file) => isOfSnapshot(join(state, file))))
  end(
    `${state} was created by a version before 1.0.0-rc, which cannot be upgraded. Delete it, or use --persist-to.`,
    1,
  );

// Loaded after the checks, because loading takes more than a second, and errors should appear immediately.
const [{ configWith }, { default: build, DEMO_VARIABLE, demoFileIn }] = await Promise.all([
  import('./dev-config.ts'),
  import('./build.ts'),
]);
// Keeps wrangler quiet and offline. A .env file would pass these variables to the Worker as well.
const env = { ...process.env, CLOUDFLARE_CF_FETCH_ENABLED: 'false', WRANGLER_HIDE_BANNER: 'true' };
// wrangler's explorer needs no key, so anyone who can reach it can read and change the databases.
const isShared = !LOOPBACK.includes(ip);
if (isShared) Object.assign(env, { X_LOCAL_EXPLORER: 'false' });
const shell = process.platform === 'win32';
const { bindings, config } = configured();
const where = [
  ...(config === undefined ? [] : ['--config', config]),
  ...(persist === undefined ? [] : ['--persist-to', persist]),
];

for (const binding of bindings) migrate(binding);

const operatorKey = newOperatorKey();
const variable = `${SLOT}:${formatSecret('full', await sha256Hex(operatorKey))}`;
const { promise: listening, resolve: listens } = Promise.withResolvers<number>();
let [isUp, isQuiet, unprinted] = [false, false, ''];
let server = start(asked);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => server.kill(signal));
// A signal to npm ends npm and its shell but does not reach this process, so this checks for a new parent process.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && server.kill(), 500).unref();

const port = await listening;
const host = isIPv6(ip) ? `[${ip}]` : ip;
const origin = `http://${ALL_ADDRESSES.includes(ip) ? 'localhost' : host}:${port}`;
const service = serviceAt(origin, operatorKey);
// Polls with a preflight, which needs no database.
while ((await service.send('OPTIONS /health').catch(() => null)) === null) await wait(100);
isUp = true;

// Hides the log of the demo's requests unless one fails.
isQuiet = true;
const demo = await preparedDemo();
if (typeof demo !== 'string') {
  const { charts, refusing, link } = demo;
  const shown = { id: charts.id, token: charts.token, refusing, console: isShared ? '/owner' : link };
  writeFileSync(demoFileIn(folderOf(port)), JSON.stringify(shown satisfies ShownDemo));
  await build(folderOf(port));
}
await wait(300); // wrangler logs these requests with a delay
if (typeof demo === 'string') process.stdout.write(unprinted);
isQuiet = false;
if (isShared)
  process.stderr.write(
    '\nOther machines can reach the service, too. Requests are not encrypted, so use a network that you trust.\n',
  );
const paste = 'paste these lines into another terminal:';
const [api, key] = [`export API=${origin}/api/v1`, `export OPERATOR_KEY=${operatorKey}`];
if (typeof demo === 'string') {
  process.stderr.write(`\nThe demo was not prepared: ${demo}\n`);
  console.log(`\nReady: ${origin}, without the demo. To use the API, ${paste}\n\n${api}\n${key}\n`);
} else {
  const { charts, shop, api_key, link } = demo;
  console.log(`
Ready: ${origin} shows a chart and all operations.

This link opens the console as the owner of eight demo businesses. It works on this machine, as often as you like:

${link}

Elsewhere, sign in at ${origin}/owner with the API_KEY below. To use the API, ${paste}

${api}
export API_KEY=${api_key}
export BUSINESS=${charts.id} TOKEN=${charts.token}
export SHOP=${shop.id} SHOP_TOKEN=${shop.token}
${key}

and then, for example:

curl $API/business/usage/$BUSINESS -H "Authorization: Bearer $TOKEN"
curl $API/business/$SHOP/access -H "Authorization: Bearer $API_KEY" --json '{"sites":["https://shop.example"]}'
`);
}

/** The page with the demo business must not be in the deployed folder. */
function folderOf(port: number): string {
  return `dist/dev-${port}`;
}

/** Starts the server. If another program takes the port during the start, tries the next port, once. */
function start(port: number) {
  const folder = folderOf(port);
  const args = ['dev', '--ip', ip, '--port', `${port}`, '--assets', folder, '--var', variable, ...where];
  const started = spawn('wrangler', args, {
    stdio: ['inherit', 'pipe', 'inherit'],
    env: { ...env, [DEMO_VARIABLE]: folder, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) },
    shell,
  });
  createInterface(started.stdout).on('line', (line) => {
    if (isQuiet) unprinted += `${line}\n`;
    else process.stdout.write(`${line}\n`);
    // Until wrangler prints this, another server may respond on the port.
    if (line.includes('Ready on')) listens(port);
  });
  started.on('exit', async (code) => {
    if (isUp || !code) process.exit(code ?? 0);
    if (port !== asked || (await portProblem(port, ip)) === null)
      end(`wrangler dev exited with code ${code} before the service responded.`, code);
    process.stderr.write(`Another program took port ${port}. Trying ${port + 1}.\n`);
    server = start(port + 1);
  });
  return started;
}

function migrate(binding: string): void {
  for (const deadline = Date.now() + LOCK_WAIT_MS; ; ) {
    const args = ['d1', 'migrations', 'apply', binding, '--local', ...where];
    const { status, stdout, stderr } = spawnSync('wrangler', args, { encoding: 'utf8', env, shell });
    if (status === 0) return;
    if (stderr.includes('SQLITE_BUSY') && Date.now() < deadline) continue;
    process.stderr.write(stdout + stderr);
    end(`The migrations of ${binding} were not applied.`, 1);
  }
}

/** False if the file cannot be read as such a database. wrangler then says why. */
function isOfSnapshot(file: string): boolean {
  try {
    using database = new DatabaseSync(file, { readOnly: true });
    const applied = database.prepare('select name from d1_migrations').all();
    return isSnapshot(applied.map(({ name }) => `${name}`));
  } catch {
    return false;
  }
}

/** Prepares the demo, and retries after 5xx responses. Returns the demo, or an error message. */
async function preparedDemo() {
  for (const deadline = Date.now() + LOCK_WAIT_MS; ; await wait(2000)) {
    try {
      const prepared = await prepareDemo(service, new Date(), port);
      return { ...prepared, link: await serveConsole(service) };
    } catch (error) {
      const { message } = error as Error;
      // The demo can be prepared again after any failure, so a lost connection is retried, too.
      if (!/ (returned 5\d\d|got no response)/.test(message) || Date.now() > deadline) return message;
    }
  }
}

/** Returns the databases to serve and the configuration file. Exits with status 1 and a one-line error if the file is invalid. */
function configured() {
  try {
    return configWith(count);
  } catch (error) {
    return end((error as Error).message, 1);
  }
}

/** Parses the options. If one is invalid, prints an error to stderr and exits with status 2. */
function optionsOf() {
  const options = {
    port: { type: 'string', default: '8787' },
    ip: { type: 'string', default: 'localhost' },
    databases: { type: 'string', default: '1' },
    'persist-to': { type: 'string' },
  } as const;
  try {
    const { values } = parseArgs({ options });
    const persist = values['persist-to'];
    if (!isIP(values.ip) && values.ip !== 'localhost') throw new Error('--ip must be an IP address, such as 0.0.0.0');
    if (persist?.trim() === '') throw new Error('--persist-to must name a directory, such as ./other');
    return {
      asked: numberIn('--port', values.port, 65_535, 8788),
      ip: values.ip,
      count: numberIn('--databases', values.databases, BINDINGS.length, 3),
      persist,
    };
  } catch (error) {
    return end((error as Error).message.replace(/\n.*/s, ''), 2);
  }
}

function numberIn(option: string, text: string, most: number, example: number): number {
  const number = parseId(text);
  if (number !== null && number <= most) return number;
  throw new Error(`${option} must be a number from 1 to ${most}, such as ${example}`);
}

function end(line: string, code: number): never {
  process.stderr.write(`${line}\n`);
  process.exit(code);
}
