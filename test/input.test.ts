// Strict input: an operation rejects unknown parameters, unknown members at any depth, a body in a DELETE request, and values of the wrong
// type. The cases are generated from the routes and the schemas in the OpenAPI description. The simulator (test/sim) checks the rules of
// each field, and that the errors list every wrong field.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openapi } from '../src/openapi/document.ts';
import { answerOf, invalid } from './answers.ts';
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

type Parameter = { name: string; in: string; example?: string };
type Operation = { parameters?: Parameter[]; requestBody?: object };

const { paths = {} } = openapi();
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

describe.each(ROUTES)('a call to $name', (route) => {
  // Only the operator can use the `user_id` parameter of lists that owners read, too.
  const isKnown = (name: string) => name !== 'user_id' || route.keyRefusal !== null;
  const known = queryOf(route).flatMap(({ name }) => (isKnown(name) ? [name] : []));
  const takes = known.length === 0 ? 'none' : new Intl.ListFormat('en').format(known);
  const isReport = /^read_(usage|sources|refusals)$/.test(route.operation);
  const isList = /^(list_businesses|read_(all_usage|ended|changes|user_changes|alerts|all_alerts))$/.test(
    route.operation,
  );
  const of = isReport ? 'this report' : isList ? 'this list' : 'this operation';
  const unknown = (name: string) => `${name} is not a parameter of ${of}, which accepts ${takes}`;

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
  async function refused(query: string, options: Pick<CallOptions, 'body'> = {}) {
    before ??= await dumpAll();
    const path = () => withQuery(route.path(business), query);
    const answer = await ask({ ...route, path }, business, { as, ...options });
    expect(answer.headers.get('Error-Code')).toBe('invalid_input');
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    return answerOf(answer);
  }

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
        // Any text can be searched, and only the database knows whether one is a source.
        const ofAnotherType = name === 'search' ? [`?${name}=`] : [`?${name}=true`, `?${name}=`];
        const others = name === 'source' ? [] : ofAnotherType;
        for (const query of [`?${name}=${example}&${name}=${example}`, ...others, `?${name}[]=1`]) {
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

test('the errors list at most 1,000 fields, and the first 20 unknown names in an object or a query', async () => {
  const { usage, key } = await newBusiness();
  const fieldsOf = async (query: string, body: object) => {
    const answer = await call('POST', `${usage}${query}`, { as: key, body });
    expect(answer.status).toBe(422);
    return Object.keys(answer.body.errors);
  };
  const uses = Array.from({ length: 1000 }, (_, index) => ({ id: '', [`z${index}`]: 1 }));
  expect(await fieldsOf('', { uses })).toHaveLength(1000);
  const names = (prefix: string) => Array.from({ length: 25 }, (_, index) => `${prefix}${index}`);
  const body = Object.fromEntries(names('m').map((name) => [name, 1]));
  expect(await fieldsOf(`?${names('q').join('&')}`, { quantity: 1, ...body })).toEqual([
    ...names('q').slice(0, 20),
    ...names('m').slice(0, 20),
  ]);
});

test('the cases cover every operation that accepts a body', () => {
  // Excludes the operation that starts a session with a code, because it needs no credential. test/sessions.test.ts covers it.
  const taking = ROUTES.filter(
    (route) => operationOf(route).requestBody !== undefined && route.name !== 'start a session',
  );
  const withBody = new Set(ROUTES.filter(({ body }) => body !== undefined).map(({ pattern }) => pattern));
  expect(taking.filter(({ pattern }) => !withBody.has(pattern))).toEqual([]);
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
