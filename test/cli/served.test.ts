// Runs every command against a real service with three databases.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { commandLineOf } from '../../src/cli/command-line.ts';
import { createOperatorKey } from '../../src/cli/operator-keys.ts';
import { dayOf } from '../../src/core/time.ts';
import { codesIn, read } from '../docs/document.ts';
import { type Service, startService, withDatabases } from '../node/server.ts';
import { newFolder } from '../node/state.ts';
import { CREATE } from './sent.ts';
import { printed } from './stub.ts';
import { threeDatabases } from './support.ts';

/** Valid values of the options for which `--help` prints none. */
const VALUES: Record<string, string> = {
  ...{
    '--name': 'Acme',
    '--main-domain': 'acme.example',
    '--site': 'https://acme.example',
    '--size': 'small',
    '--label': 'till',
  },
  ...{ '--confirm': 'Acme', '--token': 'T', '--daily-limit': '1000', '--monthly-limit': 'none', '--billing-day': '15' },
  ...{ '--overage': 'none', '--status': 'active', '--database': '1', '--action': 'rotate_token', '--search': 'acme' },
  ...{ '--by': 'source', '--source': 'https://a.example', '--role': 'read', '--minutes': '60', '--as': 'Anna' },
  ...{ '--return-url': 'https://product.example/settings', '--from': '2026-01-01', '--to': '2026-01-31' },
  ...{
    '--ended': '2026-01-31',
    '--expires': '2096-01-31',
    '--limits-from': 'next_month',
    '--uses': '500',
    '--month': 'next',
  },
};
/** The usages that `--help` prints, with values for all options. */
const ROWS = [...(commandLineOf(['--help']) as { help: string }).help.matchAll(/^ {2}(\S.*)$/gm)].map(([, row = '']) =>
  row.replace(/(--[\w-]+) (?:…|YYYY-MM-DD)/g, (_, option) => {
    if (VALUES[option] === undefined) throw new Error(`add to VALUES a valid value of ${option}`);
    return `${option} ${VALUES[option]}`;
  }),
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
const create = (user: number) => CREATE.with(3, `${user}`);

let service: Service;
let env: Record<string, string>;
beforeAll(async () => {
  const { 'persist-to': state } = await threeDatabases();
  const { operator_key, secret } = await createOperatorKey('full', 'OPERATOR_KEY_1');
  service = await startService(state, { secrets: { OPERATOR_KEY_1: secret }, config: withDatabases(3) });
  env = { API: `${service.url}/api/v1`, OPERATOR_KEY: operator_key };
});
afterAll(() => service?.stop());

/** Replaces the placeholders in a usage. Each command gets its own business and key. */
async function argvOf(command: string): Promise<string[]> {
  const { id } = await printed(env, ...create(7));
  const { access_list } = await printed(env, 'access', 'add', `${id}`, 'https://a.example', 'https://b.example');
  const key = await printed(env, 'key', 'create', '--user', '7');
  await printed(env, 'business', 'rotate-token', `${id}`, '--keep-old', '1h');
  const { former_tokens } = await printed(env, 'business', 'show', `${id}`);
  const values: Record<string, string> = {
    ...{ ID: `${command.startsWith('key revoke') ? key.id : id}`, SITE_ID: `${access_list[0].id}` },
    ...{ FORMER_ID: `${former_tokens[0].id}`, FILE: HISTORY },
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
  if (words.includes('--limits-from')) words.push('--daily-limit', '5');
  if (words.includes('--label')) words.push('--business', `${id}`);
  if (command.startsWith('business add-extra'))
    await printed(env, 'business', 'update', `${id}`, '--monthly-limit', '9');
  if (words.includes('--database')) give('--user', '71'); // a new user
  return words;
}

test.each(ROWS.flatMap(commandsIn))('%s succeeds', async (command) => {
  expect(await printed(env, ...(await argvOf(command)))).toBeTruthy();
});

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

test('user export prints everything that the lists contain about a user with two businesses', async () => {
  const user = '91';
  await printed(env, 'key', 'create', '--user', user);
  const first = await printed(env, ...create(91), '--sites', 'https://a.example', '--daily-limit', '1');
  const second = await printed(env, ...create(91));
  const history = join(newFolder(), 'history.csv');
  writeFileSync(history, '1999-12-31,3\n2026-01-30,0\n2026-01-31,7\n');
  await printed(env, 'usage', 'import', `${second.id}`, history);
  const use = async (method: string, Origin: string, { id, token }: typeof first) => {
    const headers = { Authorization: `Bearer ${token}`, Origin };
    return (await fetch(`${env.API}/business/usage/${id}`, { method, headers })).json();
  };
  const { data } = (await use('POST', 'https://a.example', first)) as { data: { date: string } };
  await use('POST', 'https://a.example', first); // refused by the limit
  for (const business of [first, second]) await use('GET', 'https://b.example', business);

  const listsOf = async (id: string) => ({
    ...(await printed(env, 'business', 'show', id)),
    ...(await printed(env, 'access', 'refused', id)),
    ...(await printed(env, 'alerts', 'list', id)),
    refusals: (await printed(env, 'usage', 'refusals', id)).refused,
    ...(await printed(env, 'changes', 'list', id)),
  });
  // Origins and refused uses are stored after the response.
  await vi.waitFor(async () => expect((await listsOf(first.id)).refused_by_limit).toBe(1));
  await vi.waitFor(async () => expect((await listsOf(first.id)).refused).toHaveLength(1));
  await vi.waitFor(async () => expect((await listsOf(second.id)).let_in).toHaveLength(1));
  const { keys } = await printed(env, 'key', 'list', '--user', user);
  const { changes } = await printed(env, 'changes', 'list', '--user', user);
  const ofType = (type: string, entries: object[], of: object = {}) => entries.map((one) => ({ type, ...of, ...one }));
  async function ofBusiness({ id: business_id }: { id: number }, counts: object[]) {
    const { access_list, token, refusals, refused, let_in, alerts, changes, ...business } = await listsOf(
      `${business_id}`,
    );
    return [
      { type: 'business', ...business, token: `…${token.slice(-4)}` },
      ...ofType('site', access_list),
      ...ofType('count', counts, { business_id }),
      ...ofType(
        'refused_uses',
        refusals.filter(({ by_limit }: { by_limit: number }) => by_limit > 0),
        { business_id },
      ),
      ...ofType('refused_origin', refused, { business_id }),
      ...ofType('let_in_origin', let_in, { business_id }),
      ...ofType('alert', alerts),
      ...ofType('change', changes, { business_id }),
    ];
  }
  const counts = [
    { date: '1999-12-31', count: 3 },
    { date: '2026-01-31', count: 7 },
  ];
  const text = await printed(env, 'user', 'export', user);
  const lines = text.match(/.+\n/g).map((line: string) => JSON.parse(line));
  expect(lines).toEqual([
    ...ofType('key', keys),
    ...ofType('change', changes, { business_id: null }),
    ...(await ofBusiness(first, [{ date: data.date, count: 1 }])),
    ...(await ofBusiness(second, counts)),
    { type: 'end' },
  ]);
  const [, documented = ''] = /each with a `type`: (.*?)\. The last line/s.exec(read('docs/operating.md')) ?? [];
  const types = lines.map(({ type }: { type: string }) => type);
  expect(new Set(types)).toEqual(new Set([...codesIn(documented), 'end']));
});

test('access check agrees with the service', async () => {
  const { id, token } = await printed(env, ...create(7));
  const usage = `${env.API}/business/usage/${id}`;
  const statusFor = async (Origin: string) =>
    (await fetch(usage, { headers: { Authorization: `Bearer ${token}`, Origin } })).status;
  const origins = ['https://a.example', 'https://x.b.example', 'http://a.example', 'https://a.example:8443', 'null'];
  const compare = async (expected: boolean[], sites: (string | null)[] = [null, null, null, null, null]) => {
    const said = await Promise.all(origins.map((origin) => printed(env, 'access', 'check', `${id}`, origin)));
    expect(said).toEqual(expected.map((allowed, index) => ({ allowed, site: sites[index] })));
    expect((await Promise.all(origins.map(statusFor))).map((status) => status === 200)).toEqual(expected);
  };
  await compare([true, true, true, true, true]);
  const sites = ['https://a.example', 'https://*.b.example'];
  await printed(env, 'access', 'add', `${id}`, ...sites);
  await compare([true, true, false, false, false], [...sites, null, null, null]);
  await printed(env, 'business', 'status', `${id}`, 'closed');
  await compare([false, false, false, false, false], [...sites, null, null, null]);
});

test('all examples in the operator documents succeed', async () => {
  const text = read('docs/deploying.md') + read('docs/operating.md');
  const blocks = [...text.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.replaceAll('\\\n', '').match(/npm run -s admin -- .*/g) ?? []);
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) await printed(env, ...wordsOf(line.replace('npm run -s admin -- ', '')));
});
