// The description of the service: served, with examples that are true. test/contract.ts validates every response against it.
import { describe, expect, test } from 'vitest';
import { openapi } from '../src/openapi/document.ts';
import { faultsOf } from './contract.ts';
import { call, newBusiness, newCode, OPERATOR, setCount } from './support.ts';

const PATH = '/api/v1/openapi.json';

test('is public and may be stored, and costs no round trip', async () => {
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

test('is not sent again to who has it', async () => {
  const { headers } = await call('GET', PATH);
  const again = await call('GET', PATH, { headers: { 'If-None-Match': headers.get('ETag') ?? '' } });
  expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
  expect(again.headers.get('ETag')).toBe(headers.get('ETag'));
  expect(again.headers.get('Access-Control-Allow-Origin')).toBe('*');
});

test('answers HEAD without a body, and another method with 405', async () => {
  const head = await call('HEAD', PATH);
  expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' });
  const post = await call('POST', PATH);
  expect(post.status).toBe(405);
  expect(post.headers.get('Allow')).toBe('GET, HEAD');
  expect(post.headers.get('Cache-Control')).toBe('no-store');
});

type Body = { data: { access_list?: { site: string }[]; api_key?: string; session_key?: string; url?: string } };
type Content = { 'application/json': { schema: never; examples: Record<string, { value: Body }> } };
type Operation = {
  operationId: string;
  security: object[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};

const { paths = {}, components } = openapi({ closed: true });
const operations = Object.entries(paths).flatMap(([path, { parameters: _, ...methods }]) =>
  Object.entries(methods as unknown as Record<string, Operation>).map(([method, operation]) => ({
    ...{ path, method, operation },
    name: operation.operationId,
  })),
);
const examplesOf = (body?: { content?: Content }) => Object.entries(body?.content?.['application/json'].examples ?? {});

describe.each(operations)('$name', ({ path, method, operation }) => {
  const { requestBody, responses } = operation;

  test('has examples that match their schemas', () => {
    const shared = components?.responses as typeof responses;
    const bodies = [...(requestBody ? [requestBody] : []), ...Object.values(responses), ...Object.values(shared)];
    for (const body of bodies) {
      const schema = body.content?.['application/json'].schema;
      expect(examplesOf(body).flatMap(([name, { value }]) => faultsOf(name, schema, value))).toEqual([]);
    }
  });

  test.each(examplesOf(requestBody))('is answered as the examples say: %s', async (name, { value }) => {
    const business = await newBusiness();
    await setCount(business.id, '2026-03-03', 12);
    const url = path.replace('{business_id}', `${business.id}`).replace('{user_id}', `${business.user_id}`);
    const isCode = name === 'code'; // sent without a credential
    if (isCode) await newCode(business, {}, (value as { code?: string }).code);
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
  });
});

test('says of a request what our own checks of it want: whole numbers with their bounds, and the texts of a choice', () => {
  const propertiesOf = (name: string) =>
    components?.schemas?.[name] as unknown as { properties: Record<string, object> };
  expect(propertiesOf('NewBusiness').properties).toMatchObject({
    user_id: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    database: { type: 'integer', minimum: 0, maximum: 61 },
  });
  expect(propertiesOf('KeyToCreate').properties).toMatchObject({
    role: { type: 'string', enum: ['full', 'read', 'record'] },
  });
});
