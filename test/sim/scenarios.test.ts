// The races that decide money and access, each in many orders. The model judges what takes one batch. Where a request takes several, the
// test states what must hold.
import { expect, test } from 'vitest';
import { NEW_BUSINESS } from '../routes.ts';
import { Random } from './random.ts';
import { Simulation } from './simulation.ts';
import type { RequestStep, Step } from './steps.ts';
import { OPERATOR, type Plain, World } from './world.ts';

const ORDERS = Array.from({ length: 40 }, (_, seed) => seed);
const USAGE = '/api/v1/business/usage/{business}';

const step = (
  who: RequestStep['who'],
  method: string,
  path: string,
  body: unknown = null,
  headers = {},
): RequestStep => ({
  kind: 'request',
  who,
  method,
  path,
  body: body === null ? null : JSON.stringify(body),
  headers,
  pick: [0, 1, 0, 0, 0, 0],
});
const use = (who: RequestStep['who'], id?: string) =>
  step(who, 'POST', USAGE, null, id === undefined ? {} : { 'Idempotency-Key': id });
const together = (...requests: RequestStep[]): Step => ({ kind: 'together', requests });
const START: Step[] = [
  step('operator', 'POST', '/api/v1/business', { ...NEW_BUSINESS, user_id: 1, daily_limit: 3, overage: 0 }),
  step('operator', 'POST', '/api/v1/user/{user}/keys'),
];
const many = <T>(number: number, make: (index: number) => T): T[] =>
  Array.from({ length: number }, (_, index) => make(index));

const changes = () => step('key', 'GET', '/api/v1/business/{business}/changes');
const lists = (size: number, from: number) =>
  step('key', 'POST', USAGE, { uses: Array.from({ length: size }, (_, index) => ({ id: `u${from + index}` })) });

const SCENARIOS: Record<string, Step[]> = {
  'an owner who reads more pages of changes at once than the allowance lets through': [
    step('operator', 'PATCH', '/api/v1/business/{business}', { daily_limit: null }),
    step('operator', 'POST', '/api/v1/user/{user}/keys'),
    together(...many(45, changes), use('token', 'u1'), lists(2, 10)),
    changes(),
    together(...many(6, changes), step('any_key', 'GET', '/api/v1/business?limit=50')),
    { kind: 'wait', ms: 60_000 },
    together(...many(45, changes), use('key', 'u2')),
  ],
  'the last free uses, and a list that no longer fits': [
    together(
      ...many(4, (n) => use('token', `u${n}`)),
      ...many(3, (n) => use('key', `u${n}`)),
      step('key', 'POST', USAGE, { uses: [{ id: 'u0' }, { id: 'u9' }, { id: 'u8' }] }),
    ),
  ],
  'a limit that is raised while uses meet it': [
    together(
      ...many(5, (n) => use('key', `u${n}`)),
      step('operator', 'PATCH', '/api/v1/business/{business}', { daily_limit: 4, overage: 1 }),
    ),
  ],
  'one use that is recorded, repeated, reported and lowered': [
    use('key', 'u1'),
    together(
      use('key', 'u1'),
      step('key', 'POST', USAGE, { uses: [{ id: 'u1', quantity: 2 }, { id: 'u2' }] }),
      step('operator', 'PATCH', USAGE, {
        uses: [
          { id: 'u1', quantity: 0 },
          { id: 'u2', quantity: 0 },
        ],
      }),
      use('key', 'u1'),
    ),
  ],
  'tokens that are replaced while pages record': [
    together(
      ...many(3, () => use('token')),
      step('key', 'POST', '/api/v1/business/{business}/token', { keep_old: '1h' }),
      step('key', 'POST', '/api/v1/business/{business}/token', { keep_old: '1h' }),
    ),
    together(
      ...many(2, () => use('former')),
      ...many(2, () => step('key', 'DELETE', '/api/v1/business/{business}/token/former/{former}')),
    ),
    together(...many(2, () => use('former')), step('key', 'DELETE', '/api/v1/business/{business}/token/former')),
    together(...many(2, () => use('token')), step('key', 'POST', '/api/v1/business/{business}/token')),
    { kind: 'wait', ms: 3_600_000 },
    use('former'),
  ],
  'a history that is imported while uses of its day are late': [
    together(
      ...many(2, (n) => step('key', 'POST', USAGE, { uses: [{ id: `u${n}`, at: '{at-86400000}' }] })),
      step('operator', 'PUT', '/api/v1/business/{business}/history', { days: [{ date: '{day-1}', count: 2 }] }),
      step('operator', 'PUT', '/api/v1/business/{business}/history', {
        days: [{ date: '{day-1}', count: 1 }],
        replace: true,
      }),
      step('operator', 'PATCH', USAGE, { uses: [{ id: 'u0', quantity: 0 }] }),
    ),
  ],
  'a business that is given away and returned': [
    step('operator', 'POST', '/api/v1/business/{business}/access', { sites: ['https://shop.example'] }),
    step('operator', 'PATCH', '/api/v1/business/{business}', { user_id: 2 }),
    use('token'),
    step('any_key', 'GET', '/api/v1/business/{business}'),
    step('any_key', 'POST', USAGE),
    step('operator', 'GET', '/api/v1/business/{business}/changes'),
    step('operator', 'PATCH', '/api/v1/business/{business}', { user_id: 1 }),
    step('any_key', 'GET', '/api/v1/business/{business}/changes'),
    together(use('any_key'), use('token'), step('operator', 'DELETE', '/api/v1/business/{business}?name={name}')),
  ],
  'uses that a limit refuses before and after a Worker ends without storing its counts': [
    ...many(3, () => use('key')),
    { kind: 'fault', fault: 'ends', at: 0 },
    use('key'),
    use('key'),
    step('operator', 'GET', '/api/v1/business?user_id=1'),
  ],
};

test.each(Object.entries(SCENARIOS))('%s', async (_, steps) => {
  for (const seed of ORDERS) {
    const simulation = new Simulation({ seed, databases: 1 });
    const random = new Random(seed);
    for (const one of [...START, ...steps])
      expect(await simulation.take({ ...one, seed: random.next() }), `order ${seed}`).toBeNull();
    expect(simulation.compareDatabases(), `order ${seed}`).toBeNull();
  }
});

test.each([
  ['ids', 'recording', 1_999_001, lists(2, 0)],
  [
    'bytes',
    'changing',
    3_960_000,
    step('key', 'POST', '/api/v1/business/{business}/access', { sites: ['https://shop.example'] }),
  ],
] as const)(
  'an owner who stored as many %s as a day allows can store more after midnight',
  async (column, kind, stored, store) => {
    const simulation = new Simulation({ seed: 1, databases: 1 });
    const random = new Random(1);
    const { world, model } = simulation;
    const take = async (one: Step) => expect(await simulation.take({ ...one, seed: random.next() })).toBeNull();
    for (const one of [...START, store]) await take(one);
    const [database] = world.databases;
    database?.sqlite.exec(`update work set ${column} = ${stored} where class = '${kind}'`);
    for (const classes of Object.values(model.state.taken)) Object.assign(classes[kind] ?? {}, { [column]: stored });
    const before = JSON.stringify(model.state.counts) + JSON.stringify(model.state.entries);
    await take(
      column === 'ids' ? lists(2, 5) : { ...store, body: JSON.stringify({ sites: ['https://www.shop.example'] }) },
    );
    expect(JSON.stringify(model.state.counts) + JSON.stringify(model.state.entries)).toBe(before);
    await take(use('key'));
    await take({ kind: 'wait', ms: 86_400_000 });
    await take(
      column === 'ids' ? lists(2, 5) : { ...store, body: JSON.stringify({ sites: ['https://www.shop.example'] }) },
    );
    expect(JSON.stringify(model.state.counts) + JSON.stringify(model.state.entries)).not.toBe(before);
    expect(simulation.compareDatabases()).toBeNull();
  },
);

const operate = (method: string, path: string, body?: unknown): Plain => ({
  method,
  path: `/api/v1${path}`,
  headers: { Authorization: `Bearer ${OPERATOR.full}` },
  body: body === undefined ? null : JSON.stringify(body),
});

test('a user who signs up while being erased has a business and a home, or neither', async () => {
  const outcomes = new Set<string>();
  for (const seed of ORDERS) {
    const world = new World({ seed, start: Date.parse('2026-03-15T12:00:00Z'), databases: 2 });
    await world.send([operate('POST', '/user/7/keys'), operate('POST', '/user/8/keys')]);
    world.now += 3_600_000;
    const signUp = operate('POST', '/business', { ...NEW_BUSINESS, user_id: 7 });
    const [erased, signedUp] = await world.send([operate('DELETE', '/user/7'), signUp]);
    outcomes.add(`${erased?.text} ${signedUp?.status}`);
    const rows = (sql: string) => world.databases.flatMap(({ sqlite }) => sqlite.prepare(sql).all());
    const homes = rows('select database from homes where user_id = 7');
    const owned = rows('select id from businesses where user_id = 7');
    expect(owned).toHaveLength(signedUp?.status === 200 ? 1 : 0);
    expect(homes).toHaveLength(signedUp?.status === 200 ? 1 : erased?.status === 200 ? 0 : 1);
  }
  expect(outcomes.size).toBeGreaterThan(1);
});

test('a business that is transferred while uses are recorded keeps every use, and has one owner', async () => {
  for (const seed of ORDERS) {
    const world = new World({ seed, start: Date.parse('2026-03-15T12:00:00Z') });
    const textOf = async (request: Plain) => (await world.send([request]))[0]?.text ?? '';
    const { token } = JSON.parse(await textOf(operate('POST', '/business', { ...NEW_BUSINESS, user_id: 7 }))).data;
    const key = JSON.parse(await textOf(operate('POST', '/user/7/keys'))).data.api_key;
    const record = (secret: string): Plain => ({
      method: 'POST',
      path: '/api/v1/business/usage/1',
      headers: { Authorization: `Bearer ${secret}` },
      body: null,
    });
    const uses = [record(key), record(token), record(key), record(token)];
    const [transferred, ...recorded] = await world.send([operate('PATCH', '/business/1', { user_id: 8 }), ...uses]);
    expect(transferred?.status).toBe(200);
    for (const [index, answer] of recorded.entries())
      expect(index % 2 === 0 ? [200, 422] : [200]).toContain(answer?.status);
    const [database] = world.databases;
    const counted = recorded.filter((answer) => answer?.status === 200).length;
    expect(
      database?.sqlite.prepare('select user_id, count from businesses join daily_usage on business_id = id').get(),
    ).toEqual({
      user_id: 8,
      count: counted,
    });
    expect((await world.send([record(key)]))[0]?.status).toBe(422);
  }
});

test('a key that is revoked while it records counts what it acknowledged, and nothing more', async () => {
  const outcomes = new Set<number>();
  for (const seed of ORDERS) {
    const world = new World({ seed, start: Date.parse('2026-03-15T12:00:00Z') });
    const dataOf = async (request: Plain) => JSON.parse((await world.send([request]))[0]?.text ?? '').data;
    await dataOf(operate('POST', '/business', { ...NEW_BUSINESS, user_id: 7 }));
    const { id, api_key } = await dataOf(operate('POST', '/user/7/keys'));
    const headers = { Authorization: `Bearer ${api_key}` };
    const use: Plain = { method: 'POST', path: '/api/v1/business/usage/1', headers, body: null };
    const [revoked, ...uses] = await world.send([
      operate('DELETE', `/user/7/keys/${id}`),
      ...Array.from({ length: 6 }, () => use),
    ]);
    expect(revoked?.status).toBe(200);
    const counted = uses.filter((answer) => answer?.status === 200).length;
    expect(uses.filter((answer) => answer?.status === 401)).toHaveLength(6 - counted);
    const [row] = world.databases[0]?.rows('select coalesce(sum(count), 0) as count from daily_usage') ?? [];
    expect(row).toEqual({ count: counted });
    outcomes.add(counted);
  }
  expect(outcomes.size).toBeGreaterThan(2);
});

test('sign-ups that arrive several times at once create one business per user and key, each user in one database', async () => {
  for (const seed of ORDERS) {
    const world = new World({ seed, start: Date.parse('2026-03-15T12:00:00Z'), databases: 3 });
    const signUps = many(12, (index) => ({ user_id: 7 + (index % 2), key: `order-${Math.floor(index / 2) % 2}` }));
    const answers = await world.send(
      signUps.map(({ user_id, key }) => {
        const request = operate('POST', '/business', { ...NEW_BUSINESS, user_id });
        return { ...request, headers: { ...request.headers, 'Idempotency-Key': key } };
      }),
    );
    const made = signUps.map(({ user_id, key }, index) => {
      const { id, token } = JSON.parse(answers[index]?.text ?? '').data;
      return { signUp: `${user_id} ${key}`, user_id, business: `${id} ${token}`, database: Math.floor(id / 10 ** 9) };
    });
    const distinct = (of: (one: (typeof made)[number]) => string) => new Set(made.map(of)).size;
    expect(
      distinct(({ signUp }) => signUp),
      `order ${seed}`,
    ).toBe(4);
    expect(distinct(({ business }) => business)).toBe(4);
    expect(distinct(({ signUp, business }) => `${signUp} ${business}`)).toBe(4);
    expect(distinct(({ user_id, database }) => `${user_id} ${database}`)).toBe(2);
    expect(world.databases.flatMap((d1) => d1.rows('select id from businesses'))).toHaveLength(4);
  }
});
