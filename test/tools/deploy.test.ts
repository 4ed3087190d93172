// npm run deploy against a fake Cloudflare account. All tests except the last one replace wrangler with an in-process fake.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { SERVICE_NAME_RULE } from '../../src/core/fields.ts';
import { ADDRESS_RULE } from '../../src/core/webhook.ts';
import { type Configuration, readConfiguration } from '../../src/tools/configuration.ts';
import { deploy, type Run } from '../../src/tools/deployment.ts';
import { ROOT } from '../cli/support.ts';
import { newFolder } from '../node/state.ts';
import { Account, MIGRATIONS } from './cloudflare.ts';

const LATER = '0999_later.sql';
const START = 'Account: Acme (0123456789abcdef0123456789abcdef). Worker: usage.\n';
const NEXT =
  'To check the deployment, with an operator key (npm run -s admin -- operator-key create): OPERATOR_KEY=… npm run -s verify -- URL\n';
const LOGIN =
  'Not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.\n';

/** Returns a configuration block. Omits lines with an empty value. */
function block(binding: string, lines: Record<string, string> = {}, table = 'd1_databases'): string {
  const all = { binding, database_name: `usage-${binding}`, migrations_dir: 'migrations', ...lines };
  const given = Object.entries(all).filter(([, value]) => value !== '');
  return `[[${table}]]\n${given.map(([key, value]) => `${key} = "${value}"\n`).join('')}`;
}
const limit = (name: string, table = 'ratelimits') =>
  `[[${table}]]\nname = "${name}"\nnamespace_id = "1"\nsimple = { limit = 1, period = 60 }\n`;
const BARE = 'name = "usage"\ncompatibility_date = "2026-10-01"\n';
const HEAD = BARE + limit('REFUSED_ORIGIN_LIMIT') + limit('REFUSED_BUSINESS_LIMIT');
const ONE = HEAD + block('DB');
/** Three databases that are not in order, and CACHE, which does not belong to the service. */
const THREE = HEAD + ['DB_2', 'CACHE', 'DB', 'DB_1'].map((binding) => block(binding)).join('');
const STAGING = ['REFUSED_ORIGIN_LIMIT', 'REFUSED_BUSINESS_LIMIT']
  .map((name) => limit(name, 'env.staging.ratelimits'))
  .join('');

/** A step that fails: the start of its command, and its output. */
type Fault = { at: string; says?: string };
type Options = { args?: string; fault?: Fault; variables?: Record<string, string>; whoami?: object };

/** Runs a wrangler command against an account and returns its output. */
function wranglerIn(account: Account, { name, databases }: Configuration, words: string[]): string {
  const idOf = (binding = '') => {
    const bound = databases.find((database) => database.binding === binding);
    return bound?.id ?? account.idOf(bound?.name ?? '') ?? '';
  };
  const [command, verb, third, fourth, , sql = ''] = words;
  if (command === 'deploy' && !words.includes('--dry-run'))
    account.workers.set(name ?? '', Object.fromEntries(databases.map(({ binding }) => [binding, idOf(binding)])));
  else if (command === 'deploy') return '';
  else if (verb === 'list') return JSON.stringify([...account.databases].map(([uuid, { name }]) => ({ name, uuid })));
  else if (verb === 'execute') return JSON.stringify(account.query(idOf(third), sql));
  else if (verb === 'migrations') account.migrate(idOf(fourth));
  else if (verb === 'create') {
    const id = account.create(third ?? '');
    if (id === null) throw new Error('A database with that name already exists [code: 7502]');
    return `Created your new D1 database.\n\n[[d1_databases]]\ndatabase_id = "${id}"\n`;
  }
  return '';
}

/** A checkout with a wrangler.toml, and the account that it is deployed to. */
class Project {
  readonly folder = newFolder();
  readonly file = join(this.folder, 'wrangler.toml');
  readonly account: Account;
  /** The configuration, environment and account passed to each step. */
  readonly chosen = new Set<string>();

  constructor(toml: string, account = new Account()) {
    this.account = account;
    symlinkSync(join(ROOT, 'migrations'), join(this.folder, 'migrations'), 'junction');
    this.toml = toml;
  }

  get toml(): string {
    return readFileSync(this.file, 'utf8');
  }
  set toml(text: string) {
    writeFileSync(this.file, text);
  }

  /** Returns the exit code, the output, and the steps that change something, including a step that failed. */
  deploy({ args = '', fault, variables = {}, whoami = this.loggedIn }: Options = {}) {
    const ended = { code: 0, stdout: '', stderr: '', steps: [] as string[] };
    const environment: Record<string, string> = { ...variables };
    const wrangler: Run = (given, mode) => {
      const words = given.filter((word) => word !== '--json');
      const [, config = '', env = ''] = words.splice(-3);
      this.chosen.add(`${config} ${env} ${words[0] === 'whoami' ? '' : environment.CLOUDFLARE_ACCOUNT_ID}`);
      const line = words.join(' ');
      const [, verb] = words;
      if (mode !== 'read' || verb === 'create') ended.steps.push(line);
      try {
        const isBuild = words.includes('--dry-run');
        if (fault && isBuild === /--dry-run$/.test(fault.at) && `${line} `.startsWith(`${fault.at} `))
          throw new Error(fault.says ?? '');
        const configuration = readConfiguration(config, env.slice('--env='.length));
        const stdout = line === 'whoami' ? JSON.stringify(whoami) : wranglerIn(this.account, configuration, words);
        return { isDone: true, stdout, output: stdout };
      } catch (error) {
        const { message } = error as Error;
        if (mode !== 'read') ended.stderr += message;
        return { isDone: false, stdout: '', output: message };
      }
    };
    const print = {
      log: (line: string) => (ended.stdout += `${line}\n`),
      warn: (line: string) => (ended.stderr += `${line}\n`),
    };
    try {
      deploy(this.folder, args.split(' ').filter(Boolean), wrangler, print, environment);
    } catch (error) {
      ended.code = 1;
      ended.stderr += `${(error as Error).message.trim()}\n`.replaceAll(this.folder, 'PROJECT');
    }
    return ended;
  }

  private get loggedIn() {
    return { loggedIn: true, accounts: [{ id: this.account.id, name: 'Acme' }] };
  }

  idOf(binding: string): string {
    return this.account.idOf(`usage-${binding}`) ?? '';
  }

  /** Returns the lines that a deployment adds to the binding's block. */
  idLines(binding: string): string {
    return `database_id = "${this.idOf(binding)}"\npreview_database_id = "${binding}"\n`;
  }
}

/** Deploys a project, then adds an owner to DB and, if it is bound, another to DB_1. */
function deployed(toml = THREE): Project {
  const project = new Project(toml);
  expect(project.deploy().code).toBe(0);
  const [first, second] = [project.idOf('DB'), project.idOf('DB_1')];
  project.account.addOwner(7, 0, first, first);
  if (second !== '') project.account.addOwner(8, 1, second, first);
  return project;
}

const create = (binding: string) => `d1 create usage-${binding}`;
const migrate = (binding: string) => `d1 migrations apply ${binding} --remote`;
const madeOf = (binding: string) => [create(binding), migrate(binding)];
const created = (...bindings: string[]) =>
  bindings.map((binding) => `Created the database usage-${binding} (${binding}).\n`).join('');
const COMMIT = 'Commit PROJECT/wrangler.toml: it now contains the ids of the new databases.\n';
const ALL = ['DB', 'DB_1', 'DB_2'];
/** The result of a deployment that creates nothing. */
const redeployed = { code: 0, stdout: START + NEXT, stderr: '', steps: [...ALL.map(migrate), 'deploy'] };
const stopped = (stderr: string, stdout = START) => ({ code: 1, stdout, stderr, steps: [] });
const refused = (line: string, stdout?: string) => stopped(`${line} Nothing was changed.\n`, stdout);
const notFound = (binding: string, id: string) =>
  stopped(`${binding} (usage-${binding}, ${id}): The database ${id} could not be found [code: 7404]\n`);

const swapped = (text: string, one: string, other: string) =>
  text
    .split(one)
    .map((part) => part.replaceAll(other, one))
    .join(other);

afterEach(() => vi.unstubAllEnvs());

describe('npm run deploy', () => {
  test('creates each database, writes its id into wrangler.toml, applies the migrations, and uploads the Worker', () => {
    const project = new Project(THREE);
    const { account, folder } = project;
    const ended = project.deploy();
    expect({ ...ended, stdout: ended.stdout.replace(folder, 'PROJECT') }).toEqual({
      code: 0,
      stdout: `${START}${created(...ALL)}${COMMIT}${NEXT}`,
      stderr: '',
      steps: [...ALL.flatMap(madeOf), 'deploy'],
    });
    let expected = THREE;
    for (const binding of ALL) {
      const name = `database_name = "usage-${binding}"\n`;
      expected = expected.replace(name, `${name}${project.idLines(binding)}`);
    }
    expect(project.toml).toBe(expected);
    const ids = Object.fromEntries(ALL.map((binding) => [binding, project.idOf(binding)]));
    expect(account.workers).toEqual(new Map([['usage', ids]]));
    for (const id of Object.values(ids)) expect(account.applied(id)).toEqual(MIGRATIONS);
  });

  test('on the second run only migrates the databases and uploads the Worker', () => {
    const project = deployed();
    const { toml } = project;
    expect(project.deploy()).toEqual(redeployed);
    expect(project.toml).toBe(toml);
    expect(project.account.databases.size).toBe(3);
  });

  test('creates a database that was added to the configuration', () => {
    const project = deployed(ONE);
    project.toml += block('DB_1');
    const steps = [migrate('DB'), ...madeOf('DB_1'), 'deploy'];
    expect(project.deploy()).toMatchObject({ code: 0, stderr: '', steps });
    expect(project.toml).toContain(project.idLines('DB_1'));
    expect(project.deploy()).toMatchObject({ code: 0, steps: [migrate('DB'), migrate('DB_1'), 'deploy'] });
  });

  test('identifies a database by its id, whatever its name', () => {
    const project = deployed();
    project.toml = project.toml.replaceAll('"usage-DB', '"other-DB');
    expect(project.deploy()).toEqual(redeployed);
    expect(project.account.workers.get('usage')).toMatchObject({ DB: project.idOf('DB'), DB_1: project.idOf('DB_1') });
  });

  test('prints the ids of databases that exist but have no id in the configuration, and uses them after they are added', () => {
    const project = new Project(THREE);
    const { account } = project;
    const [first = '', second = ''] = ALL.map((binding) => {
      const id = account.create(`usage-${binding}`) ?? '';
      account.migrate(id);
      return id;
    });
    account.addOwner(7, 0, first, first);
    account.addOwner(8, 1, second, first);
    const lines = ALL.map((binding) => `# ${binding}\n${project.idLines(binding)}`);
    const { stderr, ...ended } = project.deploy();
    expect(ended).toEqual({ code: 1, stdout: START, steps: [] });
    expect(stderr).toBe(
      `wrangler.toml has no database_id for DB, DB_1, DB_2. The account already has databases with these names. If they belong to this service, add these lines to their blocks. If not, choose another database_name. Nothing was changed.\n\n${lines.join('\n')}`,
    );
    for (const binding of ALL)
      project.toml = project.toml.replace(`"usage-${binding}"\n`, `"usage-${binding}"\n${project.idLines(binding)}`);
    expect(project.deploy()).toEqual(redeployed);
  });

  test.each([
    ['REFUSED_ORIGIN_LIMIT', limit('REFUSED_BUSINESS_LIMIT')],
    ['REFUSED_BUSINESS_LIMIT', limit('REFUSED_ORIGIN_LIMIT')],
    ['REFUSED_ORIGIN_LIMIT and REFUSED_BUSINESS_LIMIT', limit('ADDRESS_LIMIT')],
  ])('warns that the configuration lacks %s, and continues', (missing, limits) => {
    expect(new Project(BARE + limits + block('DB')).deploy()).toMatchObject({
      code: 0,
      stderr: `Warning: without [[ratelimits]] for ${missing}, every refused origin is written to the database.\n`,
      steps: [...madeOf('DB'), 'deploy'],
    });
  });
});

const OTHER = { id: 'b'.repeat(32), name: 'Other' };

describe('npm run deploy changes nothing when', () => {
  test('no database has the configured id', () => {
    const project = deployed();
    const id = project.idOf('DB_1');
    project.account.databases.delete(id);
    expect(project.deploy()).toEqual(notFound('DB_1', id));
  });

  test('the login is for another account', () => {
    const project = deployed(ONE);
    const whoami = { loggedIn: true, accounts: [OTHER] };
    expect(new Project(project.toml, new Account()).deploy({ whoami })).toEqual({
      ...notFound('DB', project.idOf('DB')),
      stdout: `Account: Other (${OTHER.id}). Worker: usage.\n`,
    });
  });

  test.each([
    ['DB', 'DB_1', 'DB', 'DB_1'],
    ['DB_1', 'DB_2', 'DB_2', 'DB_1'], // no business is in DB_2
  ])('the ids of %s and %s are swapped', (one, other, noticed, owner) => {
    const project = deployed();
    const [id, otherId] = [project.idOf(one), project.idOf(other)];
    project.toml = swapped(project.toml, id, otherId);
    const found = noticed === one ? otherId : id;
    expect(project.deploy()).toEqual(
      refused(`${noticed} (usage-${noticed}, ${found}) contains businesses of ${owner}: their ids were swapped.`),
    );
  });

  test('two bindings share an id, in the same environment or in different ones', () => {
    const project = deployed();
    const id = project.idOf('DB');
    const { toml } = project;
    const duplicate = refused(`PROJECT/wrangler.toml contains the database_id ${id} twice.`, '');
    project.toml = toml.replace(project.idOf('DB_2'), id);
    expect(project.deploy()).toEqual(duplicate);
    project.toml = `${toml}${STAGING}${block('DB', { database_id: id }, 'env.staging.d1_databases')}`;
    for (const args of ['', '--env staging']) expect(project.deploy({ args })).toEqual(duplicate);
  });

  test('a database that stores owners is not bound', () => {
    const project = deployed();
    project.toml = project.toml.replace(/\[\[d1_databases\]\]\nbinding = "DB_1"\n(.+\n)+?(?=\[|$)/, '');
    expect(project.toml).not.toContain('DB_1');
    expect(project.deploy()).toEqual(refused('Owners have their data in DB_1, which the configuration does not bind.'));
  });

  const cases = ['DB', 'DB_1'].flatMap((binding) => ['no id', 'the id of a new database'].map((id) => [binding, id]));
  test.each(cases)('owners have data in %s, but it is configured with %s', (binding = '', id) => {
    const project = deployed();
    project.account.addOwner(9, 2, project.idOf('DB_2'), project.idOf('DB'));
    const lines = project.idLines(binding);
    const other = project.account.create('other') ?? '';
    project.toml = project.toml
      .replace(lines, id === 'no id' ? '' : lines.replace(project.idOf(binding), other))
      .replace(`"usage-${binding}"`, '"other-name"');
    expect(project.deploy()).toEqual(
      refused(`Owners have their data in ${binding}, but its database_id is missing or names a new database.`),
    );
  });

  test('the dry run of the upload fails', () => {
    const fault = { at: 'deploy --dryrun --dry-run', says: 'Unknown argument: dryrun\n' };
    expect(new Project(ONE).deploy({ args: '--dryrun', fault })).toEqual(
      stopped('Unknown argument: dryrun\nNothing was changed.\n'),
    );
  });

  test('the build is for another Worker', () => {
    expect(new Project(ONE).deploy({ variables: { WRANGLER_CI_OVERRIDE_NAME: 'usage-staging' } })).toEqual(
      refused('This is a build of the Worker usage-staging, but PROJECT/wrangler.toml is for usage.', ''),
    );
    expect(new Project(ONE).deploy({ variables: { WRANGLER_CI_OVERRIDE_NAME: 'usage' } }).code).toBe(0);
  });

  test("a database contains another service's tables", () => {
    const account = new Account();
    const id = account.create('shop') ?? '';
    account.query(id, 'create table orders (id integer)');
    const project = new Project(HEAD + block('DB', { database_id: id }), account);
    expect(project.deploy()).toEqual(
      refused(`DB (usage-DB, ${id}) is not a database of this service: it contains the tables orders.`),
    );
  });

  test.each(['', '--rollback', '--dry-run'])('a version before 1.0.0-rc created a database (%s)', (args) => {
    const project = deployed();
    const id = project.idOf('DB_1');
    project.account.query(id, "insert into d1_migrations (name) values ('0001_init.sql')");
    project.account.query(id, 'drop table homes'); // the first versions had no such table
    expect(project.deploy({ args })).toEqual(
      refused(
        `DB_1 (usage-DB_1, ${id}) was created by a version before 1.0.0-rc, which cannot be upgraded. Create a new database.`,
      ),
    );
  });

  test('a database has a migration that the checkout lacks, unless --rollback is passed', () => {
    const project = deployed();
    const id = project.idOf('DB_1');
    project.account.query(id, `insert into d1_migrations (name) values ('${LATER}')`);
    expect(project.deploy()).toEqual(
      refused(
        `DB_1 (usage-DB_1, ${id}) has migrations that are missing from this checkout: ${LATER}. Deploy the newer version. To go back on purpose: npm run deploy -- --rollback.`,
      ),
    );
    expect(project.deploy({ args: '--rollback' })).toEqual(redeployed);
  });

  test('a database has no id and the deployment runs in CI', () => {
    for (const CI of ['true', '1']) {
      const project = new Project(THREE);
      expect(project.deploy({ variables: { CI } })).toEqual(
        refused(
          'wrangler.toml has no database_id for DB, DB_1, DB_2. Run npm run deploy on your own machine, and commit what it adds.',
          '',
        ),
      );
      expect(project.toml).toBe(THREE);
    }
    expect(deployed().deploy({ variables: { CI: 'true' } }).code).toBe(0);
    expect(new Project(ONE).deploy({ variables: { CI: 'false' } }).code).toBe(0);
  });

  test('wrangler is not logged in', () => {
    const fault = { at: 'whoami', says: '{\n  "loggedIn": false\n}\n' };
    for (const options of [{ whoami: { loggedIn: false } }, { fault }])
      expect(new Project(ONE).deploy(options)).toEqual(stopped(LOGIN, ''));
  });

  test('the login has several accounts and none is selected', () => {
    const project = new Project(ONE);
    const whoami = { loggedIn: true, accounts: [OTHER, { id: project.account.id, name: 'Acme' }] };
    const choice = `${OTHER.id}  Other\n${project.account.id}  Acme\n`;
    expect(project.deploy({ whoami })).toEqual(
      stopped(`The login has several accounts. Set CLOUDFLARE_ACCOUNT_ID to one of:\n${choice}`, ''),
    );
    const variables = { CLOUDFLARE_ACCOUNT_ID: project.account.id };
    expect(project.deploy({ whoami, variables })).toMatchObject({ code: 0, stderr: '' });
    project.toml = `account_id = "${OTHER.id}"\n${project.toml}`;
    expect(project.deploy({ whoami, variables }).stdout).toMatch(/^Account: Other \(b+\)\./);
  });

  test('wrangler whoami fails and no account is selected', () => {
    const project = new Project(ONE);
    const fault = { at: 'whoami', says: 'fetch failed' };
    expect(project.deploy({ fault })).toEqual(stopped('fetch failed\n', ''));
    const variables = { CLOUDFLARE_ACCOUNT_ID: project.account.id };
    const { code, stdout } = project.deploy({ fault, variables });
    expect([code, stdout.split('\n')[0]]).toEqual([0, `Account: ${project.account.id}. Worker: usage.`]);
  });

  const vars = (line: string) => `${ONE}[vars]\n${line}\n`;
  const addresses = ['"http://a.example"', '"a.example"', '""', '1'];
  const names = ['"a\\nb"', `"${'a'.repeat(61)}"`, '" "', '0', '["Acme"]'];
  test.each<[string, string, string]>([
    ['DB is not bound', HEAD + block('DB_1'), 'PROJECT/wrangler.toml does not bind the database DB.'],
    ['a database_name is missing', ONE + block('DB_1', { database_name: '' }), 'DB_1 has no database_name.'],
    ['a database_id is empty', ONE.replace('migrations_dir', 'database_id = ""\nmigrations_dir'), 'The database_id of DB is empty.'],
    ['the Worker has no name', ONE.replace('name = "usage"', ''), 'PROJECT/wrangler.toml does not set the name of the Worker.'],
    ['migrations are in another folder', ONE + block('DB_1', { migrations_dir: 'other' }), 'The migrations_dir of DB_1 is PROJECT/other. It must be PROJECT/migrations.'],
    ['the file contains the alert secret', vars('ALERT_SECRET = "whsec_AAAA"'), 'Remove ALERT_SECRET from [vars], and store it as a secret: npx wrangler secret put ALERT_SECRET.'],
    ['alerts have two receivers', `${vars('ALERT_URL = "https://a.example"')}[[services]]\nbinding = "ALERTS"\nservice = "product"\n`, 'Remove ALERT_URL or the service ALERTS: alerts have one receiver.'],
    ...addresses.map((url): [string, string, string] => [`ALERT_URL is ${url}`, vars(`ALERT_URL = ${url}`), `ALERT_URL ${ADDRESS_RULE}.`]),
    ...names.map((name): [string, string, string] => [`SERVICE_NAME is ${name}`, vars(`SERVICE_NAME = ${name}`), `SERVICE_NAME ${SERVICE_NAME_RULE}.`]),
  ])('%s', (_, toml, line) => {
    expect(new Project(toml).deploy()).toEqual(refused(line, ''));
  }); // biome-ignore format: one row per line

  test.each(['DB_62', 'DB_01', 'DB1', 'DB_0', 'db_1', 'DB-1'])('a database is bound as %s', (binding) => {
    const line = `PROJECT/wrangler.toml binds a database as ${binding}. The names are DB, DB_1, DB_2, and so on up to DB_61.\n`;
    expect(new Project(ONE + block(binding)).deploy()).toEqual(stopped(line, ''));
  });
});

describe('npm run deploy stops', () => {
  test('when it cannot list or create databases, or a concurrent deployment creates one first', () => {
    const project = new Project(ONE);
    const fault = { at: 'd1 list', says: 'fetch failed' };
    expect(project.deploy({ fault })).toMatchObject({ stderr: 'The databases: fetch failed\n', steps: [] });
    const other = new Project(ONE, project.account);
    const { create: createOnce } = project.account;
    project.account.create = (name) => {
      project.account.create = createOnce;
      expect(other.deploy().code).toBe(0);
      return project.account.create(name);
    };
    expect(project.deploy()).toEqual({
      ...stopped('DB (usage-DB): A database with that name already exists [code: 7502]\n'),
      steps: [create('DB')],
    });
    expect(project.toml).toBe(ONE);
    expect(other.deploy().code).toBe(0);
  });

  test('when wrangler.toml cannot be edited, and prints the lines to add', () => {
    const toml = `d1_databases = [{ binding = "DB", database_name = "usage-DB", migrations_dir = "migrations" }]\n${HEAD}`;
    const project = new Project(toml);
    const { stderr, steps } = project.deploy();
    expect({ stderr, steps }).toEqual({
      stderr: `PROJECT/wrangler.toml could not be edited. Add these lines to the block of DB, and run npm run deploy again:\n${project.idLines('DB')}`,
      steps: [create('DB')],
    });
    expect(project.toml).toBe(toml);
  });

  test('before the upload when a migration fails', () => {
    expect(deployed().deploy({ fault: { at: migrate('DB_1'), says: 'no such table\n' } })).toEqual({
      ...stopped('no such table\nThe migrations of DB_1 were not applied. Nothing was uploaded.\n'),
      steps: [migrate('DB'), migrate('DB_1')],
    });
  });

  test('when the upload fails', () => {
    const { code, stderr } = deployed().deploy({ fault: { at: 'deploy' } });
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'wrangler deploy failed.\n' });
  });

  const steps = [...ALL.flatMap(madeOf), 'deploy'];
  test.each(steps.map((step, index) => [step, index] as const))(
    'when %s fails in a first deployment, and the next run resumes there',
    (step, index) => {
      const project = new Project(THREE);
      const interrupted = project.deploy({ fault: { at: step, says: 'interrupted\n' } });
      expect(interrupted).toMatchObject({ code: 1, steps: steps.slice(0, index + 1) });
      expect(project.account.workers.size).toBe(0);
      expect(project.deploy()).toMatchObject({ code: 0, stderr: '' });
      expect(project.account.databases.size).toBe(3);
      expect(project.deploy()).toEqual(redeployed);
    },
  );
});

describe('npm run deploy --dry-run', () => {
  test('prints what it would create and apply, and changes nothing', () => {
    const project = deployed(ONE);
    const id = project.idOf('DB');
    project.account.query(id, 'delete from d1_migrations');
    project.toml += block('DB_1');
    const { toml } = project;
    const databases = [...project.account.databases.keys()];
    for (const args of ['--dry-run', '--dryRun', '--dry-run=true']) {
      expect(project.deploy({ args })).toEqual({
        code: 0,
        stdout: [
          START.trimEnd(),
          `Would apply to DB: ${MIGRATIONS.join(', ')}`,
          'Would create the database usage-DB_1 (DB_1).',
          `Would apply to DB_1: ${MIGRATIONS.join(', ')}\n`,
        ].join('\n'),
        stderr: '',
        steps: ['deploy --dry-run'],
      });
    }
    expect(project.toml).toBe(toml);
    expect([...project.account.databases.keys()]).toEqual(databases);
  });

  test('fails when a deployment would fail', () => {
    const project = deployed();
    project.account.query(project.idOf('DB'), `insert into d1_migrations (name) values ('${LATER}')`);
    expect(project.deploy({ args: '--dry-run' })).toMatchObject({ code: 1, steps: [] });
  });
});

describe('npm run deploy with options', () => {
  const toml = `${ONE}${STAGING}${block('DB', { database_name: 'staging-DB' }, 'env.staging.d1_databases')}`;

  test.each([
    ['--env staging', {}],
    ['-e staging', {}],
    ['-estaging', {}],
    ['--env=staging', {}],
    ['', { CLOUDFLARE_ENV: 'staging' }],
  ])('runs every step in the same environment: %s %o', (args, variables) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const project = new Project(toml);
    expect(project.deploy({ args })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Worker: usage-staging.\n'),
      steps: ['d1 create staging-DB', migrate('DB'), 'deploy'],
    });
    expect([...project.chosen]).toEqual([
      `${project.file} --env=staging `,
      `${project.file} --env=staging ${project.account.id}`,
    ]);
    expect(project.account.workers).toEqual(new Map([['usage-staging', { DB: project.account.idOf('staging-DB') }]]));
    expect(project.toml.split('[[env.staging.d1_databases]]')[0]).toBe(toml.split('[[env.staging.d1_databases]]')[0]);
  });

  test('runs every step without an environment when --env is empty, whatever CLOUDFLARE_ENV is', () => {
    vi.stubEnv('CLOUDFLARE_ENV', 'staging');
    const project = new Project(toml);
    expect(project.deploy({ args: '--env=' }).steps).toEqual([create('DB'), migrate('DB'), 'deploy']);
    expect([...project.chosen].every((chosen) => chosen.includes(' --env= '))).toBe(true);
  });

  test('rejects an environment that the file does not define', () => {
    for (const text of [toml, ONE]) {
      const { code, stderr, steps } = new Project(text).deploy({ args: '--env production' });
      expect({ code, steps }).toEqual({ code: 1, steps: [] });
      expect(stderr).toContain('production');
      expect(stderr.trimEnd()).not.toContain('\n');
    }
  });

  test.each(['--config other.toml', '-c other.toml', '--config=other.toml'])(
    'runs every step with the same configuration: %s',
    (args) => {
      const project = new Project(ONE);
      const file = join(project.folder, 'other.toml');
      writeFileSync(file, HEAD + block('DB', { database_name: 'other-DB' }));
      expect(project.deploy({ args }).steps).toEqual(['d1 create other-DB', migrate('DB'), 'deploy']);
      expect([...project.chosen].every((chosen) => chosen.startsWith(`${file} `))).toBe(true);
      expect(project.toml).toBe(ONE);
      expect(readFileSync(file, 'utf8')).toContain(`database_id = "${project.account.idOf('other-DB')}"`);
    },
  );

  test('passes all other options to the upload', () => {
    const args = '--domain a.example --domain=b.example --tag v2 --rollback --message Second';
    expect(deployed(ONE).deploy({ args }).steps.at(-1)).toBe(
      'deploy --domain a.example --domain=b.example --tag v2 --message Second',
    );
  });

  test.each([
    ['--config', '--config and --env need a value.\n'],
    ['--env', '--config and --env need a value.\n'],
    ['-- --env staging', 'Use -- only once: npm run deploy -- --env staging\n'],
    ['--name other', 'Remove --name: two Workers would share the databases.\n'],
    ['--name=other', 'Remove --name: two Workers would share the databases.\n'],
    ['--config none.toml', 'Could not read file: PROJECT/none.toml\n'],
  ])('rejects %s with one line and changes nothing', (args, stderr) => {
    expect(new Project(ONE).deploy({ args })).toEqual(stopped(stderr, ''));
  });
});

test('npm run deploy with the real wrangler deploys, adds a database, and refuses swapped ids', {
  tags: 'slow',
  timeout: 420_000,
}, async () => {
  const account = new Account();
  const { url, close } = await account.serve();
  let lost = {};
  const file = join(newFolder(), 'other.toml');
  const migrations_dir = join(ROOT, 'migrations').replaceAll('\\', '/');
  const main = join(ROOT, 'src/index.ts').replaceAll('\\', '/');
  writeFileSync(file, `main = "${main}"\n${HEAD}${block('DB', { migrations_dir })}`);
  async function run(...args: string[]) {
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      ...lost,
      CI: '',
      CLOUDFLARE_API_BASE_URL: url,
      CLOUDFLARE_API_TOKEN: 'token',
    };
    const child = spawn(process.execPath, [join(ROOT, 'src/tools/deploy.ts'), '--config', file, ...args], { env });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code, stdout, stderr };
  }
  lost = { npm_config_dry_run: 'true' }; // as npm run deploy --dry-run sets it
  const stderr = 'npm consumed --dry-run. Run: npm run deploy -- --dry-run\n';
  expect(await run()).toEqual({ code: 1, stdout: '', stderr });
  lost = {};
  expect(await run('--dryrun')).toMatchObject({ code: 1, stderr: expect.stringContaining('Unknown argument: dryrun') });
  expect(await run('--dry-run')).toMatchObject({ code: 0, stdout: expect.stringContaining('Would create') });
  expect({ databases: account.databases.size, workers: account.workers.size }).toEqual({ databases: 0, workers: 0 });
  const first = await run();
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining(created('DB')), stderr: '' });
  expect(first.stdout).toContain(START);
  expect(first.stdout).toContain('https://usage.acme.workers.dev');
  const DB = account.idOf('usage-DB') ?? '';
  expect(account.applied(DB)).toEqual(MIGRATIONS);
  expect(account.workers).toEqual(new Map([['usage', { DB }]]));

  account.addOwner(7, 0, DB, DB);
  writeFileSync(file, `${readFileSync(file, 'utf8')}${block('DB_1', { migrations_dir })}`);
  expect(await run('--tag', 'v2')).toMatchObject({ code: 0, stderr: '' });
  const DB_1 = account.idOf('usage-DB_1') ?? '';
  expect(account.workers).toEqual(new Map([['usage', { DB, DB_1 }]]));
  writeFileSync(file, swapped(readFileSync(file, 'utf8'), DB, DB_1));
  const problem = 'contains businesses of DB: their ids were swapped. Nothing was changed.';
  expect(await run()).toEqual({ code: 1, stdout: START, stderr: `DB_1 (usage-DB_1, ${DB}) ${problem}\n` });
  account.databases.delete(DB_1);
  const request = `A request to the Cloudflare API (/accounts/${account.id}/d1/database/${DB_1}/query) failed.`;
  const missing = `DB (usage-DB, ${DB_1}): ${request} The database ${DB_1} could not be found [code: 7404]\n`;
  expect(await run()).toEqual({ code: 1, stdout: START, stderr: missing });
  close();
});
