// No version breaks a client silently: each breaking difference of the OpenAPI description from the last version's (the file in test/openapi,
// copied from dist/assets at its release) stands in the changelog, word for word.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openapi } from '../../src/openapi/document.ts';
import { type Description, differences } from '../openapi/differences.ts';

test('the changelog names every breaking difference of the OpenAPI description from the last version', () => {
  const [kept, ...more] = readdirSync('test/openapi').filter((name) => name.endsWith('.json'));
  expect(more).toEqual([]);
  const last = JSON.parse(readFileSync(`test/openapi/${kept}`, 'utf8')) as Description;
  expect(Object.keys(last.paths)).toContain('/api/v1/business/usage/{business_id}');
  const found = differences(last, JSON.parse(JSON.stringify(openapi())));
  const told = found.filter(({ breaks }) => !breaks).map(({ text }) => text);
  if (told.length > 0) console.log(`Not breaking, but worth telling:\n${told.join('\n')}`);
  const [, changes = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  const lines = changes.split('\n').map((line) => line.trim());
  const breaking = found.filter(({ breaks }) => breaks).map(({ text }) => `- ${text}`);
  expect(breaking.filter((line) => !lines.includes(line))).toEqual([]);
});

const BEFORE = {
  paths: {
    '/use': {
      get: { responses: { '200': { content: { 'text/csv': {} } } } },
      post: {
        security: [{ key: [] }, { token: [] }],
        parameters: [{ in: 'query', name: 'limit', schema: { type: 'integer', minimum: 1, maximum: 100 } }],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Use' } } } },
        responses: {
          '200': { headers: { ETag: {} }, content: { 'application/json': { schema: { $ref: '#/components/schemas/Count' } } } },
        },
      },
    },
  },
  components: {
    schemas: {
      Use: {
        type: 'object',
        properties: { id: { type: 'string', maxLength: 9, pattern: '^a' }, kind: { enum: ['a', 'b'] }, parts: { type: 'array', items: { $ref: '#/components/schemas/Use' } } },
        required: ['id'],
        additionalProperties: false,
      },
      Count: {
        type: 'object',
        properties: { count: { type: 'integer' }, kind: { enum: ['a', 'b'] }, limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
        required: ['count', 'limit'],
      },
    },
  },
}; // biome-ignore format: one field per line

/** Merges members (RFC 7396): null removes one. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(target as object) };
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  return result;
}
const post = (patch: object) => ({ paths: { '/use': { post: patch } } });
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const use = (Use: object) => ({ components: { schemas: { Use } } });
const count = (Count: object) => ({ components: { schemas: { Count } } });
const limit = (schema: object) => post({ parameters: [{ in: 'query', name: 'limit', schema }] });

const CASES: Record<string, [patch: object, breaking: string[], told?: string[]]> = {
  'changes nothing': [{}, []],
  'removes a path': [{ paths: { '/use': null } }, ['GET /use is removed', 'POST /use is removed']],
  'removes an operation': [{ paths: { '/use': { get: null } } }, ['GET /use is removed']],
  'removes a media type': [{ paths: { '/use': { get: { responses: { '200': { content: { 'text/csv': null } } } } } } }, ['GET /use 200 is without text/csv']],
  'removes a header': [post({ responses: { '200': { headers: { ETag: null } } } }), ['POST /use 200 is without ETag']],
  'removes a status': [post({ responses: { '200': null } }), ['POST /use no longer answers 200']],
  'adds a status': [post({ responses: { '409': {} } }), [], ['POST /use may now answer 409']],
  'refuses a kind of credential': [post({ security: [{ key: [] }] }), ['POST /use no longer accepts token']],
  'removes a parameter': [post({ parameters: [] }), ['POST /use no longer accepts query limit']],
  'lowers the maximum of a parameter': [limit({ type: 'integer', minimum: 1, maximum: 50 }), ['POST /use query limit has the maximum 50, not 100']],
  'widens a parameter': [limit({ type: 'number', maximum: 200 }), []],
  'requires a new parameter': [post({ parameters: [...BEFORE.paths['/use'].post.parameters, { in: 'header', name: 'Key', required: true, schema: {} }] }), ['POST /use now requires header Key']],
  'adds a parameter': [post({ parameters: [...BEFORE.paths['/use'].post.parameters, { in: 'header', name: 'Key', schema: {} }] }), []],
  'requires a body': [post({ requestBody: { required: true } }), ['POST /use now requires a body']],
  'removes a body': [post({ requestBody: null }), ['POST /use body is without application/json']],
  'requires a new field of a request': [use({ properties: { at: {} }, required: ['id', 'at'] }), ['Use in requests now requires at']],
  'adds a field of a request': [use({ properties: { at: {} }, required: [] }), []],
  'removes a field of a request': [use({ properties: { kind: null } }), ['Use in requests no longer accepts kind']],
  'narrows an enum of a request': [use({ properties: { kind: { enum: ['b', 'c'] } } }), ['Use in requests: kind no longer accepts "a"']],
  'lets a request name only known values': [use({ properties: { id: { enum: ['a'] } } }), ['Use in requests: id no longer accepts other values']],
  'changes a pattern and a length of a request': [use({ properties: { id: { pattern: '^b', maxLength: 8 } } }), ['Use in requests: id has the maxLength 8, not 9', 'Use in requests: id has another pattern']],
  'no longer accepts a list in a request': [use({ properties: { parts: { type: 'string', items: null } } }), ['Use in requests: parts no longer accepts array']],
  'accepts a second kind of body': [post({ requestBody: json({ $ref: null, oneOf: [{ $ref: '#/components/schemas/Use' }, { type: 'null' }] }) }), []],
  'removes a field of an answer': [count({ properties: { kind: null } }), ['Count in answers no longer contains kind']],
  'adds a field of an answer': [count({ properties: { day: {} }, required: ['count', 'limit', 'day'] }), []],
  'may leave out a field of an answer': [count({ required: ['count'] }), ['Count in answers may now lack limit']],
  'lets a field of an answer be null': [count({ properties: { count: { type: null, anyOf: [{ type: 'integer' }, { type: 'null' }] } } }), ['Count in answers: count may now be null']],
  'lets a field of an answer never be null': [count({ properties: { limit: { type: 'integer', anyOf: null } } }), []],
  'changes the type in an answer': [count({ properties: { count: { type: 'string' } } }), ['Count in answers: count may now be string']],
  'widens an enum of an answer': [count({ properties: { kind: { enum: ['a', 'b', 'c'] } } }), [], ['Count in answers: kind may now be "c"']],
  'narrows an enum of an answer': [count({ properties: { kind: { enum: ['a'] } } }), []],
}; // biome-ignore format: one difference per line

test.each(Object.entries(CASES))('a description that %s is reported so', (_, [patch, breaking, told = []]) => {
  const found = differences(BEFORE as Description, merged(BEFORE, patch) as Description);
  const texts = (breaks: boolean) => found.filter((one) => one.breaks === breaks).map(({ text }) => text);
  expect({ breaking: texts(true), told: texts(false) }).toEqual({ breaking, told });
});
