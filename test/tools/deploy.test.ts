// npm run deploy against a fake Cloudflare account. All tests except the last one replace wrangler with an in-process fake.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { readConfiguration } from '../../src/tools/configuration.ts';
import { deploy } from '../../src/tools/deployment.ts';
import { ROOT } from '../cli/support.ts';
import { newFolder } from '../node/state.ts';
import { Account, MIGRATIONS } from './cloudflare.ts';

const NEXT =
  'To check the deployment, with an operator key (npm run -s admin -- operator-key create): OPERATOR_KEY=… npm run -s verify -- URL\n';
const HEAD = 'name = "usage"\ncompatibility_date = "2026-10-01"\n';
/** Returns a configuration block. An empty id is left out. */
const block = (binding: string, id: string, table = 'd1_databases') =>
  `[[${table}]]\nbinding = "${binding}"\ndatabase_name = "usage-${binding}"\n${id && `database_id = "${id}"\n`}`;

/**
 * Returns a checkout with an account that has three empty databases. `toml` binds them, not in order, beside one of another application.
 */
function newProject() {
  const folder = newFolder();
  const file = join(folder, 'wrangler.toml');
  symlinkSync(join(ROOT, 'migrations'), join(folder, 'migrations'), 'junction');
  const account = new Account();
  const [DB, DB_1, DB_2, CACHE] = [account.create('a'), account.create('b'), account.create('c'), account.create('d')];
  const toml = HEAD + block('DB_2', DB_2) + block('CACHE', CACHE) + block('DB', DB) + block('DB_1', DB_1);

  /** Returns the output, and the steps that change something or `fails`, with their options. */
  function run(configuration: string, args = '', fails?: string) {
    writeFileSync(file, configuration);
    const ended = { stdout: '', stderr: '', steps: [] as string[] };
    const wrangler = (given: string[], mode: string): string => {
      const line = given.join(' ').replaceAll(folder, 'PROJECT');
      if (mode !== 'read') ended.steps.push(line);
      if (fails !== undefined && line.startsWith(fails)) throw new Error(`${fails} failed`);
      const [, verb, third, binding] = given;
      if (verb !== 'execute' && verb !== 'migrations') return '';
      const config = given[given.indexOf('--config') + 1];
      const { databases } = readConfiguration(config, given.find((arg) => arg.startsWith('--env='))?.slice(6));
      const id = databases.find((database) => database.binding === (verb === 'execute' ? third : binding))?.id ?? '';
      if (verb === 'migrations') account.migrate(id);
      return verb === 'execute' ? JSON.stringify(account.query(id, given[given.indexOf('--command') + 1] ?? '')) : '';
    };
    try {
      deploy(folder, args.split(' ').filter(Boolean), wrangler, (line) => (ended.stdout += `${line}\n`));
    } catch (error) {
      ended.stderr = (error as Error).message.replaceAll(folder, 'PROJECT');
    }
    return ended;
  }

  /** Deploys, then gives DB and DB_1 an owner each. */
  function withOwners() {
    run(toml);
    account.addOwner(7, 0, DB, DB);
    account.addOwner(8, 1, DB_1, DB);
  }
  return { account, toml, run, withOwners, DB, DB_1, DB_2 };
}

const migrate = (binding: string, options = '--config PROJECT/wrangler.toml --env=') =>
  `d1 migrations apply ${binding} --remote ${options}`;
const STEPS = [...['DB', 'DB_1', 'DB_2'].map((binding) => migrate(binding)), 'deploy'];
const DEPLOYED = { stdout: NEXT, stderr: '', steps: STEPS };

test('npm run deploy applies the migrations to every database, and then uploads the Worker', () => {
  const { account, toml, run, withOwners, DB, DB_1, DB_2 } = newProject();
  expect(run(toml)).toEqual(DEPLOYED);
  for (const id of [DB, DB_1, DB_2]) expect(account.applied(id)).toEqual(MIGRATIONS);
  withOwners();
  expect(run(toml)).toEqual(DEPLOYED);
});

test.each(STEPS)('a deployment stops when %s fails, and the next one resumes there', (step) => {
  const { toml, run } = newProject();
  expect(run(toml, '', step)).toEqual({
    stdout: '',
    stderr: `${step} failed`,
    steps: STEPS.slice(0, STEPS.indexOf(step) + 1),
  });
  expect(run(toml)).toEqual(DEPLOYED);
});

describe('npm run deploy changes nothing when', () => {
  type Case = (project: ReturnType<typeof newProject>) => [toml: string, stderr: string];
  const replaced = (binding: 'DB' | 'DB_1'): [string, Case] => [
    `the id of ${binding} is that of a new database, but owners have data in ${binding}`,
    ({ account, toml, ...ids }) => {
      const id = account.create('new');
      const problem = 'is empty, but owners have their data in it. Correct its database_id';
      return [toml.replace(ids[binding], id), `${binding} (usage-${binding}, ${id}) ${problem}. Nothing was changed.`];
    },
  ];
  const cases: Record<string, Case> = {
    'a block has no id': ({ toml, DB_1 }) => [
      toml.replace(`database_id = "${DB_1}"\n`, ''),
      'PROJECT/wrangler.toml has no database_id for DB_1. Create the database with npx wrangler d1 create usage-DB_1, and add the id that it prints.',
    ],
    'DB is not bound': ({ DB_1 }) => [
      HEAD + block('DB_1', DB_1),
      'PROJECT/wrangler.toml does not bind the database DB.',
    ],
    'two bindings have the same id': ({ toml, DB, DB_2 }) => [
      toml.replace(DB_2, DB),
      `PROJECT/wrangler.toml contains the database_id ${DB} twice.`,
    ],
    'bindings of two environments have the same id': ({ toml, DB }) => [
      toml + block('DB', DB, 'env.staging.d1_databases'),
      `PROJECT/wrangler.toml contains the database_id ${DB} twice.`,
    ],
    'the account has no database with an id': ({ account, toml, DB_1 }) => {
      account.databases.delete(DB_1);
      return [toml, `The database ${DB_1} could not be found [code: 7404]`];
    },
    'the ids of two databases are swapped': ({ toml, DB, DB_1 }) => [
      swapped(toml, DB, DB_1),
      `DB (usage-DB, ${DB_1}) contains businesses of DB_1: their ids were swapped. Nothing was changed.`,
    ],
    'a database with owners is not bound': ({ toml, DB, DB_1 }) => [
      toml.replace(block('DB_1', DB_1), ''),
      `DB (usage-DB, ${DB}) assigns owners to DB_1, which the configuration does not bind. Nothing was changed.`,
    ],
    ...Object.fromEntries([replaced('DB'), replaced('DB_1')]),
    "a database contains another application's tables": ({ account, toml, DB_2 }) => {
      const id = account.create('shop');
      account.query(id, 'create table orders (id integer)');
      const problem = 'is not a database of this service: it contains the tables orders';
      return [toml.replace(DB_2, id), `DB_2 (usage-DB_2, ${id}) ${problem}. Nothing was changed.`];
    },
    'a version before 1.0.0-rc.1 created a database': ({ account, toml, DB_2 }) => {
      account.query(DB_2, "insert into d1_migrations (name) values ('0001_init.sql')");
      account.query(DB_2, 'drop table homes'); // the first versions had no such table
      const problem = 'was created by a version before 1.0.0-rc.1, which cannot be upgraded. Create a new database';
      return [toml, `DB_2 (usage-DB_2, ${DB_2}) ${problem}. Nothing was changed.`];
    },
    'a database has a migration that the checkout lacks': ({ account, toml, DB_2 }) => {
      account.query(DB_2, "insert into d1_migrations (name) values ('0999_later.sql')");
      const problem = 'has migrations that are missing from this checkout: 0999_later.sql. Deploy the newer version';
      return [toml, `DB_2 (usage-DB_2, ${DB_2}) ${problem}. Nothing was changed.`];
    },
  };
  test.each(Object.entries(cases))('%s', (_, change) => {
    const project = newProject();
    project.withOwners();
    const [toml, stderr] = change(project);
    for (const args of ['', '--dry-run']) expect(project.run(toml, args)).toEqual({ stdout: '', stderr, steps: [] });
  });
});

const swapped = (toml: string, one: string, other: string) =>
  toml.replace(one, 'SWAPPED').replace(other, one).replace('SWAPPED', other);

describe('npm run deploy with options', () => {
  test.each(['--dry-run', '--dryRun', '--dry-run=true'])('%s checks the databases and migrates none', (args) => {
    const { account, toml, run, DB } = newProject();
    expect(run(toml, args)).toEqual({ stdout: '', stderr: '', steps: [`deploy ${args}`] });
    expect(account.query(DB, 'select * from sqlite_master')[0]?.results).toEqual([]);
  });

  test('--dry-run=false is a deployment', () => {
    const { toml, run } = newProject();
    expect(run(toml, '--dry-run=false').steps).toEqual([...STEPS.slice(0, -1), 'deploy --dry-run=false']);
  });

  test.each(['--env staging', '-e staging', '-estaging', '--env=staging'])('%s applies to every step', (args) => {
    const { account, toml, run } = newProject();
    const staging = account.create('staging');
    const { steps } = run(toml + block('DB', staging, 'env.staging.d1_databases'), args);
    expect(steps).toEqual([migrate('DB', '--config PROJECT/wrangler.toml --env=staging'), `deploy ${args}`]);
    expect(account.applied(staging)).toEqual(MIGRATIONS);
  });

  test('passes every option on to wrangler', () => {
    const { toml, run } = newProject();
    const args = '--domain a.example --domain=b.example --tag v2 --message Second';
    expect(run(toml, args).steps.at(-1)).toBe(`deploy ${args}`);
  });

  test.each([
    ['--config', '--config and --env need a value.'],
    ['--env', '--config and --env need a value.'],
    ['--env production', 'PROJECT/wrangler.toml does not define the environment production.'],
    ['-- --env staging', 'Use -- only once: npm run deploy -- --env staging'],
    ['--config none.toml', 'Could not read file: PROJECT/none.toml'],
  ])('rejects %s', (args, stderr) => {
    const { toml, run } = newProject();
    expect(run(toml, args)).toEqual({ stdout: '', stderr, steps: [] });
  });
});

test('npm run deploy with the real wrangler deploys, and refuses swapped ids', {
  tags: 'slow',
  timeout: 420_000,
}, async () => {
  const account = new Account();
  const { url, close } = await account.serve();
  const [DB, DB_1] = [account.create('usage-DB'), account.create('usage-DB_1')];
  const file = join(newFolder(), 'other.toml');
  const migrations_dir = `migrations_dir = "${join(ROOT, 'migrations').replaceAll('\\', '/')}"\n`;
  const main = `main = "${join(ROOT, 'src/index.ts').replaceAll('\\', '/')}"\n`;
  const toml = main + HEAD + block('DB', DB) + migrations_dir + block('DB_1', DB_1) + migrations_dir;
  async function run(configuration: string, args: string[] = [], variables = {}) {
    writeFileSync(file, configuration);
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      ...variables,
      CI: '',
      CLOUDFLARE_API_BASE_URL: url,
      CLOUDFLARE_API_TOKEN: 'token',
    };
    const child = spawn(process.execPath, [join(ROOT, 'src/tools/deploy.ts'), '--config', file, ...args], { env });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code, stdout, stderr };
  }
  // npm sets the variable for npm run deploy --dry-run.
  expect(await run(toml, [], { npm_config_dry_run: 'true' })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'npm consumed --dry-run. Run: npm run deploy -- --dry-run\n',
  });
  expect(await run(toml, ['--dry-run'])).toMatchObject({ code: 0 });
  expect(account.workers.size).toBe(0);
  const deployed = await run(toml, ['--tag', 'v2']);
  expect(deployed).toMatchObject({ code: 0, stdout: expect.stringContaining(NEXT), stderr: '' });
  expect(deployed.stdout).toContain('https://usage.acme.workers.dev');
  for (const id of [DB, DB_1]) expect(account.applied(id)).toEqual(MIGRATIONS);
  expect(account.workers).toEqual(new Map([['usage', { DB, DB_1 }]]));

  account.addOwner(7, 0, DB, DB);
  const problem = 'contains businesses of DB: their ids were swapped. Nothing was changed.';
  expect(await run(swapped(toml, DB, DB_1))).toEqual({
    code: 1,
    stdout: '',
    stderr: `DB_1 (usage-DB_1, ${DB}) ${problem}\n`,
  });
  account.databases.delete(DB_1);
  const missing = await run(toml);
  expect(missing).toMatchObject({ code: 1, stdout: '' });
  expect(missing.stderr).toContain(`The database ${DB_1} could not be found [code: 7404]`);
  close();
});
