// Builds the paths of the description. An operation's path, method, parameters, body, credentials and most refusals come from its
// definition. The rest is in the description of its resource.
import * as z from 'zod/mini';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { allowsKeys, allowsOperators } from '../core/policy.ts';
import { NO_QUERY } from '../input.ts';
import { API, type Operation } from '../operation.ts';
import { idempotencyKey, inPath, ORIGIN, type ParameterDescription, parameter } from './parameters.ts';
import {
  BROKEN_BODY,
  FAILURES,
  invalidInput,
  NO_BODY,
  type Refused,
  refusalsOf,
  unknownParameter,
} from './refusals.ts';
import { json, refusals } from './responses.ts';
import { component } from './schemas.ts';

/** The words of an operator's command (src/cli). Its help is the operation's summary. */
export type CommandWords = {
  /** Its own words, and its arguments with capital letters. */
  usage: string;
  /** Maps an argument or option to its field if their names differ. */
  as?: Record<string, string>;
  /** The command that shows whether a change was made if its response was lost. Default: `business show` if the path contains `{ID}`. */
  shownBy?: string;
  /** What its arguments and options mean, if their rules do not say it. */
  note?: string;
};

/** The parts of an operation's description that do not follow from its definition. */
export type Description = {
  tag: 'usage' | 'businesses' | 'access' | 'session';
  summary: string;
  command?: CommandWords;
  description: string;
  /** Descriptions of the parameters whose meaning differs from the default, by name. */
  parameters?: Record<string, ParameterDescription>;
  /** The request body. `component` names the definition's schema. `schema` is for bodies that the handler parses itself. */
  body?: {
    description?: string;
    component?: readonly [name: string, description: string];
    schema?: z.ZodMiniType;
    examples: Record<string, object>;
  };
  success: ZodOpenApiResponseObject;
  /** Inputs that the definition's schema rejects, by example name. */
  invalid?: Record<string, unknown>;
  /** Additional refusals, except for invalid input. */
  refusals?: Record<string, Refused>;
};

/** A description for each of a resource's operations. */
export type DescriptionsOf<Operations> = { readonly [Id in keyof Operations]: Description };

/** Returns the schema of a nonempty body. */
const filled = (body: z.ZodMiniType) =>
  body instanceof z.ZodMiniOptional ? (body._zod.def.innerType as z.ZodMiniType) : body;

function requestBody(accepted: z.ZodMiniType | undefined, words: Description['body']) {
  if (accepted === undefined && words === undefined) return {};
  const { description, component: named, examples = {} } = words ?? {};
  const schema = words?.schema ?? (accepted && named && component(...named, filled(accepted)));
  if (schema === undefined) throw new Error('a body has a schema and no words, or words and no schema');
  const required = accepted !== undefined && !z.safeParse(accepted, undefined).success;
  return {
    requestBody: {
      ...(description === undefined ? {} : { description }),
      ...(required ? { required } : {}),
      content: json(schema, examples),
    },
  };
}

function parametersOf({ rules, query = NO_QUERY }: Operation, own: Description['parameters'] = {}) {
  const takesKey = rules.some(({ retry }) => retry === 'with_key');
  return [
    ...(takesKey ? [idempotencyKey(own['Idempotency-Key'])] : []),
    ...Object.entries(query.schema.shape).map(([name, schema]) =>
      parameter('query', name, schema as z.ZodMiniType, own[name]),
    ),
  ];
}

/** Describes an operation. Its credentials and refusals follow from its rules. */
function describe(operation: Operation, words: Description): ZodOpenApiOperationObject {
  const { id, method, rules, ruleOf, query = NO_QUERY, code } = operation;
  const [first] = rules;
  const body = ruleOf === undefined ? first.body : undefined; // the description words a body that determines the rule
  const { session, token } = first;
  const { tag, summary, description, success, invalid = {}, refusals: own } = words;
  const parameters = parametersOf(operation, words.parameters);
  const reasons: Record<string, Refused> = Object.assign(
    unknownParameter(query),
    ...Object.entries(invalid).map(([name, input]) => ({ [name]: invalidInput(body ?? query.schema, input) })),
    own,
    method === 'GET' ? {} : { ...(words.body === undefined ? NO_BODY : {}), ...BROKEN_BODY },
    ...rules.map((rule) => refusalsOf(rule, operation)),
    FAILURES,
  );
  return {
    operationId: id,
    summary,
    description,
    tags: [tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(body, words.body),
    security: [
      ...(session === 'only' ? [{ sessionKey: [] }] : allowsKeys(first) ? [{ apiKey: [] }] : []),
      ...(allowsOperators(first) ? [{ operatorKey: [] }] : []),
      ...(token ? [{ businessToken: [] }] : []),
      ...(code === undefined ? [] : [{}]),
    ],
    responses: { 200: success, ...refusals(reasons) },
  };
}

/** Returns whether the service compares the page's origin with the registered sites. */
const comparesOrigin = ({ rules }: Operation, { tag }: Description) => rules.some(allowsKeys) && tag !== 'session';

/** Describes the paths of all operations. */
export function pathsOf<Operations extends Record<string, Operation>>(
  operations: Operations,
  descriptions: DescriptionsOf<Operations>,
): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const [path, found = []] of Object.entries(Object.groupBy(Object.values(operations), ({ path }) => path))) {
    const described = found.map((operation) => ({ operation, words: descriptions[operation.id] as Description }));
    const shared = [
      ...[...path.matchAll(/:(\w+)/g)].map(([, name = '']) => inPath(name)),
      ...(described.some(({ operation, words }) => comparesOrigin(operation, words)) ? [ORIGIN] : []),
    ];
    const items = described.map(({ operation, words }) => [operation.method.toLowerCase(), describe(operation, words)]);
    paths[`${API}${path.replaceAll(/:(\w+)/g, '{$1}')}`] = {
      ...(shared.length > 0 && { parameters: shared }),
      ...Object.fromEntries(items),
    };
  }
  return paths;
}
