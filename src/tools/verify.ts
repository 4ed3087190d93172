// npm run verify -- URL: checks a deployed service with an operator key (verification.ts). Exits with 1 for anything that differs, and
// with 2 if the command line or the environment is wrong.
import { parseArgs } from 'node:util';
import { reasonOf } from '../cli/errors.ts';
import { credentialOf } from '../core/credential.ts';
import { lineOf } from './deployed-service.ts';
import { verify } from './verification.ts';

/** A run takes little more than a minute. One that takes longer than this is stopped, and what it made is deleted. */
const MAX_MINUTES = 5;
const HELP = `npm run verify -- URL

Checks a deployed service, such as https://usage.example.com, with an operator key of the role full in the environment variable
OPERATOR_KEY. It makes businesses of the users 9000000000 to 9000000009, which are for this alone, and deletes them at the end. It
prints a line for each promise, takes little more than a minute, and exits with 1 if anything differs. Run one at a time.
`;

const { origin, operatorKey } = settings();
const interrupted = new AbortController();
// A second signal ends the process at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    process.stdout.write('Stopping: what was made is being deleted.\n');
    interrupted.abort();
  });
const stopped = AbortSignal.any([interrupted.signal, AbortSignal.timeout(MAX_MINUTES * 60_000)]);

try {
  const { kept, differing, unseen } = await verify({ origin, operatorKey, stopped }, (line) =>
    process.stdout.write(`${line}\n`),
  );
  const isKept = differing + unseen === 0 && !stopped.aborted;
  process.stdout.write(`\n${isKept ? `${origin} keeps all ${kept} promises.` : problemOf(kept, differing, unseen)}\n`);
  process.exitCode = isKept ? 0 : 1;
} catch (error) {
  end(lineOf(reasonOf(error)), 1);
}

function problemOf(kept: number, differing: number, unseen: number): string {
  const counts = `${kept} kept, ${differing} differ, ${unseen} not looked at`;
  if (!stopped.aborted) return `${origin}: ${counts}.`;
  return `${origin}: ${counts}; stopped ${interrupted.signal.aborted ? 'by a signal' : `after ${MAX_MINUTES} minutes`}.`;
}

/** What is wrong prints one line on stderr and exits with 2. */
function settings(): { origin: string; operatorKey: string } {
  const usage = 'Usage: OPERATOR_KEY=… npm run verify -- URL';
  try {
    const options = { help: { type: 'boolean', short: 'h' } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const [given, ...others] = positionals;
    if (given === undefined || others.length > 0) return end(`${usage}, such as https://usage.example.com`, 2);
    const { OPERATOR_KEY: operatorKey = '' } = process.env;
    if (operatorKey === '') return end(`${usage}: OPERATOR_KEY must be an operator key of the role full`, 2);
    if (credentialOf(`Bearer ${operatorKey}`)?.kind !== 'operator')
      return end('OPERATOR_KEY must be an operator key: bua_op_ and 43 letters and digits', 2);
    const origin = originIn(given);
    if (origin === null)
      return end(
        'URL must be the origin of a service, such as https://usage.example.com; http only for this machine',
        2,
      );
    return { origin, operatorKey };
  } catch (error) {
    return end(reasonOf(error), 2);
  }
}

/** The origin that a URL consists of, or null: over http, the key would be sent to other machines unencrypted. */
function originIn(given: string): string | null {
  const url = URL.parse(given);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  return url !== null && isSafe && url.href === `${url.origin}/` ? url.origin : null;
}

function end(line: string, code: number): never {
  process.stderr.write(`${line}\n`);
  process.exit(code);
}
