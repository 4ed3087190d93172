// npm run verify -- URL: checks the promises (promises.ts) on a deployed service with an operator key, prints a line for each, and deletes
// what it created. With --figures, it also measures the service (figures.ts). Exits with status 1 unless all pass, and with status 2 if the
// command line or the environment is invalid.
import { parseArgs } from 'node:util';
import { operatorKeyIn, serviceAt } from '../cli/client.ts';
import { isSafeAddress } from '../core/address.ts';
import { bindingOf } from '../core/database.ts';
import { measured } from './figures.ts';
import { type Business, create, NAME, NotVerified, OF_DATABASE, OF_SERVICE, type Target } from './promises.ts';

/** The time limit for a run. */
const MAX_MINUTES = 5;
const MAX_SKEW_MS = 5000;
const MAX_DATABASES = 10;
/** The user of DB. The next ids are those of DB_1 and so on. */
const FIRST_USER = 9_000_000_000;
const HELP = `npm run verify -- URL checks a deployed service with a full operator key in the environment variable OPERATOR_KEY. It
prints a line for each promise, and exits with 1 unless all pass (docs/operating.md, "Checking a deployment").
--figures also measures the first database with 100,000 ids, and names what differs from docs/performance.md.
`;

const { origin, operatorKey, withFigures } = settings();
const service = serviceAt(origin, operatorKey);
const interrupted = new AbortController();
const stopped = AbortSignal.any([interrupted.signal, AbortSignal.timeout(MAX_MINUTES * 60_000)]);
const targets = Array.from({ length: MAX_DATABASES }, (_, database): Target => {
  return { service, database, user_id: FIRST_USER + database, stopped };
});
let bound: Target[] = [];
const counts = { ok: 0, FAILED: 0, SKIPPED: 0 };

// A second signal ends the process immediately.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    console.log('Stopping: deleting what was created.');
    interrupted.abort();
  });
await begin().catch(({ message }) => end(message, 1));
await checkPromise('every database up to DB_9 creates a business, and the clock is right', makeFirst);
for (const [name, check] of Object.entries(OF_DATABASE)) await checkPromise(name, () => inEach(bound, check));
for (const [name, check] of Object.entries(OF_SERVICE)) await checkPromise(name, () => check(service, stopped));
let figures: string[] = [];
if (withFigures)
  await checkPromise('the first database can be measured', () =>
    inEach(bound.slice(0, 1), async (target) => {
      figures = await measured(target);
    }),
  );
await checkPromise('everything created was deleted', () => inEach(targets, deleteAll), new AbortController().signal);

if (figures.length > 0) console.log(['', ...figures].join('\n'));
const reason = interrupted.signal.aborted ? 'by a signal' : `after ${MAX_MINUTES} minutes`;
const summary = `${counts.ok} passed, ${counts.FAILED} failed, ${counts.SKIPPED} skipped`;
console.log(`\n${origin}: ${summary}${stopped.aborted ? `; stopped ${reason}` : ''}.`);
process.exitCode = counts.FAILED + counts.SKIPPED === 0 && !stopped.aborted ? 0 : 1;

/** Checks one promise and prints the result. Ignores failures after a stop, because the stop may have caused them. */
async function checkPromise(name: string, check: () => Promise<void>, signal = stopped): Promise<void> {
  if (signal.aborted) return;
  const error = (await check().catch((error: Error) => error)) ?? null;
  if (error !== null && signal.aborted) return;
  const mark = error === null ? 'ok' : error instanceof NotVerified ? 'SKIPPED' : 'FAILED';
  counts[mark]++;
  console.log(`${mark.padEnd(8)} ${name}${error === null ? '' : `: ${oneLine(error.message)}`}`);
}

/** Checks all databases concurrently. The error names the databases that failed. */
async function inEach(targets: Target[], check: (target: Target) => Promise<void>): Promise<void> {
  if (targets.length === 0) throw new NotVerified('no database can create a business');
  const failed: [Target, Error][] = [];
  await Promise.all(targets.map((target) => check(target).catch((error) => failed.push([target, error]))));
  if (failed.length === 0) return;
  const text = failed.map(([{ database }, { message }]) => `${bindingOf(database)}: ${message}`).join('; ');
  throw failed.every(([, error]) => error instanceof NotVerified) ? new NotVerified(text) : new Error(text);
}

/** Throws unless the origin is this service and accepts the key. Then deletes what a killed run has left. */
async function begin(): Promise<void> {
  const { outcome, data } = await service.send<{ businesses?: [] } | undefined>('GET /business?limit=1');
  if (outcome === '401 unauthenticated') throw new Error(`${origin} rejected the key in OPERATOR_KEY.`);
  // Every error response from this service includes an Error-Code header.
  if (outcome === '200' ? data?.businesses === undefined : !outcome.includes(' '))
    throw new Error(`${origin} is not this service: it responded to GET /api/v1/business with ${outcome}.`);
  if (outcome !== '200') throw new Error(`GET /business returned ${outcome}, so the key cannot be used.`);
  await inEach(targets, deleteAll);
}

async function makeFirst(): Promise<void> {
  const { databases } = await service.ok<{ databases: { number: number }[] }>('GET /database');
  bound = targets.filter(({ database }) => databases.some(({ number }) => number === database));
  await inEach(bound, async (target) => {
    const { headers, data } = await create(target);
    const skew = Date.parse(data.created_at) - Date.parse(headers.date ?? new Date().toISOString());
    if (Math.abs(skew) > MAX_SKEW_MS) throw new Error(`created_at is ${skew} ms from the Date of the response`);
  });
}

/** Lists the businesses that runs created for a user. */
async function ownedBy({ user_id }: Target): Promise<Business[]> {
  const { businesses } = await service.ok<{ businesses: Business[] }>(`GET /business?user_id=${user_id}&limit=50`);
  return businesses.filter(({ name }) => name === NAME);
}

async function deleteAll(target: Target): Promise<void> {
  for (const { id } of await ownedBy(target))
    await service.send(`DELETE /business/${id}?name=${encodeURIComponent(NAME)}`);
  const [still] = await ownedBy(target);
  if (still !== undefined) throw new Error(`business ${still.id} is still listed after its deletion`);
}

/** Reads the command line and the environment. Prints an error and exits with status 2 if either is invalid. */
function settings(): { origin: string; operatorKey: string; withFigures: boolean } {
  try {
    const options = { help: { type: 'boolean', short: 'h' }, figures: { type: 'boolean', default: false } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    if (positionals.length !== 1) throw new Error('Usage: OPERATOR_KEY=… npm run verify -- https://usage.example.com');
    const operatorKey = operatorKeyIn(process.env);
    const url = URL.parse(`${positionals[0]}`);
    // Plain http would send the key to other machines unencrypted.
    if (isSafeAddress(`${positionals[0]}`) && url?.href === `${url?.origin}/`)
      return { origin: url.origin, operatorKey, withFigures: values.figures };
    throw new Error('URL must be an origin, such as https://usage.example.com. http is allowed only for this machine.');
  } catch (error) {
    return end((error as Error).message, 2);
  }
}

/** Joins the text into one line and removes secrets. */
function oneLine(text: string): string {
  return text.replace(/\b(bua_[a-z]{2}_)\w+/g, '$1…').replace(/\s+/g, ' ');
}

function end(text: string, code: number): never {
  process.stderr.write(`${oneLine(text)}\n`);
  process.exit(code);
}
