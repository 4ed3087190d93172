// The OpenAPI description: how it is served, and its examples. test/contract.ts validates every response against it.
import { describe, expect, test } from 'vitest';
import { DURATION } from '../src/core/duration.ts';
import { parseInstant } from '../src/core/time.ts';
import { ERROR_CODES } from '../src/http/errors.ts';
import { openapi } from '../src/openapi/document.ts';
import { validationErrors } from './contract.ts';
import { call, homes, newBusiness, newCode, OPERATOR, setCount } from './support.ts';

const PATH = '/api/v1/openapi.json';

test('the OpenAPI description is public and cacheable, and costs no database round trip', async () => {
  for (const origin of [undefined, 'https://anywhere.example']) {
    const answer = await call('GET', PATH, origin === undefined ? {} : { origin });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Content-Type')).toBe('application/json');
    expect(answer.headers.get('Cache-Control')).toBe('public, max-age=3600');
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(answer.cost.round_trips).toBe(0);
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(openapi())));
  }
});

test('a client that has cached the current OpenAPI description gets 304', async () => {
  const { headers } = await call('GET', PATH);
  const again = await call('GET', PATH, { headers: { 'If-None-Match': headers.get('ETag') ?? '' } });
  expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
  expect(again.headers.get('ETag')).toBe(headers.get('ETag'));
  expect(again.headers.get('Access-Control-Allow-Origin')).toBe('*');
});

test('a HEAD request for the OpenAPI description gets no body, and other methods get 405', async () => {
  const head = await call('HEAD', PATH);
  expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' });
  const post = await call('POST', PATH);
  expect(post.status).toBe(405);
  expect(post.headers.get('Allow')).toBe('GET, HEAD');
  expect(post.headers.get('Cache-Control')).toBe('no-store');
});

type Body = { data: { access_list?: { site: string }[]; api_key?: string; session_key?: string; url?: string } };
/** Keyed by media type, JSON first. */
type Content = Record<string, { schema: never; examples: Record<string, { value: Body }> }>;
type Operation = {
  operationId: string;
  security: object[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};

const { paths = {}, webhooks, components } = openapi({ closed: true });
const operations = Object.entries(paths).flatMap(([path, { parameters: _, ...methods }]) =>
  Object.entries(methods as unknown as Record<string, Operation>).map(([method, operation]) => ({
    ...{ path, method, operation },
    name: operation.operationId,
  })),
);
const mainOf = (body?: { content?: Content }) => Object.values(body?.content ?? {})[0];
const examplesOf = (body?: { content?: Content }) => Object.entries(mainOf(body)?.examples ?? {});

describe.each(operations)('$name', ({ path, method, operation }) => {
  const { requestBody, responses } = operation;

  test('has examples that match their schemas', () => {
    const shared = components?.responses as typeof responses;
    const bodies = [...(requestBody ? [requestBody] : []), ...Object.values(responses), ...Object.values(shared)];
    for (const body of bodies) {
      const schema = mainOf(body)?.schema;
      expect(examplesOf(body).flatMap(([name, { value }]) => validationErrors(name, schema, value))).toEqual([]);
    }
  });

  test.each(examplesOf(requestBody))(
    'responds to the example request “%s” with the example response',
    async (name, { value }) => {
      // The ids in the examples are in DB’s range.
      const business = await newBusiness({ user_id: homes.length * 1_000_000 });
      await setCount(business.id, '2026-03-03', 12);
      const url = path.replace('{business_id}', `${business.id}`).replace('{user_id}', `${business.user_id}`);
      if (name === 'settled')
        await call('POST', business.usage, {
          as: OPERATOR.full,
          body: { uses: ['job-1', 'job-2'].map((id) => ({ id, quantity: 500 })) },
          at: new Date('2026-03-03T12:00:00.000Z'),
        });
      const isCode = name === 'code'; // a code is sent without a credential
      if (isCode)
        await newCode(business, { return_url: 'https://product.example/settings' }, (value as { code?: string }).code);
      const as = operation.security.some((scheme) => 'apiKey' in scheme) ? business.key : OPERATOR.full;
      const at = new Date('2026-03-03T12:00:00.000Z');
      const answer = await call(method.toUpperCase(), url, { ...(isCode ? {} : { as }), body: value, at });
      const [, example] = examplesOf(responses[200]).find(([other]) => other === name) ?? [];
      const said = (body?: Body) => {
        const { access_list, api_key, session_key, ...others } = body?.data ?? {};
        if (others.url) return { ...others, url: others.url.slice(0, -34) };
        if (session_key) return { ...others, session_key: session_key.slice(0, 8) };
        return access_list?.map(({ site }) => site) ?? (api_key ? Object.keys(body?.data ?? {}).sort() : body);
      };
      expect({ status: answer.status, body: said(answer.body) }).toEqual({ status: 200, body: said(example?.value) });
    },
  );
});

test('the example of an alerts message matches its schema', () => {
  const { requestBody } = (webhooks?.['limits.reached']?.post ?? {}) as Partial<Operation>;
  const schema = mainOf(requestBody)?.schema;
  expect(requestBody).toBeDefined();
  expect(examplesOf(requestBody).flatMap(([name, { value }]) => validationErrors(name, schema, value))).toEqual([]);
});

test('the OpenAPI description of each 404 names the ids that can cause it', () => {
  const descriptions = operations.flatMap(({ name, operation: { responses } }) => {
    const { description } = (responses[404] ?? {}) as { description?: string };
    return description === undefined ? [] : [[name, description]];
  });
  const isNoId = 'An id in the path is not valid: `user_id` is not an id';
  expect(Object.fromEntries(descriptions)).toEqual({
    removeAccess: 'An id in the path is not valid: the business has no entry `access_id`.',
    listKeys: `${isNoId}.`,
    exportUser: `${isNoId}.`,
    eraseUser: `${isNoId}.`,
    createKey: `${isNoId}.`,
    revokeKey: `${isNoId}, or the user has no API key \`key_id\`.`,
    createConsoleLink: `${isNoId}, or the user has neither a business nor an API key that works.`,
    readUserChanges: `${isNoId}.`,
  });
});

interface Schema {
  type?: string;
  additionalProperties?: boolean;
  items?: Schema;
  properties?: Record<string, Schema>;
}
const published = openapi().components?.schemas as Record<string, Schema>;

test('the OpenAPI description contains the integer bounds and enum values that the service enforces', () => {
  expect(published.NewBusiness?.properties).toMatchObject({
    user_id: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    database: { type: 'integer', minimum: 0, maximum: 61 },
  });
  expect(published.KeyToCreate?.properties).toMatchObject({
    role: { type: 'string', enum: ['full', 'read', 'record'] },
  });
  expect(published.BusinessUpdate?.properties).toMatchObject({
    status: { type: 'string', enum: ['active', 'suspended', 'closed'] },
  });
});

test('the schema of the Error-Code header lists exactly the service’s error codes', () => {
  expect(components?.headers?.ErrorCode).toMatchObject({ schema: { type: 'string', enum: ERROR_CODES } });
});

test('the schema of every object in a request forbids unknown members, as the service does', () => {
  const bodies = JSON.stringify(operations.map(({ operation }) => operation.requestBody));
  const ofRequests = Object.entries(published).filter(([name]) => bodies.includes(`schemas/${name}"`));
  const open = ofRequests.filter(
    ([, { type, additionalProperties }]) => type === 'object' && additionalProperties !== false,
  );
  expect(ofRequests).not.toEqual([]);
  expect(open.map(([name]) => name)).toEqual([]);
});

const passes = (schema: unknown, text: string) => validationErrors('text', schema as never, text).length === 0;

test.each([
  ...['1h', '9h', '10h', '24h', '99h', '100h', '699h', '700h', '719h', '720h', '721h', '730h', '800h', '999h', '1000h'],
  ...['1d', '7d', '9d', '10d', '29d', '30d', '31d', '40d', '99d', '100d', '0h', '0d', '01h', '001d', '1', 'h', ''],
  ...['24H', '24m', '24 h', ' 24h', '24h ', '24h\n', '-1h', '+1h', '1.5h', '1e1h', '24h7d', '٣h', 'one day'],
])('the schema and the service agree on whether keep_old can be %j', (text) => {
  expect(passes(published.Rotation?.properties?.keep_old, text)).toBe(DURATION.test(text));
});

test.each([
  ...['2026-03-15T12:00:00Z', '2026-03-15T12:00:00.1Z', '2026-03-15T12:00:00.123456789Z', '2026-03-15T23:59:59Z'],
  ...['2026-03-15T24:00:00Z', '2026-03-15T12:60:00Z', '2026-03-15T12:00:60Z', '2026-03-15T12:00:00.Z'],
  ...['2026-03-15T12:00:00', '2026-03-15T12:00:00+00:00', '2026-03-15T12:00:00z', '2026-03-15t12:00:00Z'],
  ...['2026-03-15T12:00Z', '2026-03-15 12:00:00Z', '2026-03-15', '2026-3-15T12:00:00Z', '20260315T120000Z'],
  ...[' 2026-03-15T12:00:00Z', '2026-03-15T12:00:00Z\n', '2026-02-30T12:00:00Z', '2026-13-01T12:00:00Z', '1773576000'],
  ...[''],
])('the schema and the service agree on whether a timestamp can be %j', (text) => {
  expect(passes(published.Uses?.properties?.uses?.items?.properties?.at, text)).toBe(parseInstant(text) !== null);
});
