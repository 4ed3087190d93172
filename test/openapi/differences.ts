// Names what a client of one OpenAPI description may notice in another: what breaks it, and what it should merely know. A request must
// still accept whatever it accepted, and an answer may be only what it could be. Both ask whether one schema lies within another, in
// opposite directions.

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };
type Member = { [member: string]: Member } & { [index: number]: Member };
type Side = 'request' | 'answer';
export type Difference = { text: string; breaks: boolean };

const LOWER = ['minimum', 'minLength', 'minItems'] as const;
const UPPER = ['maximum', 'maxLength', 'maxItems'] as const;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

type Bounds = { [bound in (typeof LOWER)[number] | (typeof UPPER)[number]]?: number };
interface Schema extends Bounds {
  $ref?: string;
  type?: string | string[];
  enum?: Json[];
  const?: Json;
  format?: Json;
  pattern?: Json;
  not?: Json;
  propertyNames?: Json;
  uniqueItems?: Json;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}
type Body = { $ref?: string; required?: boolean; headers?: object; content?: Record<string, { schema?: Schema }> };
type Parameter = { name: string; in: string; required?: boolean; schema?: Schema };
type Operation = {
  security?: object[];
  parameters?: Parameter[];
  requestBody?: Body;
  responses: Record<string, Body>;
};
export type Description = { paths: Record<string, Record<string, unknown>>; components?: object };

const text = JSON.stringify;
const at = (where: string, member: string) => `${where}${where.includes(': ') ? '.' : ': '}${member}`;
const lacking = (all: string[] = [], some: string[] = []) => all.filter((name) => !some.includes(name));
const valuesOf = (schema: Schema) => schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
/** The schemas of which a value matches one. */
const branchesOf = (schema: Schema): Schema[] =>
  schema.anyOf ??
  schema.oneOf ??
  (Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : [schema]);

export function differences(before: Description, after: Description): Difference[] {
  const resolved = <T extends { $ref?: string }>(document: Description, { $ref, ...node }: T): T =>
    $ref === undefined
      ? (node as T)
      : ($ref
          .slice(2)
          .split('/')
          .reduce((found, name) => found[name] as Member, document as unknown as Member) as unknown as T);
  const known = new Map<string, Difference[]>();

  function ofSchemas(side: Side, where: string, one: Schema = {}, other: Schema = {}): Difference[] {
    if (one.$ref !== undefined && one.$ref === other.$ref) {
      const name = `${one.$ref.replace(/.*\//, '')} in ${side}s`;
      if (!known.has(name)) {
        known.set(name, []); // a schema may contain itself
        known.set(name, ofSchemas(side, name, resolved(before, one), resolved(after, other)));
      }
      return known.get(name) ?? [];
    }
    const [old, now] = [resolved(before, one), resolved(after, other)];
    const [inner, outer] = side === 'request' ? [old, now] : [now, old];
    const [within, around] = [branchesOf(inner), branchesOf(outer)];
    if (within.length + around.length > 2)
      return within.flatMap((branch) => {
        const found = around.map((possible) =>
          side === 'request' ? ofSchemas(side, where, branch, possible) : ofSchemas(side, where, possible, branch),
        );
        return found.reduce((fewest, these) => (these.length < fewest.length ? these : fewest));
      });
    return ofLeaves(side, where, old, now);
  }

  function ofLeaves(side: Side, where: string, old: Schema, now: Schema): Difference[] {
    const [inner, outer] = side === 'request' ? [old, now] : [now, old];
    const says = side === 'request' ? 'no longer accepts' : 'may now be';
    const found: Difference[] = [];
    const add = (what: string, breaks = true) => found.push({ text: `${where} ${what}`, breaks });
    const isType = inner.type === outer.type || (inner.type === 'integer' && outer.type === 'number');
    if (outer.type !== undefined && !isType)
      return [{ text: `${where} ${says} ${inner.type ?? 'of any type'}`, breaks: true }];

    // A client must expect new values in answers, so wider bounds are only told.
    const isRequest = side === 'request';
    const [some, all] = [valuesOf(inner), valuesOf(outer)];
    const others = some?.map((value) => text(value)).filter((value) => !all?.some((one) => text(one) === value)) ?? [
      'other values',
    ];
    if (all !== undefined && others.length > 0) add(`${says} ${others.join(', ')}`, isRequest);
    const isLower = (bound: (typeof LOWER)[number]) => (inner[bound] ?? -Infinity) < (outer[bound] ?? -Infinity);
    const isHigher = (bound: (typeof UPPER)[number]) => (inner[bound] ?? Infinity) > (outer[bound] ?? Infinity);
    for (const bound of [...LOWER.filter(isLower), ...UPPER.filter(isHigher)])
      add(`has the ${bound} ${now[bound] ?? 'of no bound'}, not ${old[bound] ?? 'of no bound'}`, isRequest);
    for (const rule of ['format', 'pattern', 'not', 'propertyNames', 'uniqueItems'] as const)
      if (outer[rule] !== undefined && text(inner[rule]) !== text(outer[rule])) add(`has another ${rule}`, isRequest);

    const [had, has] = [old.properties ?? {}, now.properties ?? {}];
    const isOpen = isRequest && now.additionalProperties !== false;
    const gone = isOpen ? [] : lacking(Object.keys(had), Object.keys(has));
    for (const name of gone) add(`${isRequest ? 'no longer accepts' : 'no longer contains'} ${name}`);
    const [needed, given] = isRequest ? [now.required, old.required] : [old.required, now.required];
    for (const name of lacking(lacking(needed, given), gone))
      add(`${isRequest ? 'now requires' : 'may now lack'} ${name}`);
    for (const [name, schema] of Object.entries(had))
      if (has[name] !== undefined) found.push(...ofSchemas(side, at(where, name), schema, has[name]));
    const [rest, restNow] = [old.additionalProperties, now.additionalProperties];
    if (typeof rest === 'object' && typeof restNow === 'object')
      found.push(...ofSchemas(side, at(where, '*'), rest, restNow));
    if (old.items && now.items) found.push(...ofSchemas(side, at(where, '[]'), old.items, now.items));
    return found;
  }

  function ofBodies(side: Side, where: string, one: Body, other: Body): Difference[] {
    const [old, now] = [resolved(before, one), resolved(after, other)];
    const gone = lacking(Object.keys(old.content ?? {}), Object.keys(now.content ?? {}));
    const headers = lacking(Object.keys(old.headers ?? {}), Object.keys(now.headers ?? {}));
    return [
      ...[...gone, ...headers].map((name) => ({ text: `${where} is without ${name}`, breaks: true })),
      ...Object.entries(old.content ?? {}).flatMap(([type, { schema }]) =>
        gone.includes(type) ? [] : ofSchemas(side, where, schema, now.content?.[type]?.schema),
      ),
    ];
  }

  function ofOperations(where: string, old: Operation, now: Operation | undefined): Difference[] {
    const breaking = (what: string) => [{ text: `${where} ${what}`, breaks: true }];
    if (now === undefined) return breaking('is removed');
    const credentials = ({ security = [] }: Operation) => security.flatMap((scheme) => Object.keys(scheme));
    const nameOf = (parameter: Parameter) => `${parameter.in} ${parameter.name}`;
    const parametersOf = ({ parameters = [] }: Operation) => new Map(parameters.map((one) => [nameOf(one), one]));
    const [had, has] = [parametersOf(old), parametersOf(now)];
    const isNew = ([name, { required }]: [string, Parameter]) => required && !had.get(name)?.required;
    return [
      ...lacking(credentials(old), credentials(now)).flatMap((scheme) => breaking(`no longer accepts ${scheme}`)),
      ...lacking([...had.keys()], [...has.keys()]).flatMap((name) => breaking(`no longer accepts ${name}`)),
      ...[...has].filter(isNew).flatMap(([name]) => breaking(`now requires ${name}`)),
      ...[...had].flatMap(([name, { schema }]) =>
        has.has(name) ? ofSchemas('request', `${where} ${name}`, schema, has.get(name)?.schema) : [],
      ),
      ...(now.requestBody?.required && !old.requestBody?.required ? breaking('now requires a body') : []),
      ...(old.requestBody ? ofBodies('request', `${where} body`, old.requestBody, now.requestBody ?? {}) : []),
      ...Object.entries(old.responses).flatMap(([status, body]) => {
        const answer = now.responses[status];
        if (answer === undefined) return breaking(`no longer answers ${status}`);
        return ofBodies('answer', `${where} ${status}`, body, answer);
      }),
      ...lacking(Object.keys(now.responses), Object.keys(old.responses)).map((status) => ({
        text: `${where} may now answer ${status}`,
        breaks: false,
      })),
    ];
  }

  const found = Object.entries(before.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).flatMap((method) =>
      ofOperations(
        `${method.toUpperCase()} ${path}`,
        methods[method] as Operation,
        after.paths[path]?.[method] as Operation | undefined,
      ),
    ),
  );
  return [...new Map(found.map((one) => [one.text, one])).values()];
}
