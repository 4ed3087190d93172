// npm run readme: starts the service, runs the commands of README.md in order, and holds each answer against the one printed
// below it; then its tables. Ends what it started, whatever happens, within its time.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../node/server.ts';
import { caller, DAY_MS, dayOf, differences, unless, type Variables } from './check.ts';
import { codesIn, examplesOf, tableOf } from './document.ts';
import { checkProducts } from './products.ts';
import { refusalsOf } from './refusals.ts';
import { spawnGroup, startService } from './service.ts';
import { startSession } from './session.ts';
import { checkTables } from './tables.ts';
import { adminOn, checkTree } from './tree.ts';

const TIME_MS = 120_000;
process.chdir(resolve(import.meta.dirname, '../..'));

let passed = 0;
let failed = 0;
function check(what: string, problems: string[]) {
  if (problems.length === 0) passed += 1;
  else failed += 1;
  console.log(
    [`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${what}`, ...problems.map((line) => `       ${line}`)].join('\n'),
  );
}

const directory = mkdtempSync(join(tmpdir(), 'readme-'));
const started: { what: string; stop: () => Promise<boolean> }[] = [];

async function work() {
  const markdown = readFileSync('README.md', 'utf8');
  const examples = examplesOf(markdown);
  const state = join(directory, 'state');
  const service = startService(await freePort(), state);
  started.push({ what: 'npm run dev', stop: service.stop });
  const exports = await service.ready();
  const variables = Object.fromEntries(
    [...exports.join(' ').matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  ) as Variables;
  const printed = tableOf(markdown, 'variable').flatMap(([cell = '']) => codesIn(cell).map((code) => code.slice(1)));
  check(`npm run dev exports ${printed.join(' ')}`, differences(printed, Object.keys(variables), 'exports'));

  const session = startSession(examples, exports, directory, state);
  started.push({ what: 'the shell of the examples', stop: session.stop });
  const outcomes = await session.outcomes();
  const refusals = refusalsOf(markdown);
  for (const [i, { line, command, answer }] of examples.entries()) {
    const { output, errors, status, headers } = outcomes[i] as (typeof outcomes)[number];
    const what = `README.md:${line} ${command.replace(/\s*\\?\n\s*/g, ' ')}`;
    try {
      const body = JSON.parse(output);
      const problems = differences(answer, body);
      if (status !== null) problems.push(...refusals.problemsOf({ status, body, headers }));
      if (body.data?.used) problems.push(...problemsOfDays(command, body.data.used));
      check(`${what} → ${status ?? 'done'}`, problems);
    } catch {
      check(what, [`no JSON: ${output.trim() || errors.trim() || 'nothing was printed'}`]);
    }
  }
  const ask = caller(variables.API);
  await refusals.provoke(check, ask, variables, adminOn(state));
  await checkProducts(markdown, check, ask, variables, (name, program, env) => {
    const file = join(directory, name);
    writeFileSync(file, program);
    const running = spawnGroup('node', [file], env);
    started.push({ what: `the example ${name}`, stop: running.stop });
    return running;
  });
  await checkTables(markdown, check, ask, variables);
  checkTree(markdown, check, service.output());
}

/** The days of a report: all that were asked for, each once, ascending, up to today where no end was named. */
function problemsOfDays(command: string, used: { date: string }[]): string[] {
  const last = /[?&]to=([\d-]+)/.exec(command)?.[1] ?? used.at(-1)?.date ?? '';
  const first = /[?&]from=([\d-]+)/.exec(command)?.[1] ?? dayOf(Date.parse(last) - 29 * DAY_MS);
  const length = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  const wanted = Array.from({ length }, (_, i) => dayOf(Date.parse(first) + i * DAY_MS));
  const today = [dayOf(Date.now()), dayOf(Date.now() - 60_000)]; // midnight may just have passed
  return [
    ...unless(used.map(({ date }) => date).join() === wanted.join(), `the days are not all from ${first} to ${last}`),
    ...unless(/[?&]to=/.test(command) || today.includes(last), `the last day is ${last}, not today`),
  ];
}

const interrupted = new Promise<never>((_, reject) => {
  setTimeout(() => reject(new Error(`this took more than ${TIME_MS / 1000} s`)), TIME_MS);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => reject(new Error(`ended by ${signal}`)));
  }
});

try {
  await Promise.race([work(), interrupted]);
} catch (error) {
  check('the check of README.md runs to its end', [(error as Error).message]);
}
for (const { what, stop } of started.reverse()) {
  check(`${what} ends with all of its processes`, (await stop()) ? [] : ['they had to be killed']);
}
rmSync(directory, { recursive: true, force: true });
console.log(`readme: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
