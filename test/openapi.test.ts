// The OpenAPI description: how it is served, and its examples. test/contract.ts validates every response against it.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { businesses } from '../src/db/schema.ts';
import { openapi } from '../src/openapi/document.ts';
import type { Operation } from '../src/operation.ts';
import { OPERATIONS } from '../src/operations.ts';
import { quantityBody, usesBody } from '../src/usage/operations.ts';
import { validationErrors } from './contract.ts';
import { call, homes, newBusiness, newCode, OPERATOR, setCount } from './support.ts';

const PATH = '/api/v1/openapi.json';

test('the OpenAPI description is public and cacheable, and costs no database round trip', async () => {
  const answer = await call('GET', PATH, { origin: 'https://anywhere.example' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('Content-Type')).toBe('application/json');
  expect(answer.headers.get('Cache-Control')).toBe('public, max-age=3600');
  expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(answer.cost.round_trips).toBe(0);
  expect(answer.body).toEqual(JSON.parse(JSON.stringify(openapi())));
  const ETag = answer.headers.get('ETag');
  const again = await call('GET', PATH, { headers: { 'If-None-Match': `${ETag}` } });
  expect([again.status, again.text, again.headers.get('ETag')]).toEqual([304, '', ETag]);
  expect(again.headers.get('Access-Control-Allow-Origin')).toBe('*');
  const head = await call('HEAD', PATH);
  expect([head.status, head.text]).toEqual([200, '']);
});

type Body = {
  data: { access_list?: { site: string }[]; user_id?: number; api_key?: string; session_key?: string; url?: string };
};
/** Keyed by media type, JSON first. */
type Content = Record<string, { schema: never; examples: Record<string, { value: Body }> }>;
type Described = {
  operationId: string;
  security: object[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};

const { paths = {}, webhooks, components } = openapi({ closed: true });
const operations = Object.entries(paths).flatMap(([path, { parameters: _, ...methods }]) =>
  Object.entries(methods as unknown as Record<string, Described>).map(([method, operation]) => ({
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
      const isExtra = path.endsWith('/extra'); // it needs a monthly limit
      if (isExtra)
        await business.db.update(businesses).set({ monthly_limit: 1000 }).where(eq(businesses.id, business.id));
      const headers = isExtra ? { 'Idempotency-Key': 'pack-17' } : {};
      const isCode = name === 'code'; // a code is sent without a credential
      if (isCode)
        await newCode(business, { return_url: 'https://product.example/settings' }, (value as { code?: string }).code);
      const as = operation.security.some((scheme) => 'apiKey' in scheme) ? business.key : OPERATOR.full;
      const at = new Date('2026-03-03T12:00:00.000Z');
      const answer = await call(method.toUpperCase(), url, { ...(isCode ? {} : { as }), headers, body: value, at });
      const [, example] = examplesOf(responses[200]).find(([other]) => other === name) ?? [];
      const said = (body?: Body) => {
        const { access_list, api_key, session_key, user_id: _, ...others } = body?.data ?? {};
        if (others.url) return { ...others, url: others.url.slice(0, -34) };
        if (session_key) return { ...others, session_key: session_key.slice(0, 8) };
        return access_list?.map(({ site }) => site) ?? (api_key ? Object.keys(body?.data ?? {}).sort() : body);
      };
      expect({ status: answer.status, body: said(answer.body) }).toEqual({ status: 200, body: said(example?.value) });
    },
  );
});

test('the example of an alert message matches its schema', () => {
  const { requestBody } = (webhooks?.['limit.reached']?.post ?? {}) as Partial<Described>;
  const schema = mainOf(requestBody)?.schema;
  expect(requestBody).toBeDefined();
  expect(examplesOf(requestBody).flatMap(([name, { value }]) => validationErrors(name, schema, value))).toEqual([]);
});

interface Schema {
  type?: string;
  additionalProperties?: boolean;
  items?: Schema;
  properties?: Record<string, Schema>;
}
const published = openapi().components?.schemas as Record<string, Schema>;

/** A value that the service checks with `enforced`, and describes as `stated`. */
type Field = { name: string; enforced: z.core.$ZodType; stated: Stated };
type Stated = Partial<Record<'anyOf' | 'oneOf', Stated[]>> & {
  $ref?: string;
  type?: string;
  properties?: Record<string, Stated>;
  items?: Stated;
  minItems?: number;
  maxItems?: number;
};
const defOf = (schema: z.core.$ZodType) => (schema as z.core.$ZodTypes)._zod.def;
const resolved = ({ $ref, ...stated }: Stated): Stated =>
  $ref === undefined ? stated : (components?.schemas?.[$ref.replace(/.*\//, '')] as Stated);

/** Asserts that a list has from 1 to `most` entries. Entries have errors of their own. */
function expectBounds(name: string, enforced: z.core.$ZodType, most: number) {
  const isLength = (length: number) => {
    const { error } = z.safeParse(enforced as z.ZodMiniType, Array(length));
    return error?.issues.every(({ path }) => path.length > 0) ?? true;
  };
  expect({ name, allowed: [0, 1, most, most + 1].map(isLength) }).toEqual({
    name,
    allowed: [false, true, true, false],
  });
}
/** Returns the fields in a schema, at any depth. */
function fieldsIn({ name, enforced, stated }: Field): Field[] {
  const def = defOf(enforced);
  if (def.type === 'optional') return fieldsIn({ name, enforced: def.innerType, stated });
  if (def.type === 'nullable') return fieldsIn({ name, enforced: def.innerType, stated: stated.anyOf?.[0] ?? {} });
  const { properties = {}, items = {}, minItems, maxItems } = resolved(stated);
  if (def.type === 'pipe') {
    if (maxItems !== undefined) expectBounds(name, enforced, maxItems);
    return fieldsIn({ name, enforced: def.out, stated });
  }
  if (def.type === 'array') {
    expect({ name, minItems, maxItems }).toEqual({ name, minItems: 1, maxItems: expect.any(Number) });
    return fieldsIn({ name: `${name}[]`, enforced: def.element, stated: items });
  }
  if (def.type !== 'object') return [{ name, enforced, stated: resolved(stated) }];
  return Object.entries(def.shape).flatMap(([member, enforced]) =>
    fieldsIn({ name: `${name} ${member}`, enforced, stated: properties[member] ?? {} }),
  );
}

/** Returns the fields of all bodies and queries, by operation. */
function allFields(): Field[] {
  const stated = openapi().paths as unknown as Record<
    string,
    Record<string, Described & { parameters?: (Stated & { name: string; schema: Stated })[] }>
  >;
  return Object.values<Operation>(OPERATIONS).flatMap(({ id, method, path, rules, query, code }) => {
    const described = stated[`/api/v1${path.replaceAll(/:(\w+)/g, '{$1}')}`]?.[method.toLowerCase()];
    const statedBody = mainOf(described?.requestBody)?.schema as Stated | undefined;
    const bodies = rules.some(({ name }) => name === 'record_uses')
      ? [quantityBody, usesBody].map((enforced, index) => ({
          enforced,
          stated: statedBody?.oneOf?.[2 + 2 * index] ?? {},
        }))
      : [code ?? rules[0].body].flatMap((enforced) =>
          enforced === undefined ? [] : [{ enforced, stated: statedBody ?? {} }],
        );
    const parameters = Object.entries(query?.schema.shape ?? {}).map(([name, enforced]) => ({
      name: `${id} ?${name}`,
      enforced: enforced as z.core.$ZodType,
      stated: described?.parameters?.find((parameter) => parameter.name === name)?.schema ?? {},
    }));
    return [...bodies.map((one) => ({ ...one, name: id })), ...parameters].flatMap(fieldsIn);
  });
}

/** Only values about which a schema can decide: the rules of hosts, for example, are too many for a pattern. */
const VALUES = [
  ...['', ' ', 'x', 'Acme', ' Acme\n', 'a\nb', 'a\u202eb', 'a\u2028b', '\u0000', 'true', 'full', 'read', 'active'],
  ...['add_sites', '0', '01', '7', '-1', 'a17', 'a017', 'order 1', 'order-1', 'counts', 'sums'],
  ...['counts.1', 'counts.1.2026-03-15', '1h', '720h', '30d', '31d'],
  ...[24, 33, 34, 35, 255, 256, 2048, 2049].map((length) => 'x'.repeat(length)),
  ...['bua_pk_', 'BUA_pk_', 'xua_pk_'].map((prefix) => prefix + 'x'.repeat(34)),
  ...['https://a.example', 'HTTP://localhost:3000/b?c#d', 'https://*.a.example', 'capacitor://localhost'],
  ...['ftp://a.example', 'a.example', 'https://', 'https://a@b.example', 'https://a.example/ b'],
  ...['https://a.example/\n', ' https://a.example'],
  ...[1980, 1981, 2028, 2029, 2030, 2031].map((length) => `https://a.example/${'x'.repeat(length)}`),
  ...['2026-03-15', '1970-01-01', '1969-12-31', '9999-12-31', '10000-01-01', '2026-02-30', '2026-13-01', '2026-3-1'],
  ...['2026-03-15T12:00:00Z', '2026-03-15T12:00:00+01:00', '2026-03-15T12:00:00', '2026-03-15t12:00:00z'],
  ...['2026-03-15T24:00:00Z', '2026-03-15T12:60:00Z', '2026-03-15T12:00:60Z', '2026-03-15T12:00:00.Z'],
  ...[43, 44].map((digits) => `2026-03-15T12:00:00.${'0'.repeat(digits)}Z`),
  ...[-1, 0, 1, 1.5, 28, 29, 61, 62, 100, 101, 1000, 1001, 1440, 1441, 1e9, 1e9 + 1, 1e12, 1e12 + 1],
  ...[2 ** 53 - 1, 2 ** 53, null, true, {}, []],
];
test('the OpenAPI description states the bounds of each field in a request that the service enforces', () => {
  const fields = allFields();
  expect(fields.length).toBeGreaterThan(60);
  const differences = fields.flatMap(({ name, enforced, stated }) =>
    VALUES.flatMap((value) => {
      const isNumberInQuery = name.includes('?') && stated.type === 'integer';
      if (isNumberInQuery && typeof value !== 'number') return [];
      const isEnforced = !z.safeParse(enforced as z.ZodMiniType, isNumberInQuery ? `${value}` : value).success;
      const isStated = validationErrors(name, stated as never, value).length > 0;
      return isEnforced === isStated
        ? []
        : [`${name}: ${JSON.stringify(value).slice(0, 80)} is ${isEnforced ? 'only refused' : 'only stated'}`];
    }),
  );
  expect(differences).toEqual([]);
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
