// npm run deploy, with a stand-in for wrangler that notes how it is called and plays what the test says.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deploy as deployProject, type Run } from '../../src/tools/deployment.ts';
import { PLACES, placesIn } from '../../src/tools/places.ts';
import { ROOT } from '../cli/support.ts';
import { newFolder } from '../node/state.ts';

/** What wrangler does when called with words that start so; where nothing is said, it succeeds in silence. */
type Plays = Record<string, { code?: number; stdout?: string; stderr?: string }>;

/** The deployment of `project`: how it ends, what is printed, and what wrangler was called with; where it may ask, it reads `yes`. */
function deployIn(project: string, plays: Plays, ...args: string[]) {
  const ended = { code: 0, stdout: '', stderr: '', calls: [] as string[] };
  const wrangler: Run = (words, mode) => {
    const line = words.join(' ');
    ended.calls.push(mode === 'ask' ? `${line} < yes` : line);
    const [, play = {}] = Object.entries(withHomes(plays)).find(([start]) => line.startsWith(start)) ?? [];
    const { code = 0, stdout = '', stderr = '' } = play;
    if (mode === 'read') return { done: code === 0, stdout, output: stdout + stderr };
    ended.stdout += stdout;
    ended.stderr += stderr;
    return { done: code === 0, stdout: '', output: '' };
  };
  const print = {
    log: (line: string) => (ended.stdout += `${line}\n`),
    warn: (line: string) => (ended.stderr += `${line}\n`),
  };
  try {
    deployProject(project, args, wrangler, print);
  } catch (error) {
    ended.code = 1;
    ended.stderr += `${(error as Error).message.trim()}\n`;
  }
  return ended;
}
const deploy = (plays: Plays, ...args: string[]) => deployIn(ROOT, plays, ...args);

/** What wrangler says of the databases in which owners are. */
const homesIn = (...databases: number[]) => ({
  stdout: JSON.stringify([{ results: databases.map((database) => ({ database })), success: true, meta: {} }]),
});

/** In the deployments of this file owners are in no database, unless the test says so. */
const withHomes = (plays: Plays): Plays => ({ ...plays, 'd1 execute': plays['d1 execute'] ?? homesIn() });

const NAME = 'business-usage-access';
const INFO = `d1 info ${NAME} --json`;
const CREATE = `d1 create ${NAME}`;
const MIGRATE = 'd1 migrations apply DB --remote';
const HOMES = 'd1 execute DB --remote --json --command select distinct database from homes order by database';
const WHOAMI = 'whoami --json';
const MISSING = "Couldn't find a D1 DB named";
const UNKNOWN = { code: 1, stderr: `${MISSING} '${NAME}' (bound as 'DB') in the API.\n` };
const LOGIN =
  'Not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.\n';

describe('npm run deploy', () => {
  test('applies the migrations to the database that it finds, then uploads; only the upload may ask', () => {
    const plays = {
      'd1 info': { stdout: '{}' },
      'd1 migrations': { stdout: 'applied\n' },
      deploy: { stdout: 'live\n' },
    };
    expect(deploy(plays, '--domain', 'usage.example.com')).toEqual({
      code: 0,
      stdout: 'applied\nlive\n',
      stderr: '',
      calls: [INFO, MIGRATE, HOMES, 'deploy --domain usage.example.com < yes'],
    });
  });

  test('makes the database where there is none, and says so', () => {
    expect(deploy({ 'd1 info': UNKNOWN })).toEqual({
      code: 0,
      stdout: `Created the database ${NAME} (DB).\n`,
      stderr: '',
      calls: [INFO, CREATE, MIGRATE, HOMES, 'deploy < yes'],
    });
  });

  test.each<[string, Plays, string, string[]]>([
    [
      'the database cannot be looked up',
      { 'd1 info': { code: 1, stderr: 'fetch failed\n\n' } },
      `${NAME} (DB): fetch failed`,
      [INFO],
    ],
    [
      'the database cannot be made',
      { 'd1 info': UNKNOWN, 'd1 create': { code: 1, stderr: 'the limit of databases is reached\n' } },
      `${NAME} (DB): the limit of databases is reached`,
      [INFO, CREATE],
    ],
    [
      'a migration fails',
      { 'd1 migrations': { code: 1 } },
      `The migrations of ${NAME} (DB) were not applied: nothing was uploaded.`,
      [INFO, MIGRATE],
    ],
    [
      'the homes cannot be read',
      { 'd1 execute': { code: 1, stderr: 'fetch failed\n' } },
      `${NAME} (DB): fetch failed`,
      [INFO, MIGRATE, HOMES],
    ],
    ['the upload fails', { deploy: { code: 1 } }, 'wrangler deploy failed.', [INFO, MIGRATE, HOMES, 'deploy < yes']],
  ])('ends with one line and 1 where %s, and goes no further', (_, plays, line, calls) => {
    const whoami = { whoami: { stdout: '{ "loggedIn": true }' } };
    const ended = { code: 1, stdout: '', stderr: `${line}\n`, calls: [...calls, WHOAMI] };
    expect(deploy({ ...whoami, ...plays })).toEqual(ended);
  });

  test('tells those who are not logged in how to log in, and goes no further', () => {
    const plays = {
      whoami: { code: 1, stdout: '{ "loggedIn": false }' },
      'd1 info': { code: 1, stderr: 'In a non-interactive environment, …\n' },
    };
    expect(deploy(plays)).toEqual({ code: 1, stdout: '', stderr: LOGIN, calls: [INFO, WHOAMI] });
  });
});

const block = (binding: string, name = `usage-${binding}`, more = 'migrations_dir = "migrations"') =>
  `[[d1_databases]]\nbinding = "${binding}"\n${name && `database_name = "${name}"\n`}${more}\n`;
const limit = (name: string) =>
  `[[ratelimits]]\nname = "${name}"\nnamespace_id = "1"\nsimple = { limit = 1, period = 60 }\n`;
const BARE = 'name = "usage"\ncompatibility_date = "2026-10-01"\n';
const TOML = BARE + limit('REFUSED_ORIGIN_LIMIT') + limit('REFUSED_BUSINESS_LIMIT');
/** In no order, and with one that is not of the service. */
const THREE = TOML + ['DB_2', 'CACHE', 'DB', 'DB_1'].map((binding) => block(binding)).join('');

/** A project with this configuration, in which databases have these places. */
function projectWith(toml: string, places?: object): string {
  const project = newFolder();
  writeFileSync(join(project, 'package.json'), JSON.stringify({ config: { databases: places } }));
  writeFileSync(join(project, 'wrangler.toml'), toml);
  return project;
}

/** What wrangler is called with for a database that is there. */
const found = (binding: string, ...more: string[]) => [
  ['d1 info', `usage-${binding}`, '--json', ...more].join(' '),
  ['d1 migrations apply', binding, '--remote', ...more].join(' '),
];
const missing = (binding: string) => ({ code: 1, stderr: `${MISSING} 'usage-${binding}' in the API.\n` });

describe('npm run deploy with several databases', () => {
  test('finds or makes each, in its place, and migrates each, then uploads', () => {
    const places = { DB_1: { jurisdiction: 'eu' }, DB_2: { location: 'apac' } };
    const plays = { 'd1 info usage-DB_1': missing('DB_1'), 'd1 info usage-DB_2': missing('DB_2') };
    const created = { DB_1: 'd1 create usage-DB_1 --jurisdiction eu', DB_2: 'd1 create usage-DB_2 --location apac' };
    const [info1, migrate1] = found('DB_1');
    const [info2, migrate2] = found('DB_2');
    expect(deployIn(projectWith(THREE, places), { ...plays, 'd1 execute': homesIn(0, 2) })).toEqual({
      code: 0,
      stdout:
        'Created the database usage-DB_1 (DB_1) with jurisdiction eu.\nCreated the database usage-DB_2 (DB_2) with location apac.\n',
      stderr: '',
      calls: [
        ...[...found('DB'), HOMES],
        ...[info1, created.DB_1, migrate1],
        ...[info2, created.DB_2, migrate2],
        'deploy < yes',
      ],
    });
  });

  test.each([['--config'], ['-c'], ['--config=']])('takes the configuration of %s for every step', (option) => {
    const project = projectWith(TOML + block('DB'), { DB: { location: 'weur' } });
    const file = join(project, 'other.toml');
    writeFileSync(file, THREE);
    const given = option.endsWith('=') ? [option + file] : [option, 'other.toml'];
    const { code, calls } = deployIn(project, {}, '--domain', 'usage.example.com', ...given);
    const use = ['--config', file];
    const steps = [
      ...found('DB', ...use),
      [HOMES, ...use].join(' '),
      ...found('DB_1', ...use),
      ...found('DB_2', ...use),
    ];
    const upload = `deploy --domain usage.example.com ${given.join(' ')} < yes`;
    expect({ code, calls }).toEqual({ code: 0, calls: [...steps, upload] });
  });

  test('says that the place of a database that exists does not change', () => {
    const project = projectWith(THREE, { DB_1: { jurisdiction: 'eu' } });
    const { code, stdout, stderr } = deployIn(project, {});
    const line = 'usage-DB_1 (DB_1) exists already, so its jurisdiction does not change.\n';
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: line, stderr: '' });
  });

  test('stops at the first whose migrations fail, and names it', () => {
    const plays = { 'd1 migrations apply DB_1': { code: 1 }, whoami: { stdout: '{ "loggedIn": true }' } };
    expect(deployIn(projectWith(THREE), plays)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The migrations of usage-DB_1 (DB_1) were not applied: nothing was uploaded.\n',
      calls: [...found('DB'), HOMES, ...found('DB_1'), WHOAMI],
    });
  });

  test('stops after DB where an owner is in a database that is not bound', () => {
    expect(deployIn(projectWith(THREE), { 'd1 execute': homesIn(0, 1, 3, 61) })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Owners have their data in DB_3, DB_61, which the configuration does not bind: nothing was uploaded.\n',
      calls: [...found('DB'), HOMES],
    });
  });

  const right = (project: string) => join(project, 'migrations');
  test.each<[string, string, object | undefined, string | ((project: string) => string)]>([
    ['DB is not bound', TOML + block('DB_1'), undefined, 'The configuration binds no database DB.'],
    ['a name is missing', TOML + block('DB') + block('DB_1', ''), undefined, 'The database DB_1 has no database_name.'],
    [
      'two have one name',
      TOML + block('DB', 'a') + block('DB_4', 'b') + block('DB_3', 'b'),
      undefined,
      'DB_3 and DB_4 have the same database_name, b.',
    ],
    [
      'the migrations of one are elsewhere',
      TOML + block('DB', 'a', '') + block('DB_1', 'b', 'migrations_dir = "../other"'),
      undefined,
      (project) => `The migrations_dir of DB_1 is ${join(project, '../other')}. It must be ${right(project)}.`,
    ],
    [
      'a place is for no database',
      THREE,
      { DB_3: { location: 'weur' } },
      'package.json: config.databases.DB_3 is for a database that the configuration does not bind.',
    ],
  ])('does nothing where %s, and says so in one line', (_, toml, places, line) => {
    const project = projectWith(toml, places);
    const stderr = `${typeof line === 'string' ? line : line(project)}\n`;
    expect(deployIn(project, {})).toEqual({ code: 1, stdout: '', stderr, calls: [] });
  });

  test.each(['DB_62', 'DB_01', 'DB1', 'DB_0', 'db_1', 'DB-1'])(
    'does nothing where a database is bound as %s',
    (name) => {
      const project = projectWith(TOML + block('DB') + block(name));
      const stderr = `${join(project, 'wrangler.toml')} binds a database as ${name}. The names are DB, DB_1, DB_2, and so on up to DB_61.\n`;
      expect(deployIn(project, {})).toEqual({ code: 1, stdout: '', stderr, calls: [] });
    },
  );

  test.each([
    ['--dry-run', 'npm run build'],
    ['--dry-run=true', 'npm run build'],
    ['--help', 'npx wrangler deploy --help'],
    ['-h', 'npx wrangler deploy --help'],
    ['--env eu', '--config FILE'],
    ['--env=eu', '--config FILE'],
    ['-e eu', '--config FILE'],
  ])('does nothing with %s, and says what to use: %s', (option, instead) => {
    const { code, stdout, stderr, calls } = deploy({}, ...option.split(' '));
    expect({ code, stdout, calls }).toEqual({ code: 1, stdout: '', calls: [] });
    expect(stderr.trimEnd().endsWith(instead)).toBe(true);
  });

  test.each([
    ['has no file', ['--config'], '--config needs a file.\n'],
    ['names none', ['--config', 'none.toml'], `Could not read file: ${join(ROOT, 'none.toml')}\n`],
  ])('does nothing where --config %s', (_, args, stderr) => {
    expect(deploy({}, ...args)).toEqual({ code: 1, stdout: '', stderr, calls: [] });
  });
});

describe('npm run deploy without limits for refused origins', () => {
  test.each([
    ['REFUSED_ORIGIN_LIMIT', limit('REFUSED_BUSINESS_LIMIT')],
    ['REFUSED_BUSINESS_LIMIT', limit('REFUSED_ORIGIN_LIMIT')],
    ['REFUSED_ORIGIN_LIMIT and REFUSED_BUSINESS_LIMIT', limit('ADDRESS_LIMIT')],
  ])('warns in one line that %s is missing, and goes on', (missing, limits) => {
    expect(deployIn(projectWith(BARE + limits + block('DB')), {})).toEqual({
      code: 0,
      stdout: '',
      stderr: `Warning: without a [[ratelimits]] block ${missing}, each refused origin is written to the database.\n`,
      calls: [...found('DB'), HOMES, 'deploy < yes'],
    });
  });
});

/** Plays as the tests above do, in a process that notes what it reads from a terminal. */
const STAND_IN = `#!/usr/bin/env node
const { appendFileSync, readFileSync } = require('node:fs');
const words = process.argv.slice(2).join(' ');
const stdin = readFileSync(0, 'utf8');
appendFileSync(__dirname + '/calls', words + (stdin && ' < ' + stdin) + '\\n');
const plays = Object.entries(JSON.parse(readFileSync(__dirname + '/plays', 'utf8')));
const [, { code = 0, stdout = '', stderr = '' }] = plays.find(([start]) => words.startsWith(start)) ?? [, {}];
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = code;
`;

describe('the process of npm run deploy', { tags: 'slow' }, () => {
  /** By somebody who types `yes`, in a folder that is not the project's. */
  function run(plays: Plays, ...args: string[]) {
    const folder = newFolder();
    writeFileSync(join(folder, 'wrangler'), STAND_IN, { mode: 0o755 });
    writeFileSync(join(folder, 'wrangler.cmd'), '@node "%~dp0wrangler" %*\r\n');
    writeFileSync(join(folder, 'plays'), JSON.stringify(withHomes(plays)));
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
    const script = join(ROOT, 'src/tools/deploy.ts');
    const ended = spawnSync(process.execPath, [script, ...args], { cwd: folder, env, input: 'yes', encoding: 'utf8' });
    const calls = readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n');
    return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr, calls };
  }

  test('shows what wrangler prints of the migrations and of the upload, which alone may ask, and ends with 0', () => {
    const plays = {
      'd1 info': { stdout: '{}', stderr: 'not shown\n' },
      'd1 migrations': { stdout: 'applied\n', stderr: 'with care\n' },
      deploy: { stdout: 'live\n', stderr: 'at last\n' },
    };
    expect(run(plays, '--domain', 'usage.example.com')).toEqual({
      code: 0,
      stdout: 'applied\nlive\n',
      stderr: 'with care\nat last\n',
      calls: [INFO, MIGRATE, HOMES, 'deploy --domain usage.example.com < yes'],
    });
  });

  test('says on stdout what it made, and on stderr what is wrong, and ends with 1', () => {
    const config = join(newFolder(), 'other.toml');
    const migrations = JSON.stringify(join(ROOT, 'migrations'));
    writeFileSync(
      config,
      BARE + limit('REFUSED_ORIGIN_LIMIT') + block('DB', 'usage-DB', `migrations_dir = ${migrations}`),
    );
    const plays = { 'd1 info': missing('DB'), 'd1 execute': homesIn(0, 1) };
    const [info, ...steps] = found('DB', '--config', config);
    expect(run(plays, '--config', config)).toEqual({
      code: 1,
      stdout: 'Created the database usage-DB (DB).\n',
      stderr: [
        'Warning: without a [[ratelimits]] block REFUSED_BUSINESS_LIMIT, each refused origin is written to the database.',
        'Owners have their data in DB_1, which the configuration does not bind: nothing was uploaded.',
        '',
      ].join('\n'),
      calls: [info, `d1 create usage-DB --config ${config}`, ...steps, `${HOMES} --config ${config}`],
    });
  });
});

const oneKey = ' must have one key, location or jurisdiction.';
test.each<[string, unknown, string]>([
  ['a text', 'eu', oneKey],
  ['nothing', null, oneKey],
  ['without a key', {}, oneKey],
  ['with another key', { region: 'eu' }, oneKey],
  ['with the name of a method', { toString: 'eu' }, oneKey],
  ['with both', { location: 'weur', jurisdiction: 'eu' }, oneKey],
  ['in an unknown location', { location: 'eu' }, '.location must be one of weur, eeur, apac, oc, wnam, enam.'],
  ['in an unknown jurisdiction', { jurisdiction: 'weur' }, '.jurisdiction must be one of eu, fedramp, us.'],
])('a place %s is refused in one line', (_, place, line) => {
  expect(() => placesIn({ DB_1: place }, ['DB', 'DB_1'])).toThrow(
    new Error(`package.json: config.databases.DB_1${line}`),
  );
});

test('the places are those of wrangler', { tags: 'slow' }, () => {
  const wrangler = join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
  const help = execFileSync(process.execPath, [wrangler, 'd1', 'create', '--help'], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const choices = [...help.matchAll(/\[choices: (.*)\]/g)].map(([, list]) => list?.replaceAll('"', ''));
  expect(choices).toEqual(Object.values(PLACES).map((values) => values.join(', ')));
});

test('wrangler says what its stand-in says of a database that is not there', () => {
  const wrangler = readFileSync(join(ROOT, 'node_modules/wrangler/wrangler-dist/cli.js'), 'utf8');
  expect(wrangler.includes(MISSING)).toBe(true);
});
