// Holds every answer of the test suite against the OpenAPI description: an undocumented status, field, header or type fails
// the test that met it.
import { type Schema, Validator } from '@cfworker/json-schema';
import { openapi } from '../src/openapi/document.ts';

interface Node {
  [name: string]: Node | undefined;
}

const published = JSON.parse(JSON.stringify(openapi())) as Node;
/** The description is open to fields of later versions; in an answer of today, a field that it does not name is a mistake. */
const strict = closed(published) as Node;
const validators = new Map<Node, Validator>();

function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const inside = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]));
  const isOpen = inside.type === 'object' && 'properties' in inside && !('additionalProperties' in inside);
  return isOpen ? { ...inside, additionalProperties: false } : inside;
}

function resolve(node: Node | undefined): Node | undefined {
  const ref: unknown = node?.$ref;
  if (typeof ref !== 'string') return node;
  return ref
    .slice('#/'.length)
    .split('/')
    .reduce<Node | undefined>((at, name) => at?.[name], strict);
}

/** What is wrong with a value, or nothing. */
function faultOf(what: string, schema: Node | undefined, value: unknown, document = strict): string[] {
  if (schema === undefined) return [`${what} has no schema`];
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = new Validator({ ...schema, components: document.components } as Schema, '2020-12', false);
    validators.set(schema, validator);
  }
  return validator.validate(value).errors.map(({ instanceLocation, error }) => `${what} ${instanceLocation}: ${error}`);
}

const templates = Object.keys(published.paths ?? {}).map((template) => ({
  template,
  pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '(?!usage/)[^/]+')}$`), // `usage` is never an id
}));

/** Which operation of the description a call is, if any. */
function operationOf(document: Node, method: string, path: string) {
  const [pathname = ''] = path.split('?');
  const template = templates.find(({ pattern }) => pattern.test(pathname))?.template;
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  return { known: template !== undefined, operation: template && document.paths?.[template]?.[verb] };
}

function hold(what: string, faults: string[]): void {
  if (faults.length > 0) throw new Error(`openapi.json does not say so: ${what.slice(0, 500)}\n${faults.join('\n')}`);
}

type Exchange = { method: string; path: string; answer: { status: number; headers: Headers; text: string } };

/** Throws where an answer is not one that the description promises. */
export function expectDescribed(exchange: Exchange): void {
  const { method, path, answer } = exchange;
  hold(`${method} ${path} ${answer.status} ${answer.text}`, answerFaults(exchange));
}

function answerFaults({ method, path, answer }: Exchange): string[] {
  if (method === 'OPTIONS') return answer.status === 204 ? [] : ['OPTIONS is 204'];
  const { known, operation } = operationOf(strict, method, path);
  if (!operation) {
    const expected = known ? 405 : 404;
    if (answer.status !== expected) return [`an unknown path is 404, another method 405: this is ${expected}`];
    return method === 'HEAD' ? [] : faultOf('body', strict.components?.schemas?.Message, JSON.parse(answer.text));
  }
  const described = resolve(operation.responses?.[answer.status]);
  if (described === undefined) return [`no such status: ${answer.status}`];
  return [...headerFaults(described, answer.headers), ...bodyFaults(described, method, answer)];
}

function headerFaults(described: Node, headers: Headers): string[] {
  const named = Object.entries(described.headers ?? {}).flatMap(([name, reference]) => {
    const header = resolve(reference) as { required?: unknown; schema?: Node } | undefined;
    const absent = header?.required === false && !headers.has(name);
    return absent ? [] : faultOf(name, header?.schema, headers.get(name));
  });
  const others = ['WWW-Authenticate', 'Retry-After', 'Allow', 'ETag', 'Server-Timing'].filter(
    (name) => !described.headers?.[name],
  );
  return [...named, ...others.filter((name) => headers.has(name)).map((name) => `no such header: ${name}`)];
}

function bodyFaults(described: Node, method: string, { headers, text }: Exchange['answer']): string[] {
  const content = described.content?.['application/json'];
  if (content === undefined || method === 'HEAD') return text === '' ? [] : ['it has no body'];
  if (headers.get('Content-Type') !== 'application/json') return ['it is application/json'];
  return faultOf('body', content.schema, JSON.parse(text));
}

/** Throws where a call that succeeded is not one that the description tells how to make. It may hold what the service ignores. */
export function expectAskable(call: { method: string; path: string; headers: Headers; body: string }): void {
  const { method, path, headers, body } = call;
  const { operation } = operationOf(published, method, path);
  if (!operation) return;
  const json = operation.requestBody?.content?.['application/json'];
  const sent = json && body.trim() !== '' && /^application\/json/i.test(headers.get('Content-Type') ?? '');
  const faults = sent ? faultOf('request', json.schema, JSON.parse(body), published) : [];
  const query = new URL(path, 'https://any.example').searchParams;
  for (const parameter of Object.values(operation.parameters ?? {})) {
    const { name, in: place, schema } = resolve(parameter) as unknown as { name: string; in: string; schema: Node };
    const value = place === 'query' ? query.get(name) : headers.get(name);
    if (value !== null) faults.push(...faultOf(name, schema, value, published));
  }
  hold(`${method} ${path} ${body}`, faults);
}
