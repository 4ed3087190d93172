// Strict input: an operation rejects unknown parameters, unknown members at any depth, a body in a DELETE request, and values of the wrong
// type. The cases are generated from the routes and the schemas in the OpenAPI description.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openapi } from '../src/openapi/document.ts';
import { answerOf, invalid } from './answers.ts';
import { RULE_NAMES, ruleNamed } from './ask.ts';
import { type AnyRoute, ROUTES } from './routes.ts';
import {
  ask,
  BASE,
  type Business,
  type CallOptions,
  call,
  callerOf,
  databases,
  dumpAll,
  env,
  newApp,
  newBusiness,
  tagsOf,
} from './support.ts';

type Schema = {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
};
type Parameter = { name: string; in: string; example?: string };
type Operation = { parameters?: Parameter[]; requestBody?: { content: { 'application/json': { schema: Schema } } } };

const { paths = {}, components } = openapi();
const schemas = components?.schemas as Record<string, Schema>;
const operationOf = ({ method, pattern }: AnyRoute): Operation => {
  const path = paths[pattern.replaceAll(/:(\w+)/g, '{$1}')] as unknown as Record<string, Operation>;
  return path[method.toLowerCase()] ?? {};
};
const queryOf = (route: AnyRoute) => (operationOf(route).parameters ?? []).filter(({ in: place }) => place === 'query');

/** Returns the path of each object in a body. */
function places(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value).flatMap(([name, member]) =>
    places(member, [...path, Array.isArray(value) ? Number(name) : name]),
  );
  return [...(Array.isArray(value) ? [] : [path]), ...inside];
}
const members = (value: unknown, path: (string | number)[] = []): (string | number)[][] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, member]) => {
        const at = [...path, Array.isArray(value) ? Number(name) : name];
        return [at, ...members(member, at)];
      });
/** Returns a copy of a body with one value changed. */
function changed(body: unknown, path: (string | number)[], change: (at: never) => unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(structuredClone(body) as never);
  const copy = structuredClone(body) as Record<string | number, unknown>;
  copy[name] = changed(copy[name], rest, change);
  return copy;
}

const withQuery = (path: string, query: string) => path + (path.includes('?') ? query.replace('?', '&') : query);

/** The operations that received an Idempotency-Key. */
const tried = new Set<string>();
afterAll(() => expect([...tried].sort()).toEqual(RULE_NAMES));

describe.each(ROUTES)('a call to $name', (route) => {
  // Only the operator can use the `user_id` parameter when listing businesses.
  const isKnown = (name: string) => name !== 'user_id' || route.name !== 'list businesses';
  const known = queryOf(route).flatMap(({ name }) => (isKnown(name) ? [name] : []));
  const takes = known.length === 0 ? 'none' : new Intl.ListFormat('en').format(known);
  const lists = [
    'list businesses',
    'read changes',
    'read alerts',
    'read the changes of a user',
    'read the alerts of all businesses',
  ];
  const of = [...lists, 'read the usage of all businesses'].includes(route.name)
    ? 'this list'
    : ['read usage', 'read usage by source'].includes(route.name)
      ? 'this report'
      : undefined;
  const unknown = (name: string) => `${name} is not a parameter of ${of ?? 'this operation'}, which accepts ${takes}`;

  let business: Business;
  let as: string;
  let before: string | undefined;
  beforeEach(async () => {
    business = await newBusiness({ sites: ['https://a.example', 'https://b.example'] });
    as = await callerOf(route, business);
  });
  /** Asserts that the rejected calls left all tables unchanged. */
  async function expectUnchanged() {
    const stored = before;
    before = undefined;
    if (stored !== undefined) expect(await dumpAll()).toBe(stored);
  }
  afterEach(expectUnchanged);
  async function refused(query: string, options: Pick<CallOptions, 'body' | 'headers'> = {}) {
    before ??= await dumpAll();
    const path = () => withQuery(route.path(business), query);
    const answer = await ask({ ...route, path }, business, { as, ...options });
    expect(answer.headers.get('Error-Code')).toBe('invalid_input');
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    return answerOf(answer);
  }

  test('is rejected with an Idempotency-Key if the operation is never idempotent', async () => {
    const { status, lines } = await ask(route, business, { as, headers: { 'Idempotency-Key': 'visit-1' } });
    const { operation } = lines[0] as { operation: string };
    tried.add(operation);
    if (ruleNamed(operation).retry !== 'never')
      return expect(status).toBe(operation === 'record_uses' ? 422 : (route.granted ?? 200));
    const message = 'Idempotency-Key must not be sent: this operation cannot detect a repeated request';
    for (const key of ['visit-1', '"visit-1"', 'two words', '']) {
      expect(await refused('', { headers: { 'Idempotency-Key': key } })).toEqual(invalid('Idempotency-Key', message));
    }
  });

  test('is rejected for an unknown parameter, which the error names', tagsOf(route), async () => {
    for (const name of ['surplus', 'access_id', 'count', 'Limit', '__proto__', 'token']) {
      expect(await refused(`?${name}=1`)).toEqual(invalid(name, unknown(name)));
    }
    const [first] = queryOf(route);
    const two = await refused(`?${first ? `${first.name}=${first.example}&` : ''}b=1&a=2`);
    expect(two.body).toMatchObject({
      status: false,
      message: unknown('b'),
      errors: { b: [unknown('b')], a: [unknown('a')] },
    });
    expect(await refused('?=1')).toEqual(invalid('""', unknown('""')));
    // A second question mark is part of the name, so this is an unknown parameter.
    for (const name of [first?.name ?? 'from', '_'])
      expect(await refused(`??${name}=1`)).toEqual(invalid(`?${name}`, unknown(`?${name}`)));
    const long = 'x'.repeat(65);
    expect(await refused(`?${long}=1`)).toEqual(invalid(long.slice(1), unknown(long.slice(1))));
  });

  test(
    'is rejected for a parameter that is repeated or has the wrong type, which the error names',
    tagsOf(route),
    async () => {
      for (const { name, example = '1' } of queryOf(route)) {
        const ofAnotherType = name === 'search' ? [] : [`?${name}=true`]; // any text is valid
        for (const query of [`?${name}=${example}&${name}=${example}`, ...ofAnotherType, `?${name}=`, `?${name}[]=1`]) {
          const { status, body } = await refused(query);
          expect({ status, named: Object.keys(body.errors) }).toEqual({
            status: 422,
            named: [query.includes('[]') ? `${name}[]` : name],
          });
        }
      }
    },
  );

  test('may contain the parameter _=<digits> only if it is a GET or HEAD', tagsOf(route), async () => {
    if (route.method !== 'GET') return expect(await refused('?_=1')).toEqual(invalid('_', unknown('_')));
    for (const method of ['GET', 'HEAD']) {
      expect((await call(method, withQuery(route.path(business), '?_=1742040000000'), { as })).status).toBe(200);
    }
    for (const query of ['?_=', '?_=a', '?_=1a', '?_=-1'])
      expect(await refused(query)).toEqual(invalid('_', unknown('_')));
  });

  test('is rejected for an unknown member at any depth, whose path the error names', tagsOf(route), async () => {
    for (const path of places(route.body)) {
      const own = Object.keys(path.reduce((at: never, name) => at[name], route.body as never));
      for (const name of ['surplus', '__proto__', 'constructor', 'date'].filter((name) => !own.includes(name))) {
        const field = [...path, name].join('.');
        const add = (at: object) => Object.defineProperty(at, name, { value: 1, enumerable: true });
        const { status, body } = await refused('', { body: changed(route.body, path, add) });
        const [message] = body.errors[field] ?? [];
        expect({ status, named: Object.keys(body.errors), message }).toEqual({
          status: 422,
          named: [field],
          message: expect.stringMatching(/ is not a member of this object, which accepts [a-z_]+(,? (and )?[a-z_]+)*$/),
        });
      }
    }
  });

  test('is rejected for a member of the wrong type, whose path the error names', tagsOf(route), async () => {
    for (const path of members(route.body)) {
      const type = typeof path.reduce((at: never, name) => at[name], route.body as never);
      for (const wrong of [null, type !== 'boolean', type === 'number' ? '17' : 17, {}, [[]], [{ id: [] }]]) {
        if (typeof wrong === type && type === 'boolean') continue;
        const { status, body } = await refused('', { body: changed(route.body, path, () => wrong) });
        expect(status).toBe(422);
        for (const field of Object.keys(body.errors)) expect(`${field}.`.startsWith(`${path.join('.')}.`)).toBe(true);
      }
    }
  });

  test('is rejected with a body if it is a DELETE', tagsOf(route), async () => {
    if (route.method !== 'DELETE') return;
    const message = 'body must be empty: this operation takes no body';
    for (const body of ['{}', '{"sites":["https://a.example"]}', '[]', 'x', '0', '\u00a0', '\ufeff'])
      expect(await refused('', { body })).toEqual(invalid('body', message));
    await expectUnchanged();
    const { status } = await call('DELETE', route.path(business), { as, body: ' \r\n\t' });
    expect(status).toBe(route.granted ?? 200);
  });
});

test.each([
  ['{"uses":[{"id":"a","id":"b"}]}', 'usage'],
  ['{"uses":[{"id":"a"}],"uses":[]}', 'usage'],
  ['{"sites":["https://a.example"],"sites":["https://b.example"]}', 'access'],
  ['{"sites":["https://a.example"],"\\u0073ites":["https://b.example"]}', 'access'],
] as const)('a duplicate member is rejected instead of the last one winning: %s', async (body, resource) => {
  const business = await newBusiness();
  const before = await dumpAll();
  const message = 'body must not contain duplicate members in an object';
  const { status, body: answer } = await call('POST', business[resource], { as: business.key, body });
  expect({ status, body: answer }).toEqual(invalid('body', message));
  expect(await dumpAll()).toBe(before);
});

test.each([
  ['x'.repeat(65), 'x'.repeat(64)],
  ['', '""'],
])('an unknown member %j is named %j in the error', async (name, shown) => {
  const { access, key } = await newBusiness();
  const body = JSON.stringify({ sites: ['https://a.example'], [name]: 1 });
  const { status, body: answer } = await call('POST', access, { as: key, body });
  const message = `${shown} is not a member of this object, which accepts sites`;
  expect({ status, body: answer }).toEqual({
    status: 422,
    body: { status: false, message, errors: { [shown]: [message] } },
  });
});

test.each([
  '{"sites":["https://a.example:443/x:y"]}',
  '{ "sites" : [ "https://{[:]}.example" , "https://a.example" ] }',
])('colons and brackets inside strings do not count as members: %s', async (body) => {
  const { access, key } = await newBusiness();
  const { body: answer } = await call('POST', access, { as: key, body });
  expect(answer.message ?? '').not.toContain('duplicate members');
});

const WITH_KEY = { 'Idempotency-Key': 'two words' };
const TWICE = { 'Idempotency-Key': 'order-1' };
/** Requests whose input breaks rules of several kinds, and the fields that are wrong, in the order of their errors. */
const WRONG: [
  name: string,
  request: { query?: string; body?: unknown; headers?: Record<string, string> },
  fields: string[],
][] = [
  ['read usage', { query: '?from=2026-03-02&to=2026-03-01&x=1&y=2' }, ['x', 'y', 'from']],
  ['read usage', { query: '?from=2026-03-02&to=2026-02-30' }, ['to']],
  ['record a use', { query: '?x=1', body: { y: 1, z: 2 }, headers: WITH_KEY }, ['Idempotency-Key', 'x', 'y', 'z']],
  ['record a quantity', { body: { quantity: 0, at: 1 }, headers: WITH_KEY }, ['Idempotency-Key', 'quantity', 'at']],
  [
    'report uses',
    {
      query: '?x=1',
      headers: TWICE,
      body: {
        uses: [
          { id: 'a', at: '2026-01-01T00:00:00Z' },
          { id: '' },
          { id: 'c', quantity: 1e9 + 1 },
          { id: '', at: '2027-01-01T00:00:00+01:00', quantity: 0 },
          { id: 'e', at: 'now' },
          { id: 'f', y: 1, z: 2 },
          7,
        ],
        more: true,
      },
    },
    [
      ...[
        'Idempotency-Key',
        'x',
        'uses.1.id',
        'uses.2.quantity',
        'uses.3.id',
        'uses.3.quantity',
        'uses.4.at',
        'uses.5.y',
      ],
      ...['uses.5.z', 'uses.6', 'more', 'uses.0.at', 'uses.3.at'],
    ],
  ],
  [
    'lower uses',
    { body: { uses: [{ id: 'a', quantity: 0 }, { id: 'b', quantity: -1 }, { id: 'a', quantity: 0 }, 7] } },
    ['uses.1.quantity', 'uses.3', 'uses.2.id'],
  ],
  [
    'import a history',
    {
      body: {
        days: [
          { date: '2026-03-15', count: 1 },
          { date: 'x', count: 1 },
          { date: '2026-03-01', count: -1 },
          { date: '2026-03-01', count: 1 },
        ],
      },
    },
    ['days.1.date', 'days.2.count', 'days.0.date', 'days.3.date'],
  ],
  [
    'add sites',
    { query: '?x=1', body: { sites: ['shop.example', 'https://*.github.io', 5, 'https://a.example'], y: 1 } },
    ['x', 'sites.0', 'sites.2', 'y', 'sites.1'],
  ],
  [
    'create a business',
    { body: { name: '', sites: ['https://*.github.io'], site: 'x' }, headers: WITH_KEY },
    ['Idempotency-Key', 'user_id', 'name', 'main_domain', 'site', 'country_id', 'business_size', 'sites.0'],
  ],
  [
    'create a key',
    { body: { name: '', expires_on: '2026-03-14' }, headers: TWICE },
    ['Idempotency-Key', 'name', 'expires_on', 'role'],
  ],
  ['read changes', { query: '?from=2026-03-02&to=2026-03-01&limit=0&action=x' }, ['limit', 'action', 'from']],
  [
    'read the usage of all businesses',
    { query: '?ended=2026-03-15&from=2026-03-02&to=2026-03-01&limit=0' },
    ['limit', 'from', 'to', 'ended'],
  ],
  ['read the usage of all businesses', { query: '?ended=x&from=2026-03-02&to=2026-03-01' }, ['ended']],
  ['read the alerts of all businesses', { query: '?cursor=z&limit=0' }, ['limit', 'cursor']],
];
test.each(WRONG)(
  'the errors of a call to %s list every wrong field, whatever kind of rule it breaks',
  { tags: 'slow' },
  async (name, request, fields) => {
    const route = ROUTES.find((route) => route.name === name) as AnyRoute;
    const business = await newBusiness();
    const as = await callerOf(route, business);
    const before = await dumpAll();
    const path = withQuery(route.path(business), request.query ?? '');
    const { status, body } = await call(route.method, path, { as, body: request.body, headers: request.headers });
    expect({ status, fields: Object.keys(body.errors), message: body.message }).toEqual({
      status: 422,
      fields,
      message: body.errors[fields[0] as string][0],
    });
    for (const [field, messages] of Object.entries<string[]>(body.errors))
      expect(messages).toEqual([expect.stringMatching(RegExp(`^${field.replaceAll('.', '\\.')} (?:must|is) `))]);
    expect(await dumpAll()).toBe(before);
  },
);

test('the errors list at most 1,000 fields', async () => {
  const { usage, key } = await newBusiness();
  const uses = Array.from({ length: 1000 }, (_, index) => ({ id: '', [`z${index}`]: 1 }));
  const answer = await call('POST', usage, { as: key, body: { uses } });
  expect([answer.status, Object.keys(answer.body.errors).length]).toEqual([422, 1000]);
});

test('of the unknown names in an object or a query, the errors list the first 20', async () => {
  const { usage, key } = await newBusiness();
  const names = (prefix: string) => Array.from({ length: 25 }, (_, index) => `${prefix}${index}`);
  const body = Object.fromEntries(names('m').map((name) => [name, 1]));
  const answer = await call('POST', `${usage}?${names('q').join('&')}`, { as: key, body: { quantity: 1, ...body } });
  expect(answer.status).toBe(422);
  expect(Object.keys(answer.body.errors)).toEqual([...names('q').slice(0, 20), ...names('m').slice(0, 20)]);
});

test('the cases cover every operation that accepts a body', () => {
  // Excludes the operation that starts a session with a code, because it needs no credential. test/sessions.test.ts covers it.
  const taking = ROUTES.filter(
    (route) => operationOf(route).requestBody !== undefined && route.name !== 'start a session',
  );
  const withBody = new Set(ROUTES.filter(({ body }) => body !== undefined).map(({ pattern }) => pattern));
  expect(taking.filter(({ pattern }) => !withBody.has(pattern))).toEqual([]);
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['Sites', 'Uses', 'Rotation']));
});

test.each(['/api/v1/health', '/api/v1/openapi.json'])('%s accepts no parameter except _=<digits>', async (path) => {
  const { app } = newApp(); // shared, because health caches its result
  const read = (query: string, wrap?: () => never) =>
    app.fetch(new Request(BASE + path + query), { ...databases(wrap), ASSETS: env.ASSETS });
  expect((await read('?_=1')).status).toBe(200);
  const answer = await read('?verbose=1', () => null as never); // rejected before a query
  const message = 'verbose is not a parameter of this operation, which accepts none';
  expect({ status: answer.status, body: await answer.json() }).toEqual(invalid('verbose', message));
});
