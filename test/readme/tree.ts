// What README.md says of the project itself: its scripts, files, database and the operator's commands.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { type Check, unless } from './check.ts';
import { codesIn, tableOf } from './document.ts';

const admin = (...args: string[]) =>
  spawnSync('npm', ['run', '-s', 'admin', '--', ...args], { encoding: 'utf8', timeout: 20_000 });

/** npm run admin, on the database in the folder `state`. */
export const adminOn =
  (state: string) =>
  (...args: string[]) =>
    admin(...args, '--persist-to', state);
export type Admin = ReturnType<typeof adminOn>;

/** A command without the examples of its values. */
const formOf = (command = '') => command.replace(/(--[\w-]+) ("[^"]*"|[^\s\]]+)/g, '$1');

/** `output` is what the service printed, its log among it. */
export function checkTree(markdown: string, check: Check, output: string) {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const named = [...markdown.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name = '']) => name);
  for (const name of new Set(['test', ...named])) {
    check(`tree: npm run ${name}`, unless(name in scripts, 'package.json has no such script'));
  }
  for (const path of tableOf(markdown, 'what', 'where').flatMap(([, cell = '']) => codesIn(cell))) {
    check(`tree: ${path}`, unless(existsSync(path), 'there is no such file'));
  }
  const [, database] = /d1 create ([\w-]+)/.exec(markdown) ?? [];
  const config = readFileSync('wrangler.toml', 'utf8');
  check(`tree: the database ${database}`, unless(config.includes(`"${database}"`), 'wrangler.toml names another'));

  for (const [name = '', value = ''] of tableOf(markdown, 'limit').filter(([, value = '']) =>
    value.includes('seconds'),
  )) {
    const [limit, period] = value.match(/\d+/g) ?? [];
    check(
      `tree: ${name}: ${value}`,
      unless(config.includes(`limit = ${limit}, period = ${period} `), 'wrangler.toml has another figure'),
    );
  }

  const logged = new Set([...output.matchAll(/^ {2}(\w+): /gm)].map(([, field = '']) => field)).add('error');
  const fields = tableOf(markdown, 'field', 'is').map(([cell = '']) => codesIn(cell)[0] ?? '');
  check(`log: ${fields.join(' ')}`, unless(fields.toSorted().join() === [...logged].toSorted().join(), [...logged]));

  const known = [...admin('--help').stdout.matchAll(/^ {2}(\S.*)$/gm)].map(([, command]) => formOf(command));
  const printed = tableOf(markdown, 'command', 'does').map(([cell = '']) => formOf(codesIn(cell)[0]));
  for (const command of new Set([...known, ...printed])) {
    const lacking = known.includes(command) ? 'README.md does not have it' : 'npm run admin -- --help does not have it';
    check(`admin: ${command}`, unless(known.includes(command) && printed.includes(command), lacking));
  }
  const { status, stderr } = admin('no', 'command');
  check('admin: a wrong call → exit code 2', unless(status === 2, `${status} ${stderr}`));
}
