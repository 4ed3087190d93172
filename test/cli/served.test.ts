// Runs every command against a real service with one database and with three.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { commandLineOf } from '../../src/cli/command-line.ts';
import { createOperatorKey } from '../../src/cli/operator-keys.ts';
import { dayOf } from '../../src/core/time.ts';
import { codesIn, read } from '../docs/document.ts';
import { type Service, startService, withDatabases } from '../node/server.ts';
import { newFolder } from '../node/state.ts';
import { inProcess, KEY, printed, runAdmin } from './stub.ts';
import { threeDatabases } from './support.ts';

/** Valid values of the options for which `--help` prints none. */
const VALUES: Record<string, string> = {
  ...{ '--name': 'Acme', '--main-domain': 'acme.example', '--site': 'https://acme.example', '--size': 'small' },
  ...{ '--confirm': 'Acme', '--token': 'T', '--daily-limit': '1000', '--monthly-limit': 'none', '--billing-day': '15' },
  ...{ '--overage': 'none', '--status': 'active', '--database': '1', '--action': 'rotate_token', '--search': 'acme' },
  ...{ '--by': 'source', '--source': 'https://a.example', '--role': 'read', '--minutes': '60', '--as': 'Anna' },
  ...{ '--return-url': 'https://product.example/settings', '--from': '2026-01-01', '--to': '2026-01-31' },
  ...{ '--ended': '2026-01-31', '--expires': '2096-01-31' },
};
/** The usages that `--help` prints, with values for all options. */
const ROWS = [...(commandLineOf(['--help']) as { help: string }).help.matchAll(/^ {2}(\S.*)$/gm)].map(([, row = '']) =>
  row.replace(/(--[\w-]+) (?:…|YYYY-MM-DD)/g, (_, option) => `${option} ${VALUES[option]}`),
);
/** Returns the command with only its required options, and then once with each optional one. */
const commandsIn = (row: string): string[] => {
  const needed = row.replace(/ \[[^\]]*\]/g, '');
  const options = [...row.matchAll(/\[([^\]]*)\]/g)].map(([, option]) => `${needed} ${option}`);
  return needed === 'business update ID' ? options : [needed, ...options]; // requires at least one option
};
/** Splits a line as a shell does. */
const wordsOf = (line: string) => [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);

const HISTORY = join(newFolder(), 'history.csv');
writeFileSync(HISTORY, 'date,count\n2026-01-30,120\n2026-01-31,7\n');
const ACME = [
  ...['--name', 'Acme', '--main-domain', 'acme.example', '--site', 'https://acme.example'],
  ...['--country', '1', '--size', 'small'],
];
const create = (user: number) => ['business', 'create', '--user', `${user}`, ...ACME];

describe.each([1, 3])('on %i database(s)', (count) => {
  let service: Service;
  let env: Record<string, string>;
  let recorder: Record<string, string>;
  beforeAll(async () => {
    const { 'persist-to': state } = await threeDatabases();
    const [full, record] = await Promise.all([
      createOperatorKey('full', 'OPERATOR_KEY_1'),
      createOperatorKey('record', 'OPERATOR_KEY_2'),
    ]);
    const secrets = { OPERATOR_KEY_1: full.secret, OPERATOR_KEY_2: record.secret };
    service = await startService(state, count === 1 ? { secrets } : { secrets, config: withDatabases(count) });
    env = { API: `${service.url}/api/v1`, OPERATOR_KEY: full.operator_key };
    recorder = { ...env, OPERATOR_KEY: record.operator_key };
  });
  afterAll(() => service?.stop());

  /** Replaces the placeholders in a usage. Each command gets its own business and key. */
  async function argvOf(command: string): Promise<string[]> {
    const { id } = await printed(env, ...create(7));
    const { access_list } = await printed(env, 'access', 'add', `${id}`, 'https://a.example', 'https://b.example');
    const key = await printed(env, 'key', 'create', '--user', '7');
    const values: Record<string, string> = {
      ...{ ID: `${command.startsWith('key revoke') ? key.id : id}`, ENTRY_ID: `${access_list[0].id}`, FILE: HISTORY },
      ...{ STATUS: 'suspended', ORIGIN: 'https://a.example', 'SITE…': 'https://c.example', 'USE=QUANTITY…': 'job-1=0' },
      T: `imported-token-of-business-${id}`,
    };
    const words = wordsOf(command).map((word) => values[word] ?? word);
    const give = (option: string, value: string) => {
      if (words.includes(option)) words[words.indexOf(option) + 1] = value;
    };
    give('--id', `${id + 1000}`);
    give('--business', `${id}`);
    give('--expires', dayOf(new Date()));
    if (words.includes('--database')) give('--user', `${70 + count}`); // a new user
    return words;
  }

  const allowed = (row: string) => !/^operator-key/.test(row);
  test.each(ROWS.flatMap(commandsIn))('%s succeeds unless it names an unbound database', async (command) => {
    const argv = await argvOf(command);
    const isAlone = count === 1 && !command.includes(' --'); // others run in this process: starting one takes a second
    const { code, stdout, stderr } = await (isAlone ? runAdmin : inProcess)(env, ...argv);
    const isUnbound = count === 1 && command.includes('--database');
    expect({ code, stderr }).toEqual({
      code: isUnbound ? 1 : 0,
      stderr: allowed(command) ? expect.stringMatching(isUnbound ? /\n.*database/ : /^127\.0\.0\.1:\d+\n$/) : '',
    });
    expect(stdout).toMatch(isUnbound ? /^$/ : /^\{.*\}\n$/);
  });

  test.each(ROWS.filter(allowed).map((row) => commandsIn(row)[0] as string))(
    '%s fails with a key that lacks permission',
    async (command) => {
      const argv = await argvOf(command);
      await expect(printed({ ...env, OPERATOR_KEY: KEY }, ...argv)).rejects.toThrow(/^Unauthenticated\.$/);
      const reads = /^usage (show|totals|lower)/.test(command);
      if (reads) expect(await printed(recorder, ...argv)).toEqual(await printed(env, ...argv));
      else await expect(printed(recorder, ...argv)).rejects.toThrow(/can only record\.$/);
    },
  );

  test('usage import is idempotent, and imports nothing from a file with an invalid line', async () => {
    const { id } = await printed(env, ...create(7));
    const report = async () => {
      const { used } = await printed(env, 'usage', 'show', `${id}`, '--from', '2026-01-29', '--to', '2026-01-31');
      return used.map(({ count }: { count: number }) => count);
    };
    const importing = (...more: string[]) => printed(env, 'usage', 'import', `${id}`, HISTORY, ...more);
    for (let time = 1; time <= 2; time++) expect(await importing()).toEqual({ days: 2, uses: 127 });
    const other = join(newFolder(), 'other.csv');
    writeFileSync(other, `2026-01-29,1\n2026-01-31,8\n${dayOf(new Date())},1\n2026-01-29,2\n`);
    await expect(printed(env, 'usage', 'import', `${id}`, other)).rejects.toThrow(
      /^line 2 2026-01-31 already has a count of 7: use --replace to overwrite it\nline 3 date must be a date before today \(.*\)\nline 4 date must not repeat line 1$/,
    );
    expect(await report()).toEqual([0, 120, 7]);
  });

  describe('user export', () => {
    const linesOf = async (user: number) =>
      (await printed(env, 'user', 'export', `${user}`)).match(/.+\n/g).map((line: string) => JSON.parse(line));

    test('prints everything that the lists contain about a user with two businesses', async () => {
      const user = 90 + count;
      await printed(env, 'key', 'create', '--user', `${user}`);
      const first = await printed(env, ...create(user), '--sites', 'https://a.example', '--daily-limit', '1');
      const second = await printed(env, ...create(user));
      await printed(env, 'business', 'rotate-token', `${second.id}`, '--keep-old', '1d');
      const history = join(newFolder(), 'history.csv');
      writeFileSync(history, '1999-12-31,3\n2026-01-30,0\n2026-01-31,7\n');
      await printed(env, 'usage', 'import', `${second.id}`, history);
      const use = (method: string, Origin: string, { id, token } = first) =>
        fetch(`${env.API}/business/usage/${id}`, { method, headers: { Authorization: `Bearer ${token}`, Origin } });
      const recorded = (await (await use('POST', 'https://a.example')).json()) as { data: { date: string } };
      const { date } = recorded.data;
      expect((await use('GET', 'https://b.example')).status).toBe(403);
      const { token } = await printed(env, 'business', 'show', `${second.id}`);
      expect((await use('GET', 'https://b.example', { id: second.id, token })).status).toBe(200);
      const seen = ({ id }: { id: number }, list: string) =>
        vi.waitFor(async () => {
          const { [list]: one, ...other } = await printed(env, 'access', 'refused', `${id}`);
          expect([one.length, Object.values(other)]).toEqual([1, [[]]]); // stored after the response
          return one.map((entry: object) => ({ type: `${list}_origin`, business_id: id, ...entry }));
        });
      const [refused, letIn] = [await seen(first, 'refused'), await seen(second, 'let_in')];

      const ofBusiness = async ({ id }: { id: number }, counts: object[], origins: object[]) => {
        const { access_list, token, ...business } = await printed(env, 'business', 'show', `${id}`);
        const { alerts } = await printed(env, 'alerts', 'list', `${id}`);
        const { changes } = await printed(env, 'changes', 'list', `${id}`);
        return [
          { type: 'business', ...business, token: `…${token.slice(-4)}` },
          ...access_list.map((entry: object) => ({ type: 'site', ...entry })),
          ...counts.map((entry) => ({ type: 'count', business_id: id, ...entry })),
          ...origins,
          ...alerts.map((entry: object) => ({ type: 'alert', ...entry })),
          ...changes.map((entry: object) => ({ type: 'change', business_id: id, ...entry })),
        ];
      };
      const { keys } = await printed(env, 'key', 'list', '--user', `${user}`);
      const { changes } = await printed(env, 'changes', 'list', '--user', `${user}`);
      const imported = [
        { date: '1999-12-31', count: 3 },
        { date: '2026-01-31', count: 7 },
      ];
      const lines = await linesOf(user);
      expect(lines).toEqual([
        ...keys.map((entry: object) => ({ type: 'key', ...entry })),
        ...changes.map((entry: object) => ({ type: 'change', business_id: null, ...entry })),
        ...(await ofBusiness(first, [{ date, count: 1 }], refused)),
        ...(await ofBusiness(second, imported, letIn)),
        { type: 'end' },
      ]);
      const [, documented = ''] = /each with a `type`: (.*?)\. The last line/s.exec(read('docs/operating.md')) ?? [];
      const types = codesIn(documented);
      expect(new Set(lines.map(({ type }: { type: string }) => type))).toEqual(new Set([...types, 'end']));
    });

    test('shows neither user of a transferred business the values of the other', async () => {
      const [anna, bert] = [990_000 + count, 980_000 + count];
      const values = (name: string) => ({ name, main_domain: `${name}.example`, site: `https://${name}.example` });
      const optionsOf = (user: number, { name, main_domain, site }: ReturnType<typeof values>) => [
        '--user',
        `${user}`,
        '--name',
        name,
        '--main-domain',
        main_domain,
        '--site',
        site,
      ];
      const { id } = await printed(
        env,
        'business',
        'create',
        ...optionsOf(anna, values('anna')),
        ...create(0).slice(-4),
      );
      await printed(env, 'business', 'update', `${id}`, ...optionsOf(bert, values('bert')));
      expect(await linesOf(anna)).toEqual([{ type: 'end' }]);
      const lines = await linesOf(bert);
      expect(lines.filter(({ type }: { type: string }) => type === 'change')).toMatchObject([
        { action: 'update_business', before: null, after: { user_id: bert, ...values('bert') } },
        { action: 'create_business', before: null, after: null },
      ]);
      expect(JSON.stringify(lines)).not.toMatch(/anna|99000/);
    });
  });

  test('access check agrees with the service', async () => {
    const { id, token } = await printed(env, ...create(7));
    const usage = `${env.API}/business/usage/${id}`;
    const statusFor = async (Origin: string) =>
      (await fetch(usage, { headers: { Authorization: `Bearer ${token}`, Origin } })).status;
    const origins = ['https://a.example', 'https://x.b.example', 'http://a.example', 'https://a.example:8443', 'null'];
    const compare = async (...expected: boolean[]) => {
      const said = await Promise.all(origins.map((origin) => printed(env, 'access', 'check', `${id}`, origin)));
      expect(said.map(({ allowed }) => allowed)).toEqual(expected);
      expect((await Promise.all(origins.map(statusFor))).map((status) => status === 200)).toEqual(expected);
    };
    await compare(true, true, true, true, true);
    await printed(env, 'access', 'add', `${id}`, 'https://a.example', 'https://*.b.example');
    await compare(true, true, false, false, false);
    await printed(env, 'business', 'status', `${id}`, 'closed');
    await compare(false, false, false, false, false);
  });

  test('a lost response never creates a duplicate', async () => {
    let passed = 0;
    // Cuts off the first response.
    const proxy = createServer((incoming, outgoing) => {
      passed += 1;
      const isLost = passed === 1;
      const onward = request(service.url + incoming.url, { method: incoming.method, headers: incoming.headers });
      onward.on('response', (response) => {
        if (isLost) response.resume().on('end', () => outgoing.destroy());
        else response.pipe(outgoing.writeHead(response.statusCode ?? 0, response.headers));
      });
      incoming.pipe(onward);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const behind = { ...env, API: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/api/v1` };
    const user = 80 + count;
    const business = await printed(behind, ...create(user));
    const { businesses } = await printed(env, 'business', 'list', '--user', `${user}`);
    expect(businesses.map(({ id }: { id: number }) => id)).toEqual([business.id]);
    expect(passed).toBe(2);

    passed = 0;
    const shown = `key list --user ${user}`;
    await expect(printed(behind, 'key', 'create', '--user', `${user}`)).rejects.toThrow(
      `The outcome is unknown. To see it: npm run -s admin -- ${shown}`,
    );
    expect((await printed(env, ...shown.split(' '))).keys).toHaveLength(1);
    expect(passed).toBe(1);
    proxy.close();
  });

  test('all examples in the operator documents succeed', async () => {
    const text = read('docs/deploying.md') + read('docs/operating.md');
    const blocks = [...text.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block = '']) => block);
    const lines = blocks.flatMap((block) => block.replaceAll('\\\n', '').match(/npm run -s admin -- .*/g) ?? []);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) {
      const { code } = await (count === 1 ? runAdmin : inProcess)(
        env,
        ...wordsOf(line.replace('npm run -s admin -- ', '')),
      );
      expect({ line, code }).toEqual({ line, code: 0 });
    }
  });
});
