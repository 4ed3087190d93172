// Validates every request and response in the tests against the OpenAPI description. An undocumented status, field, header or type fails
// the test. Routes without a description are skipped, because test/rules/operations.test.ts reports them once.
import { type Schema, Validator } from '@cfworker/json-schema';
import { getQueryParam } from 'hono/utils/url';
import { createApp } from '../src/app.ts';
import { openapi } from '../src/openapi/document.ts';

interface Node {
  [name: string]: Node | undefined;
}

/** Forbids undocumented fields. The published description allows them, for later versions. */
const description = openapi({ closed: true }) as unknown as Node;
const validators = new Map<Node, Validator>();

function resolve(node: Node | undefined): Node | undefined {
  const ref: unknown = node?.$ref;
  if (typeof ref !== 'string') return node;
  const names = ref.slice('#/'.length).split('/');
  return names.reduce<Node | undefined>((at, name) => at?.[name], description);
}

/** Returns the validation errors of a value. */
export function validationErrors(what: string, schema: Node | undefined, value: unknown): string[] {
  if (schema === undefined) return [`${what} has no schema`];
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = new Validator({ ...schema, components: description.components } as Schema, '2020-12', false);
    validators.set(schema, validator);
  }
  return validator.validate(value).errors.map(({ instanceLocation, error }) => `${what} ${instanceLocation}: ${error}`);
}

/** Marks an operation without a description. */
const UNDESCRIBED: Node = {};
const paths: Record<string, Node | undefined> = { ...description.paths };
for (const { method, path } of createApp(() => new Date(0), console).api.routes) {
  const template = path.replace(/:(\w+)/g, '{$1}');
  if (method !== 'ALL') paths[template] = { [method.toLowerCase()]: UNDESCRIBED, ...paths[template] };
}

/** Returns a pattern for a path template. The pattern never matches `usage` as a business id. */
const patternOf = (template: string) =>
  new RegExp(`^${template.replace('/business/{', '/business/(?!usage(?:/|$)){').replace(/\{\w+\}/g, '[^/]+')}$`);
const parametersIn = (template: string) => template.split('{').length;
/** Sorts templates with fewer parameters first, so that `refused` does not match as an `{access_id}`. */
const templates = Object.entries(paths)
  .sort(([one], [other]) => parametersIn(one) - parametersIn(other))
  .map(([template, operations]) => ({ operations, pattern: patternOf(template) }));

/** Returns a path's operations, and the one with this method, if any. */
function described(method: string, path: string) {
  const [written = ''] = path.split('?');
  const pathname = ['DELETE', 'PATCH'].includes(method) ? written : written.replace(/(?<=.)\/$/, '');
  const operations = templates.find(({ pattern }) => pattern.test(pathname))?.operations;
  return { operations, operation: operations?.[method === 'HEAD' ? 'get' : method.toLowerCase()] };
}

function expectNone(what: string, faults: string[]): void {
  if (faults.length > 0) throw new Error(`does not match openapi.json: ${what.slice(0, 500)}\n${faults.join('\n')}`);
}

type Exchange = { method: string; path: string; answer: { status: number; headers: Headers; text: string } };

/** Throws if a response does not match the description. */
export function expectValidResponse(exchange: Exchange): void {
  const { method, path, answer } = exchange;
  expectNone(`${method} ${path} ${answer.status} ${answer.text}`, responseFaults(exchange));
}

function responseFaults({ method, path, answer }: Exchange): string[] {
  if (method === 'OPTIONS') return answer.status === 204 ? [] : ['OPTIONS is 204'];
  const { operations, operation } = described(method, path);
  if (!operation) {
    const expected = operations ? 405 : 404;
    if (answer.status !== expected) return [`an unknown path is 404, another method 405: this is ${expected}`];
    return method === 'HEAD'
      ? []
      : validationErrors('body', description.components?.schemas?.Message, JSON.parse(answer.text));
  }
  if (operation === UNDESCRIBED) return [];
  const response = resolve(operation.responses?.[answer.status]);
  if (response === undefined) return [`no such status: ${answer.status}`];
  return [...headerFaults(response, answer.headers), ...bodyFaults(response, method, answer)];
}

const OPTIONAL_HEADERS = [
  'WWW-Authenticate',
  'Retry-After',
  'Allow',
  'Accept-Encoding',
  'Content-Disposition',
  'Link',
  'ETag',
  'Server-Timing',
  'Error-Code',
];

function headerFaults(response: Node, headers: Headers): string[] {
  const named = Object.entries(response.headers ?? {}).flatMap(([name, reference]) => {
    const header = resolve(reference);
    return header?.required || headers.has(name) ? validationErrors(name, header?.schema, headers.get(name)) : [];
  });
  const others = OPTIONAL_HEADERS.filter((name) => headers.has(name) && !response.headers?.[name]);
  return [...named, ...others.map((name) => `no such header: ${name}`)];
}

function bodyFaults(response: Node, method: string, { headers, text }: Exchange['answer']): string[] {
  if (response.content === undefined || method === 'HEAD') return text === '' ? [] : ['it has no body'];
  const type = headers.get('Content-Type') ?? '';
  const content = response.content[type];
  if (content === undefined) return [`no such type: ${type}`];
  return validationErrors('body', content.schema, type === 'application/json' ? JSON.parse(text) : text);
}

/** Throws if a message to the alert receiver does not match the description. */
export function expectSent(headers: Record<string, string>, text: string): void {
  const { parameters, requestBody } = description.webhooks?.['limit.reached']?.post ?? {};
  const inHeaders = Object.values(parameters ?? {}).flatMap((parameter) => {
    const { name, schema } = parameter as unknown as Parameter;
    return validationErrors(name, schema, headers[name]);
  });
  const schema = requestBody?.content?.['application/json']?.schema;
  expectNone(text, [...inHeaders, ...validationErrors('body', schema, JSON.parse(text))]);
}

type Parameter = { name: string; in: string; required?: boolean; schema: Node };

/** Throws if a successful request does not match the description. Ignores undescribed headers. */
export function expectValidRequest(call: { method: string; path: string; headers: Headers; body: string }): void {
  const { method, path, headers, body } = call;
  const { operation } = described(method, path);
  if (!operation || operation === UNDESCRIBED) return;
  const json = operation.requestBody?.content?.['application/json'];
  const isJson = body.trim() !== '' && /^application\/json/i.test(headers.get('Content-Type') ?? '');
  const faults = json && isJson ? validationErrors('request', json.schema, JSON.parse(body)) : [];
  for (const parameter of Object.values(operation.parameters ?? {})) {
    const { name, in: place, required, schema } = parameter as unknown as Parameter;
    // A byte that is no UTF-8 stays encoded, as in the service, while URLSearchParams would replace it.
    const value = place === 'query' ? (getQueryParam(path, name) ?? null) : headers.get(name);
    const typed = (schema.type as unknown) === 'integer' ? Number(value) : value;
    if (value !== null) faults.push(...validationErrors(name, schema, typed));
    else if (required && place !== 'path') faults.push(`${name} is required`);
  }
  expectNone(`${method} ${path} ${body}`, faults);
}
