// For an operation and each n: its n-th call of a database fails. It must have been carried out, or not at all, and sending it again must
// complete it, if the answer says so.
import { type AnyRoute, NEW_BUSINESS, ROUTES } from '../routes.ts';
import type { FaultKind } from './faults.ts';
import { isRepeatable, may } from './model/may.ts';
import { type Answer, OPERATOR, type Plain, World } from './world.ts';

const USER = NEW_BUSINESS.user_id;
/** A user without businesses, who can be erased. */
const LEAVING = USER + 1;
/** A user in the database of the business. */
const BUYER = USER + 2;
const START = Date.parse('2026-03-15T12:00:00Z');
const MOST_TRIES = 3;

export type Operation = {
  name: string;
  method: string;
  path: string;
  caller: 'key' | 'session' | 'operator' | 'nobody';
  headers?: Record<string, string>;
  body?: unknown;
  /** Repeating it always has a new effect. */
  never: boolean;
  /** The status of a repetition, if what was removed is not there any more. */
  again?: number;
};

/** Ids that a new world has, in every world the same. */
const BUSINESS = 1;
const PLACES: Record<string, string> = {
  access_id: '1',
  key_id: '2',
  former_id: '1',
  user_id: `${USER}`,
  business_id: `${BUSINESS}`,
};
const AGAIN: Record<string, number> = {
  'remove a site': 404,
  'stop a former token': 404,
  'delete a business': 401,
  'end a session': 401,
};

const operationOf = (route: AnyRoute): Operation => ({
  name: route.name,
  method: route.method,
  path: /\?|^\/api\/v1\/user\/\d+$/.test(route.path({ id: BUSINESS }))
    ? route.path({ id: BUSINESS }) // with a query, or of the user to erase, who is another
    : route.pattern.replace(/:(\w+)/g, (_, name) => PLACES[name] ?? ''),
  caller: may('full', route.operation) ? 'key' : may('operator', route.operation) ? 'operator' : 'session',
  never: !isRepeatable(route.operation, route.headers !== undefined),
  ...(route.headers && { headers: route.headers }),
  ...(AGAIN[route.name] && { again: AGAIN[route.name] }),
  body: route.body,
});
const withKey = (name: string): Operation => {
  const operation = OPERATIONS.find((one) => one.name === name) as Operation;
  return { ...operation, name: `${name} with a key`, headers: { 'Idempotency-Key': 'k1' }, never: false };
};
const OPERATIONS = ROUTES.map(operationOf);
export const CASES: Operation[] = [
  ...OPERATIONS,
  withKey('record a quantity'),
  withKey('create a business'),
  {
    ...withKey('create a business'),
    name: 'create a business with a token',
    body: { ...NEW_BUSINESS, token: 'imported-token-of-a-shop-2' },
  },
  {
    name: 'create a business for a new user',
    method: 'POST',
    path: '/api/v1/business',
    caller: 'operator',
    never: false,
    headers: { 'Idempotency-Key': 'k1' },
    body: {
      ...NEW_BUSINESS,
      user_id: USER + 3,
      token: 'imported-token-of-a-shop-1',
      sites: ['https://a.example'],
      database: 1,
    },
  },
  {
    name: 'transfer a business',
    method: 'PATCH',
    path: `/api/v1/business/${BUSINESS}`,
    caller: 'operator',
    never: false,
    body: { user_id: BUYER },
  },
  { name: 'redeem a code', method: 'POST', path: '/api/v1/session', caller: 'nobody', never: true, body: { code: '' } },
];

/** A world with a business to which every operation can do something, and the secrets of its callers. */
async function prepare() {
  const world = new World({ seed: 1, start: START, databases: 2 });
  async function ask(method: string, path: string, body: unknown, secret: string, headers = {}) {
    const [answer] = await world.send([plain({ method, path: `/api/v1${path}`, body, headers }, secret)]);
    if (answer?.status !== 200) throw new Error(`${method} ${path}: ${answer?.status} ${answer?.text}`);
    return JSON.parse(answer.text).data;
  }
  const operate = (method: string, path: string, body: unknown) => ask(method, path, body, OPERATOR.full);
  await operate('POST', '/business', {
    ...NEW_BUSINESS,
    sites: ['https://a.example', 'https://b.example'],
    monthly_limit: 1000,
    database: 0,
  });
  const key = (await operate('POST', `/user/${USER}/keys`, {})).api_key;
  await operate('POST', `/user/${USER}/keys`, { role: 'read' });
  await operate('POST', `/user/${LEAVING}/keys`, {});
  await operate('POST', `/user/${BUYER}/keys`, {});
  await operate('POST', `/user/${LEAVING}/console-link`, {});
  await ask('POST', `/business/usage/${BUSINESS}`, { uses: [{ id: 'order-1', quantity: 5 }] }, key);
  await ask('POST', `/business/${BUSINESS}/token`, { keep_old: '24h' }, key);
  const session = (await ask('POST', '/session', undefined, key)).session_key;
  world.now += 3_600_000; // later than what protects a new user from erasure
  const code = (await operate('POST', `/user/${USER}/console-link`, {})).url.replace(/.*[#/=]/, '');
  const secrets = { key, session, operator: OPERATOR.full, nobody: null };
  return { start: world.now, stored: world.store(), secrets, code };
}
const prepared = prepare();
async function newWorld() {
  const { start, stored, secrets, code } = await prepared;
  return { world: new World({ seed: 2, start, databases: 2, stored }), secrets, code };
}

function plain(
  { method, path, body, headers = {} }: Omit<Operation, 'name' | 'caller' | 'never'>,
  secret: string | null,
): Plain {
  const authorization = secret === null ? {} : { Authorization: `Bearer ${secret}` };
  return {
    method,
    path,
    headers: { ...headers, ...authorization },
    body: body === undefined ? null : JSON.stringify(body),
  };
}

/** Everything that the databases store, except when runs ended. The columns in `masked` are empty. */
const rowsOf = (world: World, masked: string[] = []): string[] =>
  world.databases.flatMap((d1, number) =>
    d1
      .rows("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name <> 'runs'")
      .flatMap(({ name }) =>
        d1
          .rows(`select * from ${name}`)
          .map(
            (row) => `${number} ${name} ${JSON.stringify(row, (key, value) => (masked.includes(key) ? '' : value))}`,
          ),
      ),
  );

/** What the databases store, without times, secrets, what is stored after a response, and the price of calls, which repetitions have, too. */
const dump = (world: World): string =>
  rowsOf(world, ['token', 'hash', 'decision', 'last_four', 'last_used_on', 'used_from', 'claimed_at'])
    .filter((row) => !/^\d+ work /.test(row))
    .map((row) => row.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T').replace(/…\w{4}/g, '…'))
    .sort()
    .join('\n');

/** Fails each call of an operation in turn, in this way. Returns what is wrong. */
export async function failAtEach(operation: Operation, kind: FaultKind): Promise<string[]> {
  const wrong: string[] = [];
  const intended = await carriedOut(operation);
  for (let n = 0; ; n++) {
    const { world, secrets, code } = await newWorld();
    const before = dump(world);
    const request = requestOf(operation, secrets, code);
    world.inject({ kind, at: n });
    let [answer = null] = await world.send([request]);
    if (world.hits.length === 0) return wrong;
    const complain = (what: string) => wrong.push(`${operation.name}, call ${n} ${kind}: ${what} (${answer?.status})`);
    const isUncertain = answer === null || answer.status >= 500;
    const after = dump(world);
    if (!isUncertain && after !== intended.after) complain('answered, but not carried out');
    if (kind === 'late' && rowsOf(world).join() !== (await withoutCall(operation, n)))
      complain('does something after its deadline');
    if (isUncertain && operation.never && answer?.status === 503 && after === intended.after && after !== before)
      complain('tells the caller to repeat what was carried out');
    const mayRepeat = isUncertain && (answer?.status === 503 || !operation.never);
    for (let tries = 0; mayRepeat && tries < MOST_TRIES && (answer?.status ?? 500) >= 500; tries++) {
      world.now += 10_000;
      [answer = null] = await world.send([request]);
    }
    if (mayRepeat && ![intended.answer.status, operation.again].includes(answer?.status))
      complain('sending it again fails');
    if (mayRepeat && dump(world) !== intended.after) complain(differenceOf(intended.after, dump(world)));
    if (!mayRepeat && isUncertain && ![before, intended.after].includes(after)) complain('half done');
  }
}

async function carriedOut(operation: Operation): Promise<{ answer: Answer; after: string }> {
  const { world, secrets, code } = await newWorld();
  const [answer] = await world.send([requestOf(operation, secrets, code)]);
  if (answer === null || answer === undefined || answer.status >= 400)
    throw new Error(`${operation.name}: ${answer?.status} ${answer?.text}`);
  return { answer, after: dump(world) };
}

/** What the databases store if the n-th call never runs. */
async function withoutCall(operation: Operation, n: number): Promise<string> {
  const { world, secrets, code } = await newWorld();
  world.inject({ kind: 'silent_before', at: n });
  await world.send([requestOf(operation, secrets, code)]);
  return rowsOf(world).join();
}

const requestOf = (operation: Operation, secrets: Record<Operation['caller'], string | null>, code: string): Plain =>
  plain({ ...operation, ...(operation.caller === 'nobody' && { body: { code } }) }, secrets[operation.caller]);

function differenceOf(expected: string, actual: string): string {
  const [wanted, found] = [expected.split('\n'), actual.split('\n')];
  const missing = wanted.filter((row) => !found.includes(row));
  const extra = found.filter((row) => !wanted.includes(row));
  return `sending it again does not complete it:\n- ${missing.join('\n- ')}\n+ ${extra.join('\n+ ')}`;
}
