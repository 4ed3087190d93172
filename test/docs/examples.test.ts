// Runs the examples in all documents in order against one service, then checks the tables in docs/api.md and docs/restricting.md.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commands } from '../../src/openapi/html.ts';
import { newFolder } from '../node/state.ts';
import { codesIn, DOCUMENTS, dayFromNow, examplesIn, like, parseOutput, read, tableIn } from './document.ts';
import { type Headers, startService } from './service.ts';

const API = 'docs/api.md';
const RESTRICTING = 'docs/restricting.md';
const USES = { uses: [{ id: 'order-1' }] };

const service = await startService();
afterAll(service.stop);
const { variables: $, call, shell } = service;
const as = (credential: string) => ({ Authorization: `Bearer ${credential}` });
const [key, token, shopToken, operator] = [as($.API_KEY), as($.TOKEN), as($.SHOP_TOKEN), as($.OPERATOR_KEY)];
const usage = (id = $.BUSINESS) => `/business/usage/${id}`;
const access = `/business/${$.SHOP}/access`;
const rotation = `/business/${$.SHOP}/token`;
const statusOf = async (...request: Parameters<typeof call>) => (await call(...request)).status;
const register = (sites: string[]) => call('POST', access, key, { sites });
async function registerOnly(...sites: string[]) {
  await call('DELETE', access, key);
  await register(sites);
}

test('npm run dev exports the variables that README.md lists', () => {
  const named = tableIn('README.md', 'Variable', 'Value').flatMap(([cell]) => codesIn(cell));
  expect(named).toEqual(Object.keys($).map((name) => `$${name}`));
});

test.each(DOCUMENTS.flatMap(examplesIn))('$name', async ({ command, printed }) => {
  const response = parseOutput(await shell(command));
  expect(response).toEqual(
    printed === '' ? { status: true, data: expect.any(Object) } : like(parseOutput(printed), command),
  );
});

/** Returns the variables that the commands at / use, for a new user who owns a business. */
async function variablesFor(user: number, command: string) {
  const create = async (path: string, credential: Headers, body?: object) =>
    (await call('POST', path, credential, body)).body.data;
  const address = { main_domain: 'a.example', site: 'https://a.example', country_id: 1 };
  const fields = { name: 'Acme', business_size: 'small', monthly_limit: 1000, ...address };
  const sites = command.includes('$SITE') ? { sites: ['https://a.example', 'https://b.example'] } : {};
  const { id, token, access_list } = await create('/business', operator, { user_id: user, ...fields, ...sites });
  const keys = `/user/${user}/keys`;
  const { api_key } = await create(keys, operator);
  const { id: other } = await create(keys, operator);
  const { session_key } = await create('/session', as(api_key));
  const { url } = await create(`/user/${user}/console-link`, operator);
  let FORMER: number | undefined;
  if (command.includes('$FORMER')) {
    await create(`/business/${id}/token`, operator, { keep_old: '24h' });
    [{ id: FORMER }] = (await call('GET', `/business/${id}`, operator)).body.data.former_tokens;
  }
  // Nobody who has just received a key can be erased.
  const OWNER = command.includes('$OWNER -X DELETE') ? user + 1000 : user;
  const variables = { OWNER, BUSINESS: id, TOKEN: token, API_KEY: api_key, SESSION_KEY: session_key, KEY: other };
  return { variables: { ...variables, SITE: access_list[0]?.id, FORMER }, code: url.split('#code=')[1] };
}

test.each(commands().map((command, index) => ({ command, user: 1000 + index })))(
  'the example in OpenAPI and at / works as printed: $command',
  async ({ command, user }) => {
    const { variables, code } = await variablesFor(user, command);
    const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const withCode = command.replace(/"code":"\w+"/, `"code":"${code}"`); // a code works for two minutes
    const answer = JSON.parse(await shell([...set, withCode].join('\n')));
    if (!command.includes('/openapi.json')) expect(answer).toMatchObject({ status: true });
  },
);

test('the backend example in README.md creates a business and changes its limit', async () => {
  const { body } = await call('GET', '/business/9', operator);
  expect(body.data).toMatchObject({ id: 9, user_id: 7, name: 'Acme', limits: { daily: null, monthly: 10_000 } });
});

test("curl -fOJ saves the CSV report under the service's filename and does not save a refusal", async () => {
  const { command = '', printed = '' } = examplesIn(API).find((example) => example.command.includes('text/csv')) ?? {};
  const folder = newFolder();
  const saving = `cd '${folder}'\n${command.replace('curl', 'curl -fOJ')}`;
  await shell(saving);
  const [name = '', ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  expect(name).toMatch(/^usage-\d+-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
  expect(parseOutput(readFileSync(join(folder, name), 'utf8'))).toEqual(like(parseOutput(printed)));
  await expect(shell(saving.replace('$TOKEN', 'none'))).rejects.toMatchObject({ code: 22 });
  expect(readdirSync(folder)).toEqual([name]);
});

test('the loop in docs/moving.md creates businesses with their old ids, tokens and sites', async () => {
  const [, loop = ''] = /```sh\n(.*?) *```/s.exec(read('docs/moving.md')) ?? [];
  const [, line = ''] = /`(1000,.*?)`/.exec(read('docs/moving.md')) ?? [];
  const file = join(newFolder(), 'businesses.csv');
  writeFileSync(file, `${line}\n${line.replace('1000,42', '1001,43').replace('old_', 'new_')}\n`);
  await shell(loop.replace('businesses.csv', file));
  const token = line.split(',')[4] ?? '';
  const access_list = [{ site: 'https://acme.example' }];
  for (const moved of [
    { id: 1000, user_id: 42, token },
    { id: 1001, user_id: 43, token: token.replace('old_', 'new_') },
  ]) {
    const { body } = await call('GET', `/business/${moved.id}`, operator);
    expect(body.data).toMatchObject({ ...moved, name: 'Acme', access_list });
  }
  expect(await statusOf('GET', usage('1000'), { ...as(token), Origin: 'https://acme.example' })).toBe(200);
});

test('the log queries in docs/operating.md use only documented fields', () => {
  const [questions = ''] = /^# Who is refused.*?^```$/ms.exec(read('docs/operating.md')) ?? [];
  const commands = questions.replace(/^#.*/gm, '');
  const asked = [...commands.matchAll(/[.{,] ?([a-z]\w+)/g)].map(([, field = '']) => field);
  const fields = ['Field', 'Field of a run'].flatMap((header) =>
    tableIn('docs/operating.md', header, 'Meaning').flatMap(([cell]) => codesIn(cell)),
  );
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.filter((field) => ![...fields, 'rows_read', 'ndjson'].includes(field))).toEqual([]);
});

test.each(tableIn(RESTRICTING, 'The request comes from'))(
  'requests receive the documented statuses: from %s, with the Origin header %s',
  async (_, header, ...printed) => {
    await registerOnly('https://shop.example');
    const { origin } = new URL($.API);
    const from: Headers = header === 'none' ? {} : { Origin: codesIn(header)[0] ?? origin };
    for (const method of ['GET', 'POST']) {
      const open = [token, key].map((by) => statusOf(method, usage(), { ...by, ...from }));
      const restricted = [shopToken, key].map((by) => statusOf(method, usage($.SHOP), { ...by, ...from }));
      expect(await Promise.all([...open, ...restricted])).toEqual([200, 200, ...printed.map(Number)]);
    }
  },
);

test.each(tableIn(RESTRICTING, 'Registered', 'Passes', 'Refused'))(
  'a site admits and refuses origins as documented: %s',
  async (registered, passes, refused) => {
    await registerOnly(...codesIn(registered));
    for (const [cell, status] of [[passes, 200] as const, [refused, 403] as const]) {
      const statuses = codesIn(cell).map((Origin) => statusOf('GET', usage($.SHOP), { ...shopToken, Origin }));
      expect(await Promise.all(statuses)).toEqual(codesIn(cell).map(() => status));
    }
  },
);

test.each(tableIn(RESTRICTING, 'Site as given', 'Stored as'))(
  'a site is stored as documented: %s, %s',
  async (given, stored = '') => {
    if (stored.startsWith('refused')) {
      for (const site of codesIn(given)) expect([site, (await register([site])).status]).toEqual([site, 422]);
      return;
    }
    const { body } = await register(codesIn(given));
    const sites = stored === 'the same' ? codesIn(given) : codesIn(stored).slice(0, 1);
    for (const site of sites) expect(body.data.access_list).toContainEqual(expect.objectContaining({ site }));
  },
);

const many = (n: number, start = 0) => Array.from({ length: n }, (_, i) => `https://s${start + i}.example`);
const record = (uses: object[]) => call('POST', usage(), key, { uses });
const recordAt = (minutes: number) =>
  record([{ id: `at${minutes}`, at: new Date(Date.now() + minutes * 60_000).toISOString() }]);
const REACH: Record<string, (n: number) => ReturnType<typeof call>> = {
  'days in a usage report': (n) => call('GET', `${usage()}?from=${dayFromNow(1 - n)}&to=${dayFromNow(0)}`, token),
  'days in a report by source': (n) =>
    call('GET', `${usage()}?by=source&from=${dayFromNow(1 - n)}&to=${dayFromNow(0)}`, key),
  'sites in a request': (n) => register(many(n)),
  'uses in a request': (n) => record(Array.from({ length: n }, (_, i) => ({ id: `${i}` }))),
  'minutes that `at` may be in the future': (n) => recordAt(n - 0.5),
  "characters in a use's id": (n) => record([{ id: 'x'.repeat(n) }]),
  'days in a history': (n) =>
    call('PUT', `/business/${$.SHOP}/history`, operator, {
      days: Array.from({ length: n }, (_, i) => ({ date: dayFromNow(-1 - i), count: 1 })),
      replace: true,
    }),
  'quantity of a use': (n) => record([{ id: `quantity-${n}`, quantity: n }]),
  'days that a replaced token may work': (n) => call('POST', rotation, key, { keep_old: `${n}d` }),
  'bytes in a body': (n) => call('POST', usage(), key, JSON.stringify(USES).padEnd(n)),
  async 'sites of a business'(n) {
    await registerOnly(...many(100));
    for (let stored = 100; stored + 100 <= n; stored += 100) await register(many(100, stored));
    return register(many(n % 100 || 1, n - (n % 100 || 1)));
  },
};
const maximums = tableIn(API, 'Maximum', 'Value');
test.each(maximums)(
  'the service accepts the documented maximum and rejects more: %s, %s',
  async (name = '', value = '') => {
    const reach = REACH[name];
    if (reach === undefined) throw new Error(`add to REACH a request with n ${name}`);
    const [max = 0, min = 0] = value.split('–').map(Number).reverse();
    expect(await reach(max)).toMatchObject({ status: 200 });
    expect(await reach(max + 1)).toMatchObject({ status: name === 'bytes in a body' ? 413 : 422 });
    if (min === 1) expect(await reach(0)).toMatchObject({ status: 422 });
  },
);

const numbersIn = (text: string, pattern: RegExp) =>
  (pattern.exec(text.replace(/\s+/g, ' ')) ?? []).slice(1).map(Number);

test('docs/api.md states how old a use may be, and how long the service remembers its id', () => {
  const [text, rules] = [read(API), read('src/usage/rules.ts')];
  const [days = 0, day = 0] = numbersIn(rules, /MAX_AGE_DAYS = \{ key: (\d+), token: (\d+)/);
  expect(numbersIn(text, /at most (\d+) days ago, or (\d+) hours with a token/)).toEqual([days, day * 24]);
  const kept = numbersIn(rules, /KEEP_ID_DAYS = \{ key: (\d+), token: (\d+)/);
  expect(numbersIn(text, /for (\d+) days, or for (\d+) days if it was sent with a token/)).toEqual(kept);
});

test.each([
  ['`seen_origins`', 'origins/rules.ts', /KEEP_ORIGINS_DAYS = (\d+)/],
  ['`alerts`', 'alerts/rules.ts', /KEEP_ALERTS_DAYS = (\d+)/],
  ['`changes`', 'changes/rules.ts', /KEEP_CHANGES_DAYS = (\d+)/],
])('docs/operating.md states how long the service keeps %s', (table, file, constant) => {
  const row = tableIn('docs/operating.md', 'Table', 'Contents', 'Stored').find(([name]) => name === table);
  expect(row?.[2]).toContain(`${numbersIn(read(`src/${file}`), constant)[0]} days`);
});
