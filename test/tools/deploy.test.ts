// npm run deploy, against a stand-in for wrangler and the account behind it: its databases are real ones of SQLite, with our migrations.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { boundIn } from '../../src/tools/configuration.ts';
import { deploy as deployProject, type Run } from '../../src/tools/deployment.ts';
import { PLACES, placesIn } from '../../src/tools/places.ts';
import { ROOT } from '../cli/support.ts';
import { newFolder } from '../node/state.ts';

const MIGRATIONS = readdirSync(join(ROOT, 'migrations')).sort();
/** The last migration of the version before databases were marked, and of 923d6cc. */
const UNMARKED = '0008_tokens.sql';
const OLD = '0006_self_service.sql';
const LOGIN =
  'Not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.\n';

const block = (binding: string, name = `usage-${binding}`, more = 'migrations_dir = "migrations"') =>
  `[[d1_databases]]\nbinding = "${binding}"\n${name && `database_name = "${name}"\n`}${more}\n`;
const limit = (name: string) =>
  `[[ratelimits]]\nname = "${name}"\nnamespace_id = "1"\nsimple = { limit = 1, period = 60 }\n`;
const BARE = 'name = "usage"\ncompatibility_date = "2026-10-01"\n';
const TOML = BARE + limit('REFUSED_ORIGIN_LIMIT') + limit('REFUSED_BUSINESS_LIMIT');
/** In no order, and with one that is not of the service. */
const THREE = TOML + ['DB_2', 'CACHE', 'DB', 'DB_1'].map((binding) => block(binding)).join('');
const ONE = TOML + block('DB');

/** A project with this configuration, in which databases have these places. */
function projectWith(toml: string, places?: object): string {
  const project = newFolder();
  writeFileSync(join(project, 'package.json'), JSON.stringify({ config: { databases: places } }));
  writeFileSync(join(project, 'wrangler.toml'), toml);
  return project;
}

/** A way for a step to fail: the start of the command, without its binding or name, and what it prints. */
type Fault = { at: string; says?: string };

/** An account at Cloudflare, with the databases and the Worker that were deployed to it. */
class Account {
  databases = new Map<string, DatabaseSync>();
  /** The databases that each deployed Worker uses, by binding. */
  readonly workers = new Map<string, [string, DatabaseSync | undefined][]>();
  /** What the version before uses, which some of the visitors get. */
  oldVersion: [string, DatabaseSync | undefined][] = [];
  isLoggedIn = true;
  secrets = ['OPERATOR_KEY_2'];
  /** All that wrangler was called with. */
  readonly calls: string[][] = [];

  /** Deploys this configuration. Returns how it ends, what is printed, and each step that changed something, or tried to. */
  deploy(
    toml: string,
    { args = [] as string[], places = undefined as object | undefined, fault = undefined as Fault | undefined } = {},
  ) {
    return this.deployProject(projectWith(toml, places), args, fault);
  }

  deployProject(project: string, args: string[] = [], fault?: Fault) {
    const ended = { code: 0, stdout: '', stderr: '', steps: [] as string[] };
    const wrangler: Run = (words, mode) => {
      this.calls.push(words);
      const line = words.filter((word, index) => word !== '--config' && words[index - 1] !== '--config').join(' ');
      const changes =
        !/^(whoami|d1 list|deployments|versions|secret list|d1 execute \w+ --remote --command select)/.test(line);
      if (changes)
        ended.steps.push(line.replace(/ --command insert into identity.*/, ' --command insert into identity …'));
      const config = words[words.indexOf('--config') + 1];
      const configured = boundIn(config === words[0] ? undefined : config);
      const answer =
        fault && `${line} `.startsWith(`${fault.at} `)
          ? { error: fault.says ?? '' }
          : this.run(line.split(' '), configured);
      if (mode === 'read')
        return { done: answer.error === undefined, stdout: answer.out ?? '', output: answer.error ?? answer.out ?? '' };
      ended.stdout += answer.out ?? '';
      ended.stderr += answer.error ?? '';
      return { done: answer.error === undefined, stdout: '', output: '' };
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

  private run(words: string[], { worker, bound }: ReturnType<typeof boundIn>): { out?: string; error?: string } {
    const name = worker.name ?? '';
    const live = this.workers.get(name);
    const nameOf = (binding = '') => bound.find((database) => database.binding === binding)?.name ?? '';
    const [command, verb, third = '', fourth = ''] = words;
    if (command === 'whoami') return { out: JSON.stringify({ loggedIn: this.isLoggedIn }) };
    if (command === 'deployments') {
      if (live === undefined) return { error: 'This Worker does not exist on your account. [code: 10007]' };
      return { out: JSON.stringify({ versions: [{ version_id: 'old' }, { version_id: 'new' }] }) };
    }
    if (command === 'secret')
      return { out: JSON.stringify(this.secrets.map((name) => ({ name, type: 'secret_text' }))) };
    if (command === 'versions') {
      const version = third === 'old' ? this.oldVersion : (live ?? []);
      const bindings = version.map(([name, database]) => ({ type: 'd1', name, id: this.uuidOf(database) }));
      const others = [{ type: 'assets', name: 'ASSETS' }];
      return { out: JSON.stringify({ id: third, resources: { bindings: [...bindings, ...others] } }) };
    }
    if (command === 'deploy')
      this.workers.set(
        name,
        bound.map(({ binding, name }) => [binding, this.databases.get(name)]),
      );
    else if (verb === 'list') {
      const list = [...this.databases].map(([name, database]) => ({ name, uuid: this.uuidOf(database) }));
      return { out: JSON.stringify(list) };
    } else if (verb === 'create') this.databases.set(third, new DatabaseSync(':memory:'));
    else if (verb === 'migrations') this.migrate(nameOf(fourth));
    else if (verb === 'execute') return { out: this.execute(nameOf(third), words.slice(5, -1).join(' ')) };
    return {};
  }

  private readonly uuids: (DatabaseSync | undefined)[] = [];
  private uuidOf(database: DatabaseSync | undefined): string {
    if (!this.uuids.includes(database)) this.uuids.push(database);
    return `uuid-${this.uuids.indexOf(database)}`;
  }

  /** What D1 returns of statements without parameters. */
  private execute(name: string, sql: string): string {
    const results = sql.split('; ').map((statement) => this.database(name).prepare(statement).all());
    return JSON.stringify(results.map((results) => ({ results, success: true, meta: {} })));
  }

  database(name: string): DatabaseSync {
    const database = this.databases.get(name);
    if (database === undefined) throw new Error(`no database ${name}`);
    return database;
  }

  /** Applies the migrations that a database has not, up to `last`. */
  migrate(name: string, last = MIGRATIONS.at(-1) ?? ''): void {
    const database = this.database(name);
    database.exec('create table if not exists d1_migrations (name text unique)');
    for (const file of MIGRATIONS.filter((file) => file <= last)) {
      if (database.prepare('select 1 from d1_migrations where name = ?').get(file) !== undefined) continue;
      database.exec(readFileSync(join(ROOT, 'migrations', file), 'utf8'));
      database.prepare('insert into d1_migrations (name) values (?)').run(file);
    }
  }

  /** A user with a business, as the commands create them. */
  addOwner(user_id: number, number: number, names: string[]): void {
    const business =
      'insert into businesses (id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)';
    const values = `${number * 1e9 + user_id}, ${user_id}, 'A', 'a.example', 'https://a.example', 1, 'small', 'bua_pk_${`${user_id}`.padStart(34, '0')}', 'active', '', ''`;
    this.database(names[number] ?? '').exec(`${business} values (${values})`);
    this.database(names[0] ?? '').exec(`insert into homes (user_id, database) values (${user_id}, ${number})`);
  }

  mark(name: string) {
    return this.database(name).prepare('select mark from identity').get()?.mark;
  }

  /** What each database says that it is. */
  identities() {
    return Object.fromEntries(
      [...this.databases].map(([name, database]) => [
        name,
        database
          .prepare('select number, mark, worker from identity')
          .all()
          .map((row) => ({ ...row })),
      ]),
    );
  }
}

const NAMES = ['usage-DB', 'usage-DB_1', 'usage-DB_2'];

/** An account to which THREE is deployed, with an owner in DB and one in DB_1. */
function deployed(toml = THREE): Account {
  const account = new Account();
  expect(account.deploy(toml).code).toBe(0);
  account.addOwner(7, 0, NAMES);
  if (toml === THREE) account.addOwner(8, 1, NAMES);
  return account;
}

/** An account with databases of an earlier version, in which nobody is yet. */
function undeployed(names: string[], last: string): Account {
  const account = new Account();
  for (const name of names) {
    account.databases.set(name, new DatabaseSync(':memory:'));
    account.migrate(name, last);
  }
  account.workers.set(
    'usage',
    names.map((name) => [name.slice('usage-'.length), account.databases.get(name)]),
  );
  return account;
}

/** What a deployment that is done prints at the end. */
const PROOF =
  'To see whether what is deployed keeps its promises, with an operator key of the role full: OPERATOR_KEY=… npm run verify -- URL\n';
const create = (binding: string, place = '') => `d1 create usage-${binding}${place}`;
const migrate = (binding: string) => `d1 migrations apply ${binding} --remote`;
const mark = (binding: string) => `d1 execute ${binding} --remote --command insert into identity …`;
const madeOf = (binding: string) => [create(binding), migrate(binding), mark(binding)];
const created = (...bindings: string[]) =>
  bindings.map((binding) => `Created the database usage-${binding} (${binding}).\n`).join('');
/** A deployment that stopped before it changed anything. */
const nothing = (line: string) => ({ code: 1, stdout: '', stderr: `${line}: nothing was changed.\n`, steps: [] });

describe('npm run deploy', () => {
  test('creates, migrates and marks each database, then uploads the Worker', () => {
    const account = new Account();
    expect(account.deploy(THREE)).toEqual({
      code: 0,
      stdout: created('DB', 'DB_1', 'DB_2') + PROOF,
      stderr: '',
      steps: [...madeOf('DB'), ...madeOf('DB_1'), ...madeOf('DB_2'), 'deploy'],
    });
    const [own] = account.identities()['usage-DB'] ?? [];
    expect(account.identities()).toEqual(
      Object.fromEntries(NAMES.map((name, number) => [name, [{ number, mark: own?.mark, worker: 'usage' }]])),
    );
    expect(own?.mark).toMatch(/^[0-9a-f]{32}$/);
  });

  test('migrates each the second time, creates and marks nothing, and uploads', () => {
    const account = deployed();
    const marks = account.identities();
    const steps = [migrate('DB'), migrate('DB_1'), migrate('DB_2'), 'deploy'];
    expect(account.deploy(THREE)).toEqual({ code: 0, stdout: PROOF, stderr: '', steps });
    expect(account.identities()).toEqual(marks);
  });

  test('says how to create an operator key where the Worker has none', () => {
    const account = deployed(ONE);
    account.secrets = ['OTHER', 'OPERATOR_KEY_10'];
    const line =
      'The service has no operator key. With one, your servers can record for every business: npm run -s admin -- operator-key create --record\n';
    expect(account.deploy(ONE)).toMatchObject({ code: 0, stdout: line + PROOF });
    // It is only a hint.
    expect(account.deploy(ONE, { fault: { at: 'secret list' } })).toMatchObject({ code: 0, stdout: PROOF, stderr: '' });
  });

  test('marks each service with a mark of its own', () => {
    const [one, other] = [deployed(ONE), deployed(ONE)].map((account) => account.identities()['usage-DB']?.[0]?.mark);
    expect(one).not.toBe(other);
  });

  test('creates databases in their places, and says that the place of one that exists does not change', () => {
    const account = new Account();
    const places = { DB_1: { jurisdiction: 'eu' }, DB_2: { location: 'apac' } };
    const { stdout, steps } = account.deploy(THREE, { places });
    expect(stdout).toBe(
      `Created the database usage-DB (DB).\nCreated the database usage-DB_1 (DB_1) with jurisdiction eu.\nCreated the database usage-DB_2 (DB_2) with location apac.\n${PROOF}`,
    );
    expect(steps.filter((step) => step.startsWith('d1 create'))).toEqual([
      create('DB'),
      create('DB_1', ' --jurisdiction eu'),
      create('DB_2', ' --location apac'),
    ]);
    expect(account.deploy(THREE, { places }).stdout).toBe(
      `usage-DB_1 (DB_1) exists already, so its jurisdiction does not change.\nusage-DB_2 (DB_2) exists already, so its location does not change.\n${PROOF}`,
    );
  });

  test.each([OLD, UNMARKED])('marks the databases of an earlier version, which has migrations up to %s', (last) => {
    const account = undeployed(NAMES, last);
    account.addOwner(7, 0, NAMES);
    account.addOwner(8, 1, NAMES);
    const steps = ['DB', 'DB_1', 'DB_2'].flatMap((binding) => [migrate(binding), mark(binding)]);
    expect(account.deploy(THREE)).toEqual({ code: 0, stdout: PROOF, stderr: '', steps: [...steps, 'deploy'] });
    expect(Object.values(account.identities()).map(([own]) => own?.number)).toEqual([0, 1, 2]);
  });

  test('creates a database that is bound for the first time', () => {
    const account = deployed(ONE);
    expect(account.deploy(THREE)).toEqual({
      code: 0,
      stdout: created('DB_1', 'DB_2') + PROOF,
      stderr: '',
      steps: [migrate('DB'), ...madeOf('DB_1'), ...madeOf('DB_2'), 'deploy'],
    });
  });

  test('creates a database again that was deleted before anybody was in it', () => {
    const account = deployed();
    account.databases.delete('usage-DB_2');
    const steps = [migrate('DB'), migrate('DB_1'), ...madeOf('DB_2'), 'deploy'];
    expect(account.deploy(THREE)).toEqual({ code: 0, stdout: created('DB_2') + PROOF, stderr: '', steps });
  });

  test('gives a database its mark again after it was restored to the time before', () => {
    const account = deployed();
    const marks = account.identities();
    account.database('usage-DB').exec('delete from identity');
    expect(account.deploy(THREE).code).toBe(0);
    expect(account.identities()).toEqual(marks);
  });
});

/** THREE with other names of databases. */
const named = (names: Record<string, string>) =>
  TOML + ['DB', 'DB_1', 'DB_2'].map((binding) => block(binding, names[binding])).join('');

describe('npm run deploy changes nothing where', () => {
  // First with the deployed Worker, which says what its databases are; then without it, when only the databases can tell.
  test.each<[string, string, string, string]>([
    [
      'the name of DB is another, and the others are there',
      named({ DB: 'new' }),
      'The Worker usage uses usage-DB as DB, not new',
      'new (DB) does not exist, but usage-DB_1 (DB_1) exists',
    ],
    [
      'the name of DB_1 is another, and an owner is in it',
      named({ DB_1: 'new' }),
      'The Worker usage uses usage-DB_1 as DB_1, not new',
      'Owners have their data in DB_1, but new (DB_1) does not exist',
    ],
    [
      'two names are exchanged',
      named({ DB_1: 'usage-DB_2', DB_2: 'usage-DB_1' }),
      'The Worker usage uses usage-DB_1 as DB_1, not usage-DB_2',
      'usage-DB_2 (DB_1) is the database DB_2 of the service',
    ],
    [
      'the name of DB is exchanged',
      named({ DB: 'usage-DB_1', DB_1: 'usage-DB' }),
      'The Worker usage uses usage-DB as DB, not usage-DB_1',
      'usage-DB_1 (DB) is the database DB_1 of the service',
    ],
    [
      'all names are exchanged',
      named({ DB: 'usage-DB_1', DB_1: 'usage-DB_2', DB_2: 'usage-DB' }),
      'The Worker usage uses usage-DB as DB, not usage-DB_1',
      'usage-DB_1 (DB) is the database DB_1 of the service',
    ],
    [
      'a binding has another number',
      THREE.replace('"DB_1"', '"DB_3"'),
      'The Worker usage uses usage-DB_1 as DB_1, which the configuration does not bind',
      'Owners have their data in DB_1, which the configuration does not bind',
    ],
    [
      'a database with an owner is not bound',
      TOML + block('DB') + block('DB_2'),
      'The Worker usage uses usage-DB_1 as DB_1, which the configuration does not bind',
      'Owners have their data in DB_1, which the configuration does not bind',
    ],
    [
      'the Worker has another name',
      THREE.replace('name = "usage"', 'name = "copy"'),
      'usage-DB (DB) is a database of the Worker usage, not of copy',
      'usage-DB (DB) is a database of the Worker usage, not of copy',
    ],
  ])('%s', (_, toml, withWorker, withoutWorker) => {
    const account = deployed();
    expect(account.deploy(toml)).toEqual(nothing(withWorker));
    account.workers.clear();
    expect(account.deploy(toml)).toEqual(nothing(withoutWorker));
  });

  test('the name of the only database is another, whatever database has that name', () => {
    const renamed = TOML + block('DB', 'new');
    const line = 'The Worker usage uses usage-DB as DB, not new';
    const account = deployed(ONE);
    expect(account.deploy(renamed)).toEqual(nothing(line));
    account.databases.set('new', new DatabaseSync(':memory:'));
    expect(account.deploy(renamed)).toEqual(nothing(line)); // an empty one
    account.migrate('new', UNMARKED);
    expect(account.deploy(renamed)).toEqual(nothing(line)); // left by a deployment of an earlier version
    account.addOwner(9, 0, ['new']);
    expect(account.deploy(renamed)).toEqual(nothing(line)); // of another copy of the service
    account.migrate('new');
    account.database('new').exec("insert into identity select 0, 'another', 'usage'");
    expect(account.deploy(renamed)).toEqual(nothing(line)); // marked
  });

  test('the only database was deleted', () => {
    const account = deployed(ONE);
    account.databases.clear();
    const line = 'usage-DB (DB) does not exist, but the Worker usage is deployed already';
    expect(account.deploy(ONE)).toEqual(nothing(line));
    account.databases.set('usage-DB', new DatabaseSync(':memory:'));
    expect(account.deploy(ONE)).toEqual(nothing(line.replace('does not exist', 'is empty')));
  });

  test('a part of the visitors has a version with another database', () => {
    const account = deployed(ONE);
    account.databases.set('old', new DatabaseSync(':memory:'));
    account.oldVersion = [['DB', account.databases.get('old')]];
    expect(account.deploy(ONE)).toEqual(nothing('The Worker usage uses old as DB, not usage-DB'));
  });

  test('the claims of the owners are lost, and a name is another', () => {
    const account = deployed();
    account.database('usage-DB').exec('delete from homes');
    expect(account.deploy(named({ DB_1: 'new' }))).toEqual(
      nothing('The Worker usage uses usage-DB_1 as DB_1, not new'),
    );
  });

  test('another database is empty or of another service, and the one before was deleted', () => {
    const account = deployed();
    account.databases.delete('usage-DB_1');
    account.databases.set('new', new DatabaseSync(':memory:'));
    const renamed = named({ DB_1: 'new' });
    expect(account.deploy(renamed)).toEqual(nothing('Owners have their data in DB_1, but new (DB_1) is empty'));
    account.migrate('new', UNMARKED);
    expect(account.deploy(renamed)).toEqual(nothing('Owners have their data in DB_1, but new (DB_1) is empty'));
    account.migrate('new');
    account.database('new').exec("insert into identity values (1, 'another', 'usage')");
    expect(account.deploy(renamed)).toEqual(
      nothing('new (DB_1) and usage-DB (DB) are databases of different services'),
    );
    account.database('new').exec('delete from identity');
    account.database('new').exec(`insert into identity select 1, '${account.mark('usage-DB')}', 'usage'`);
    expect(account.deploy(renamed)).toEqual(nothing('Owners have their data in DB_1, but new (DB_1) is empty'));
  });

  test('a database has tables of something else', () => {
    const account = new Account();
    account.databases.set('usage-DB', new DatabaseSync(':memory:'));
    account.database('usage-DB').exec('create table posts (id integer); create table _cf_KV (key text)');
    expect(account.deploy(ONE)).toEqual(nothing('usage-DB (DB) has tables that are not of this service: posts'));
  });

  test.each([OLD, UNMARKED])('two names of an earlier version, up to %s, are exchanged', (last) => {
    const account = undeployed(NAMES, last);
    account.addOwner(7, 0, NAMES);
    account.addOwner(8, 1, NAMES);
    const [first, second] = [
      named({ DB: 'usage-DB_1', DB_1: 'usage-DB' }),
      named({ DB_1: 'usage-DB_2', DB_2: 'usage-DB_1' }),
    ];
    expect(account.deploy(first)).toEqual(nothing('The Worker usage uses usage-DB as DB, not usage-DB_1'));
    expect(account.deploy(second)).toEqual(nothing('The Worker usage uses usage-DB_1 as DB_1, not usage-DB_2'));
    account.workers.clear();
    expect(account.deploy(first)).toEqual(nothing('usage-DB_1 (DB) has the ids of DB_1'));
    expect(account.deploy(second)).toEqual(nothing('usage-DB (DB) is in use, but not by the Worker usage'));
  });

  test('a copy of an earlier version has another name, and the database of the first', () => {
    const account = undeployed(['usage-DB'], OLD);
    account.addOwner(7, 0, NAMES);
    const line = 'usage-DB (DB) is in use, but not by the Worker copy';
    expect(account.deploy(ONE.replace('name = "usage"', 'name = "copy"'))).toEqual(nothing(line));
  });

  test('a database without a mark is that of a copy, whatever it is bound as', () => {
    const other = (account: Account, ...names: string[]) => {
      for (const name of names) {
        account.databases.set(name, new DatabaseSync(':memory:'));
        account.migrate(name, UNMARKED);
      }
      account.addOwner(9, names.length - 1, names);
      return account;
    };
    const line = (label: string) => nothing(`${label} is in use, but not by the Worker usage`);
    // As another database, and in the place of one that was deleted.
    const added = other(deployed(ONE), 'copy', 'copy-1');
    expect(added.deploy(ONE + block('DB_1', 'copy-1'))).toEqual(line('copy-1 (DB_1)'));
    // With a first deployment, and with a Worker that has only a secret.
    const first = other(new Account(), 'copy');
    expect(first.deploy(TOML + block('DB', 'copy'))).toEqual(line('copy (DB)'));
    first.workers.set('usage', []);
    expect(first.deploy(TOML + block('DB', 'copy'))).toEqual(line('copy (DB)'));
    const second = other(new Account(), 'copy', 'copy-1');
    expect(second.deploy(named({ DB: 'copy', DB_1: 'copy-1' }))).toEqual(line('copy-1 (DB_1)'));
  });

  test('a database is taken away, and the claims of the owners are lost', () => {
    const account = deployed();
    account.database('usage-DB').exec('delete from homes');
    const line = 'The Worker usage uses usage-DB_2 as DB_2, which the configuration does not bind';
    expect(account.deploy(TOML + block('DB') + block('DB_1'))).toEqual(nothing(line));
    account.databases.delete('usage-DB_2');
    expect(account.deploy(TOML + block('DB') + block('DB_1'))).toMatchObject({ code: 0, stderr: '' });
  });

  test('a database has an id, which could be that of another', () => {
    const toml = ONE.replace('database_name', 'database_id = "uuid-9"\ndatabase_name');
    const stderr = 'Remove database_id of DB: a deployment finds the database by its name.\n';
    expect(deployed(ONE).deploy(toml)).toEqual({ code: 1, stdout: '', stderr, steps: [] });
  });
});

describe('npm run deploy changes nothing where alerts could not be sent:', () => {
  const BOUND = '[[services]]\nbinding = "ALERTS"\nservice = "product"\n';
  const RULE =
    'must be an https URL (http only for localhost, 127.0.0.1 and [::1]) of at most 2048 characters, without credentials, spaces or control characters';
  test.each([
    ['the address is not encrypted', '[vars]\nALERT_URL = "http://product.example/"\n', `ALERT_URL ${RULE}.`],
    ['the address is empty', '[vars]\nALERT_URL = ""\n', `ALERT_URL ${RULE}.`],
    ['the address is no text', '[vars]\nALERT_URL = 1\n', `ALERT_URL ${RULE}.`],
    [
      'there are two receivers',
      `[vars]\nALERT_URL = "https://product.example/"\n${BOUND}`,
      'Remove ALERT_URL or the service ALERTS: alerts have one receiver.',
    ],
    [
      'the secret is in the file',
      '[vars]\nALERT_SECRET = "whsec_1"\n',
      'Remove ALERT_SECRET from [vars], and store it: npx wrangler secret put ALERT_SECRET',
    ],
  ])('%s', (_, lines, stderr) => {
    const ended = deployed(ONE).deploy(ONE + lines);
    expect(ended).toEqual({ code: 1, stdout: '', stderr: `${stderr}\n`, steps: [] });
  });

  test.each([
    ['an address', '[vars]\nALERT_URL = "https://product.example/hooks?key=1"\nOTHER = 1\n'],
    ['a service', BOUND],
    ['neither', '[[services]]\nbinding = "OTHER"\nservice = "product"\n'],
  ])('%s is right', (_, lines) => {
    expect(deployed(ONE).deploy(ONE + lines)).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('npm run deploy goes on where', () => {
  /** What docs/operating.md says to run on a database, with these texts in place of its own. */
  function documented(start: string, ...texts: [string, string][]): string {
    const document = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8');
    const [, sql = ''] = new RegExp(`--command "(${start}.*?)"`).exec(document) ?? [];
    expect(
      texts.every(([own]) => sql.includes(own)),
      sql,
    ).toBe(true);
    return texts.reduce((text, [own, other]) => text.replace(own, other), sql);
  }

  test('the Worker has another name, which was written into each database as docs/operating.md says', () => {
    const account = deployed();
    const copy = THREE.replace('name = "usage"', 'name = "copy"');
    for (const name of NAMES) account.database(name).exec(documented('update identity', ['new-name', 'copy']));
    expect(account.deploy(copy)).toMatchObject({ code: 0, stderr: '' });
    expect(account.workers.has('copy')).toBe(true);
  });

  test('the Worker was deleted, and the database was marked as docs/operating.md says', () => {
    const account = undeployed(['usage-DB'], UNMARKED);
    account.addOwner(7, 0, NAMES);
    account.workers.clear();
    expect(account.deploy(ONE)).toEqual(nothing('usage-DB (DB) is in use, but not by the Worker usage'));
    account.migrate('usage-DB');
    account.database('usage-DB').exec(documented('insert into identity', ['business-usage-access', 'usage']));
    expect(account.deploy(ONE)).toMatchObject({ code: 0, stderr: '' });
  });

  test('the Worker has no database yet: a secret was stored before the first deployment', () => {
    const account = new Account();
    account.workers.set('usage', []);
    expect(account.deploy(ONE)).toMatchObject({ code: 0, steps: [...madeOf('DB'), 'deploy'] });
  });

  test('a database was restored into another, and the one before was deleted', () => {
    const account = deployed();
    account.databases.set('copy', account.database('usage-DB_1'));
    account.databases.delete('usage-DB_1');
    expect(account.deploy(named({ DB_1: 'copy' }))).toMatchObject({ code: 0, stderr: '' });
  });

  test('a claim was interrupted, so that an owner is in a database without anything', () => {
    const account = undeployed(NAMES, UNMARKED);
    account.database('usage-DB').exec('insert into homes (user_id, database) values (7, 2)');
    expect(account.deploy(THREE)).toMatchObject({ code: 0, stderr: '' });
  });

  test('the first migration was interrupted, so that only the tables of D1 are there', () => {
    const account = new Account();
    account.databases.set('usage-DB', new DatabaseSync(':memory:'));
    account.database('usage-DB').exec('create table d1_migrations (name text unique); create table _cf_KV (key text)');
    expect(account.deploy(ONE)).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('npm run deploy stops', () => {
  const own = { at: '', says: 'fetch failed\n\n' };
  test.each<[string, string, string, string[]]>([
    ['the databases cannot be listed', 'd1 list', 'The databases: fetch failed', []],
    ['a database cannot be read', 'd1 execute DB --remote --command select', 'usage-DB (DB): fetch failed', []],
    [
      'a database cannot be created',
      'd1 create usage-DB_1',
      'usage-DB_1 (DB_1): fetch failed',
      [migrate('DB'), create('DB_1')],
    ],
    [
      'a database cannot be marked',
      'd1 execute DB_1 --remote --command insert',
      'usage-DB_1 (DB_1): fetch failed',
      [migrate('DB'), ...madeOf('DB_1')],
    ],
  ])('where %s, with one line, and goes on the next time', (_, at, line, steps) => {
    const account = deployed(ONE);
    const stderr = `${line}\n`;
    expect(account.deploy(THREE, { fault: { ...own, at } })).toMatchObject({ code: 1, stderr, steps });
    expect(account.deploy(THREE)).toMatchObject({ code: 0, stderr: '' });
  });

  test('not where the Worker exists without a deployment', () => {
    const fault = { at: 'deployments status', says: 'The Worker usage has no deployments.\n' };
    expect(new Account().deploy(ONE, { fault })).toMatchObject({ code: 0, steps: [...madeOf('DB'), 'deploy'] });
  });

  test('where it cannot be told whether the Worker is deployed, or with what', () => {
    const unknown = { at: 'versions view', says: 'fetch failed\n' };
    expect(deployed(ONE).deploy(ONE, { fault: unknown })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The Worker usage: fetch failed\n',
      steps: [],
    });
    const fault = { at: 'deployments status', says: 'fetch failed\n' };
    expect(new Account().deploy(ONE, { fault })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The Worker usage: fetch failed\n',
      steps: [],
    });
  });

  test('before the upload where a migration fails', () => {
    const account = deployed();
    const { code, stderr, steps } = account.deploy(THREE, { fault: { at: 'd1 migrations apply DB_1' } });
    const line = 'The migrations of usage-DB_1 (DB_1) were not applied: nothing was uploaded.\n';
    expect({ code, stderr, steps }).toEqual({ code: 1, stderr: line, steps: [migrate('DB'), migrate('DB_1')] });
  });

  test('before the upload where another deployment marks a database at the same time', () => {
    const account = undeployed(['usage-DB'], UNMARKED);
    const migrateOnly = account.migrate.bind(account);
    account.migrate = (name) => {
      migrateOnly(name);
      account.database(name).exec("insert into identity values (0, 'theirs', 'usage')");
    };
    expect(account.deploy(ONE)).toMatchObject({
      code: 1,
      stderr: 'usage-DB (DB) was marked by another deployment at the same time: nothing was uploaded.\n',
      steps: [migrate('DB'), mark('DB')],
    });
  });

  test('where the upload fails', () => {
    expect(deployed().deploy(THREE, { fault: { at: 'deploy' } })).toMatchObject({
      code: 1,
      stderr: 'wrangler deploy failed.\n',
    });
  });

  test('with how to log in where nobody is logged in', () => {
    const account = new Account();
    account.isLoggedIn = false;
    const fault = { at: 'd1 list', says: 'In a non-interactive environment, …\n' };
    expect(account.deploy(ONE, { fault })).toEqual({ code: 1, stdout: '', stderr: LOGIN, steps: [] });
  });

  // Wherever the first deployment is interrupted, the next one goes on, and all is as after one that was not.
  const first = [...madeOf('DB'), ...madeOf('DB_1'), ...madeOf('DB_2'), 'deploy'];
  test.each(first.map((step, index) => [step, index] as const))(
    'at %s of a first deployment, and goes on the next time',
    (step, index) => {
      const account = new Account();
      const interrupted = account.deploy(THREE, { fault: { at: step.replace(' …', ''), says: 'interrupted\n' } });
      expect(interrupted).toMatchObject({ code: 1, steps: first.slice(0, index + 1) });
      expect(account.workers.size).toBe(0);
      expect(account.deploy(THREE)).toMatchObject({ code: 0, stderr: '' });
      expect(Object.values(account.identities()).map((rows) => rows.map(({ number }) => number))).toEqual([
        [0],
        [1],
        [2],
      ]);
    },
  );
});

describe('the options of npm run deploy', () => {
  test('--config is for every step, and the others for the upload', () => {
    const project = projectWith(ONE, { DB: { location: 'weur' } });
    const file = join(project, 'other.toml');
    writeFileSync(file, THREE);
    for (const given of [['--config', 'other.toml'], ['-c', 'other.toml'], [`--config=${file}`]]) {
      const account = new Account();
      const options = ['--domain', 'a.example', '--domain=b.example', '--tag', 'v2', '--message', 'Second'];
      const { code, stdout } = account.deployProject(project, [...options, ...given]);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: `Created the database usage-DB (DB) with location weur.\n${created('DB_1', 'DB_2')}${PROOF}`,
      });
      const upload = ['deploy', '--domain=a.example', '--domain=b.example', '--tag=v2', '--message=Second'];
      expect(account.calls.at(-2)?.slice(0, -2)).toEqual(upload);
      expect(new Set(account.calls.map((words) => words.slice(-2).join(' ')))).toEqual(new Set([`--config ${file}`]));
    }
  });

  const TAKES = 'npm run deploy takes --config FILE, --domain HOST (once or more), --tag TEXT and --message TEXT';
  test.each([
    ['--dry-run', `${TAKES}, but not --dry-run. To build only: npm run build.`],
    ['--dry-run=true', `${TAKES}, but not --dry-run. To build only: npm run build.`],
    ['--env eu', `${TAKES}, but not --env. Use a configuration of its own: --config FILE.`],
    ['--env=eu', `${TAKES}, but not --env. Use a configuration of its own: --config FILE.`],
    ['-e eu', `${TAKES}, but not -e. Use a configuration of its own: --config FILE.`],
    ['-eeu', `${TAKES}, but not -e. Use a configuration of its own: --config FILE.`],
    ['--help', `${TAKES}, but not --help.`],
    ['-h', `${TAKES}, but not -h.`],
    ['--profile other', `${TAKES}, but not --profile.`],
    ['--cwd /tmp', `${TAKES}, but not --cwd.`],
    ['--dryRun', `${TAKES}, but not --dryRun.`],
    ['--no-dry-run', `${TAKES}, but not --no-dry-run.`],
    ['-- --dry-run', `${TAKES}, but not --.`],
    ['src/index.ts', `${TAKES}, but not src/index.ts.`],
    ['--typo', `${TAKES}, but not --typo.`],
    ['--constructor', `${TAKES}, but not --constructor.`],
    ['--name other', `${TAKES}, but not --name.`],
    ['--no-config', `${TAKES}, but not --no-config.`],
    ['-c a.toml --config b.toml', '--config is given 2 times.'],
    ['--tag a --tag b', '--tag is given 2 times.'],
    ['--config', '--config needs a value.'],
    ['--config=', '--config needs a value.'],
    ['--config --domain a.example', '--config needs a value.'],
    ['--config none.toml', `Could not read file: PROJECT/none.toml`],
  ])('%s changes nothing, and says why in one line', (args, line) => {
    const project = projectWith(ONE);
    const stderr = `${line.replace('PROJECT', project)}\n`;
    expect(new Account().deployProject(project, args.split(' '))).toEqual({ code: 1, stdout: '', stderr, steps: [] });
  });
});

describe('npm run deploy does nothing with a configuration where', () => {
  test.each<[string, string, object | undefined, string]>([
    ['DB is not bound', TOML + block('DB_1'), undefined, 'The configuration binds no database DB.'],
    ['a name is missing', TOML + block('DB') + block('DB_1', ''), undefined, 'The database DB_1 has no database_name.'],
    [
      'the Worker has no name',
      ONE.replace('name = "usage"', ''),
      undefined,
      'PROJECT/wrangler.toml gives the Worker no name.',
    ],
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
      `The migrations_dir of DB_1 is ${join('PROJECT', '../other')}. It must be PROJECT/migrations.`,
    ],
    [
      'a place is for no database',
      THREE,
      { DB_3: { location: 'weur' } },
      'package.json: config.databases.DB_3 is for a database that the configuration does not bind.',
    ],
    ...['DB_62', 'DB_01', 'DB1', 'DB_0', 'db_1', 'DB-1'].map((name): [string, string, undefined, string] => [
      `a database is bound as ${name}`,
      ONE + block(name),
      undefined,
      `PROJECT/wrangler.toml binds a database as ${name}. The names are DB, DB_1, DB_2, and so on up to DB_61.`,
    ]),
  ])('%s, and says so in one line', (_, toml, places, line) => {
    const project = projectWith(toml, places);
    const said = line.replaceAll('PROJECT', project).replace(join('PROJECT', '../other'), join(project, '../other'));
    expect(new Account().deployProject(project)).toEqual({ code: 1, stdout: '', stderr: `${said}\n`, steps: [] });
  });
});

describe('npm run deploy without limits for refused origins', () => {
  test.each([
    ['REFUSED_ORIGIN_LIMIT', limit('REFUSED_BUSINESS_LIMIT')],
    ['REFUSED_BUSINESS_LIMIT', limit('REFUSED_ORIGIN_LIMIT')],
    ['REFUSED_ORIGIN_LIMIT and REFUSED_BUSINESS_LIMIT', limit('ADDRESS_LIMIT')],
  ])('warns in one line that %s is missing, and goes on', (missing, limits) => {
    expect(new Account().deploy(BARE + limits + block('DB'))).toEqual({
      code: 0,
      stdout: created('DB') + PROOF,
      stderr: `Warning: without a [[ratelimits]] block ${missing}, each refused origin is written to the database.\n`,
      steps: [...madeOf('DB'), 'deploy'],
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
  function run(plays: Record<string, { code?: number; stdout?: string; stderr?: string }>, ...args: string[]) {
    const folder = newFolder();
    writeFileSync(join(folder, 'wrangler'), STAND_IN, { mode: 0o755 });
    writeFileSync(join(folder, 'wrangler.cmd'), '@node "%~dp0wrangler" %*\r\n');
    writeFileSync(join(folder, 'plays'), JSON.stringify(plays));
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
    const script = join(ROOT, 'src/tools/deploy.ts');
    const ended = spawnSync(process.execPath, [script, ...args], { cwd: folder, env, input: 'yes', encoding: 'utf8' });
    const calls = readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n');
    return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr, calls };
  }
  const rows = (...results: object[]) => ({ stdout: JSON.stringify([{ results, success: true, meta: {} }]) });
  const NAME = 'business-usage-access';
  const plays = {
    'd1 list': { stdout: JSON.stringify([{ name: NAME, uuid: 'a' }]), stderr: 'not shown\n' },
    deployments: { code: 1, stderr: 'This Worker does not exist on your account. [code: 10007]' },
    'd1 execute DB --remote --command select name': rows({ name: 'businesses' }, { name: 'identity' }),
    'd1 execute DB --remote --command select (': rows({
      lastId: 1,
      identity: JSON.stringify({ number: 0, mark: 'a', worker: NAME }),
      homes: '[0]',
    }),
    'd1 migrations': { stdout: 'applied\n', stderr: 'with care\n' },
    deploy: { stdout: 'live\n', stderr: 'at last\n' },
    'secret list': { stdout: '[{"name":"OPERATOR_KEY_1"}]' },
  };
  const commands = (calls: string[]) =>
    calls.map((call) => call.replace(/ (select|--json|--config) .*?(?= < yes|$)/, ''));

  test('shows what wrangler prints of the migrations and of the upload, which alone may ask, and ends with 0', () => {
    const { calls, ...ended } = run(plays, '--domain', 'usage.example.com');
    expect(ended).toEqual({ code: 0, stdout: `applied\nlive\n${PROOF}`, stderr: 'with care\nat last\n' });
    const read = 'd1 execute DB --remote --command';
    const migrate = 'd1 migrations apply DB --remote';
    expect(commands(calls)).toEqual([
      'd1 list',
      'deployments status',
      read,
      read,
      migrate,
      'deploy --domain=usage.example.com < yes',
      'secret list',
    ]);
  });

  test('says on stderr what is wrong, and ends with 1', () => {
    const config = join(newFolder(), 'other.toml');
    const migrations = JSON.stringify(join(ROOT, 'migrations'));
    const toml = BARE + limit('REFUSED_ORIGIN_LIMIT') + block('DB', NAME, `migrations_dir = ${migrations}`);
    writeFileSync(config, toml);
    const { calls, ...ended } = run(plays, '--config', config);
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: [
        'Warning: without a [[ratelimits]] block REFUSED_BUSINESS_LIMIT, each refused origin is written to the database.',
        `${NAME} (DB) is a database of the Worker ${NAME}, not of usage: nothing was changed.`,
        '',
      ].join('\n'),
    });
    expect(calls.every((call) => call.endsWith(` --config ${config}`))).toBe(true);
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

test('wrangler has what the stand-in says of a Worker that is not deployed', () => {
  const wrangler = readFileSync(join(ROOT, 'node_modules/wrangler/wrangler-dist/cli.js'), 'utf8');
  // The text of an error of the API ends with [code: 10007].
  const texts = ['[code: $', 'WORKER_NOT_FOUND_ERR_CODE = 10007;', ' has no deployments.'];
  expect(texts.filter((text) => !wrangler.includes(text))).toEqual([]);
});
