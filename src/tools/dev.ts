// npm run dev: applies the migrations to the local databases, starts wrangler dev, creates the demo (demo.ts) over HTTP, and prints the lines
// to paste into another terminal.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { serviceAt } from '../cli/client.ts';
import { newOperatorKey, sha256Hex } from '../core/credential.ts';
import { BINDINGS } from '../core/database.ts';
import { formatSecret } from '../core/operator.ts';
import { parseId } from '../core/request.ts';
import { parseInstant } from '../core/time.ts';
import type { ShownDemo } from './build.ts';
import { prepareDemo, serveConsole } from './demo.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** The slot for this run's operator key. The others are free for permanent keys in `.dev.vars`. */
const SLOT = 'OPERATOR_KEY_4';
/** The addresses that only this machine can reach, and those that stand for all addresses of this machine. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const ALL_ADDRESSES = ['0.0.0.0', '::'];

const { port, ip, databases, persist, aheadMs } = settings();
const host = ALL_ADDRESSES.includes(ip) ? 'localhost' : ip;
const origin = `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
const isShared = !LOOPBACK.includes(ip);
// wrangler would say so, too, but only after the other server has answered the demo's requests.
if (await isTaken()) end(`Port ${port} is in use. Choose another: npm run dev -- --port NUMBER`, 1);

// Loaded after the checks, because loading takes seconds, and errors should appear immediately.
const { readConfiguration } = await import('./configuration.ts');
const { default: build, AHEAD_VARIABLE, DEMO_VARIABLE, demoFileIn } = await import('./build.ts');
const env = {
  ...process.env,
  // Keeps wrangler quiet and offline. A .env file would pass these variables to the Worker as well.
  ...{ CLOUDFLARE_CF_FETCH_ENABLED: 'false', WRANGLER_HIDE_BANNER: 'true' },
  // wrangler's explorer needs no key, so anyone who can reach it can read and change the databases.
  ...(isShared && { X_LOCAL_EXPLORER: 'false' }),
};
const shell = process.platform === 'win32';
const { bindings, config } = configured();
const where = [...config, ...(persist === undefined ? [] : ['--persist-to', persist])];
console.log('Starting the service and its demo …');
for (const binding of bindings) migrate(binding);

const operatorKey = newOperatorKey();
/** The page with the demo business must not be in the deployed folder. */
const folder = `dist/dev-${port}`;
const server = spawn(
  'wrangler',
  [
    ...['dev', ...(aheadMs === 0 ? [] : ['src/rehearsal.ts', '--define', `AHEAD_MS:${aheadMs}`])],
    ...['--ip', ip, '--port', `${port}`, '--assets', folder, ...where],
    ...['--var', `${SLOT}:${formatSecret('full', sha256Hex(operatorKey))}`],
  ],
  {
    stdio: ['inherit', 'pipe', 'inherit'],
    env: { ...env, [DEMO_VARIABLE]: folder, [AHEAD_VARIABLE]: `${aheadMs}` },
    shell,
  },
);
// What it prints during the start, such as a line for each of the demo's requests, is shown only if the start fails.
let held: string | null = '';
server.stdout.on('data', (text) => {
  if (held === null) process.stdout.write(text);
  else held += text;
});
server.on('close', (code) => {
  process.stdout.write(held ?? '');
  process.exit(code ?? 0);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => server.kill(signal));
// A signal to npm ends npm and its shell but does not reach this process, so this checks for a new parent process.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && server.kill(), 500).unref();

const service = serviceAt(origin, operatorKey);
// Polls with a preflight, which needs no database.
while ((await service.send('OPTIONS /health').catch(() => null)) === null) await wait(100);
const demo = await preparedDemo().catch(({ message }: Error) => message);
await wait(300); // wrangler logs the demo's requests with a delay
if (typeof demo === 'string') {
  process.stdout.write(held ?? '');
  process.stderr.write(`\nThe demo was not prepared: ${demo}\n`);
}
held = null;
console.log(introduction());

/** Creates what is missing of the demo, and shows it on the page at /. */
async function preparedDemo() {
  const demo = await prepareDemo(service, new Date(Date.now() + aheadMs));
  const link = await serveConsole(service);
  const { charts, refusing } = demo;
  const shown = { id: charts.id, token: charts.token, refusing, console: isShared ? '/owner' : link };
  writeFileSync(demoFileIn(folder), JSON.stringify(shown satisfies ShownDemo));
  await build(folder, aheadMs);
  return { ...demo, link };
}

function introduction(): string {
  const keys = [`export API=${origin}/api/v1`, `export OPERATOR_KEY=${operatorKey}`];
  const paste = 'To use the API, paste these lines into another terminal:';
  if (typeof demo === 'string') return `\nReady: ${origin}, without the demo. ${paste}\n\n${keys.join('\n')}\n`;
  const { charts, shop, api_key, link } = demo;
  return `
Ready: ${origin} shows a chart and all operations.

This link opens the console as the owner of eight demo businesses. It works on this machine, as often as you like:

${link}

Elsewhere, sign in at ${origin}/owner with the API_KEY below. ${paste}

${keys[0]}
export API_KEY=${api_key}
export BUSINESS=${charts.id} TOKEN=${charts.token}
export SHOP=${shop.id} SHOP_TOKEN=${shop.token}
${keys[1]}

and then, for example:

curl $API/business/usage/$BUSINESS -H "Authorization: Bearer $TOKEN"
curl $API/business/$SHOP/access -H "Authorization: Bearer $API_KEY" --json '{"sites":["https://shop.example"]}'
`;
}

async function isTaken(): Promise<boolean> {
  const socket = connect({ host, port });
  const connected = once(socket, 'connect', { signal: AbortSignal.timeout(1000) });
  return connected
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

function migrate(binding: string): void {
  const args = ['d1', 'migrations', 'apply', binding, '--local', ...where];
  const { status, stdout, stderr, error } = spawnSync('wrangler', args, { encoding: 'utf8', env, shell });
  if (status !== 0)
    end(`${error ? `${error.message}\n` : stdout + stderr}The migrations of ${binding} were not applied.`, 1);
}

/**
 * Returns the bindings to migrate. If wrangler.toml lacks some, writes a configuration with all of them next to it, so that relative paths and
 * the default folder for local data do not change.
 */
function configured(): { bindings: string[]; config: string[] } {
  const { file, databases: present } = readConfiguration();
  const bindings = present.map(({ binding }) => binding);
  const added = BINDINGS.slice(0, databases).filter((binding) => !bindings.includes(binding));
  if (added.length === 0) return { bindings, config: [] };
  const blocks = added.map(
    (binding) => `
[[d1_databases]]
binding = "${binding}"
database_name = "${present[0]?.name}-${binding.slice('DB_'.length)}"
migrations_dir = "migrations"
`,
  );
  const name = `wrangler.dev-${databases}.toml`;
  writeFileSync(
    resolve(ROOT, name),
    `# Generated by npm run dev from wrangler.toml.\n${readFileSync(file, 'utf8')}${blocks.join('')}`,
  );
  return { bindings: [...bindings, ...added], config: ['--config', name] };
}

/** Parses the options. If one is invalid, prints an error to stderr and exits with status 2. */
function settings() {
  const options = {
    port: { type: 'string', default: '8787' },
    ip: { type: 'string', default: 'localhost' },
    databases: { type: 'string', default: '1' },
    'persist-to': { type: 'string' },
    now: { type: 'string' },
  } as const;
  try {
    const { values } = parseArgs({ options });
    return {
      port: numberIn('--port', values.port, 65_535, 8788),
      ip: values.ip,
      databases: numberIn('--databases', values.databases, BINDINGS.length, 3),
      persist: values['persist-to'],
      aheadMs: values.now === undefined ? 0 : instantIn('--now', values.now) - Date.now(),
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

function instantIn(option: string, text: string): number {
  const instant = parseInstant(text);
  if (instant !== null) return instant;
  throw new Error(`${option} must be a time, such as 2026-11-30T23:55:00Z`);
}

function end(line: string, code: number): never {
  process.stderr.write(`${line}\n`);
  process.exit(code);
}
