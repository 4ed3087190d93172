// Runs the examples as a reader would: in one shell, one after the other, so that what one sets the next can use.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Example } from './document.ts';
import { spawnGroup } from './service.ts';

/** What a command printed; `status` and `headers` of the last answer of curl, if it was called. */
export type Outcome = { output: string; errors: string; status: number | null; headers: Headers };

const noCurl = spawnSync('curl', ['--version']).error !== undefined;
const CURL = noCurl ? `node ${JSON.stringify(join(import.meta.dirname, 'curl.ts'))}` : 'command curl';

/** `exports` are the lines that a reader pastes first; `state` is the folder of the service's database. */
export function startSession(examples: Example[], exports: string[], directory: string, state: string) {
  const file = (index: number, name: string) => join(directory, `${index}.${name}`);
  const script = [
    ...exports,
    `curl() { ${CURL} -sS --max-time 20 -D "$HEAD" "$@"; }`,
    `npm() { command npm "$@" --persist-to ${JSON.stringify(state)}; }`,
    ...examples.map(
      ({ command }, i) => `HEAD=${file(i, 'head')}\n{ ${command}\n} >${file(i, 'out')} 2>${file(i, 'err')}`,
    ),
  ];
  const path = join(directory, 'session.sh');
  writeFileSync(path, `${script.join('\n')}\n`);
  const bash = spawnGroup('bash', [path]);
  async function outcomes(): Promise<Outcome[]> {
    await bash.exited;
    const read = (index: number, name: string) =>
      existsSync(file(index, name)) ? readFileSync(file(index, name), 'utf8') : '';
    return examples.map((_, i) => ({ output: read(i, 'out'), errors: read(i, 'err'), ...lastAnswer(read(i, 'head')) }));
  }
  return { outcomes, stop: bash.stop };
}

function lastAnswer(dumped: string) {
  const head =
    dumped
      .trim()
      .split(/\r?\n\r?\n/)
      .at(-1) ?? '';
  const [first = '', ...lines] = head.split(/\r?\n/);
  const status = /^HTTP\/\S+ (\d{3})/.exec(first)?.[1];
  const headers = new Headers(
    lines.map(
      (line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as [string, string],
    ),
  );
  return { status: status === undefined ? null : Number(status), headers };
}
