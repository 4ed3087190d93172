// Builds the paths of the description. An operation's path, method, parameters, body, credentials and most refusals come from its route.
// The rest is in the description files, one per tag.
import * as z from 'zod/mini';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { createApp } from '../app.ts';
import { allowsKeys, allowsOperators, POLICY } from '../core/policy.ts';
import { ACCEPTS, type Accepts } from '../guard.ts';
import { NO_QUERY } from '../wire/requests.ts';
import { component } from '../wire/responses.ts';
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

/** The parts of an operation's description that its route does not define. */
export type Description = {
  operationId: string;
  summary: string;
  description: string;
  /** Descriptions of the parameters whose meaning differs from the default, by name. */
  parameters?: Record<string, ParameterDescription>;
  /** The request body. `component` names the route's schema. `schema` is for bodies that the handler parses itself. */
  body?: {
    description?: string;
    component?: readonly [name: string, description: string];
    schema?: z.ZodMiniType;
    examples: Record<string, object>;
  };
  success: ZodOpenApiResponseObject;
  /** Inputs that the route's schema rejects, by example name. */
  invalid?: Record<string, unknown>;
  /** Additional refusals, except for invalid input. */
  refusals?: Record<string, Refused>;
};

/** Descriptions by method and path, such as `GET /api/v1/usage`, in the order of the document. */
export type DescriptionsByRoute = Record<string, Description>;

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

function parametersOf({ operations, query = NO_QUERY }: Accepts, own: Description['parameters'] = {}) {
  const takesKey = operations.some((operation) => POLICY[operation].retry === 'with_key');
  return [
    ...(takesKey ? [idempotencyKey(own['Idempotency-Key'])] : []),
    ...Object.entries(query.schema.shape).map(([name, schema]) =>
      parameter('query', name, schema as z.ZodMiniType, own[name]),
    ),
  ];
}

/** Describes an operation. Its credentials and refusals follow from the policies of the route's operations. */
function operationOf(method: string, path: string, accepts: Accepts, words: Description): ZodOpenApiOperationObject {
  const { operations, query = NO_QUERY, body, codeIn } = accepts;
  const [first] = operations;
  const { resource, session, token } = POLICY[first];
  const { operationId, summary, description, success, invalid = {}, refusals: own } = words;
  const parameters = parametersOf(accepts, words.parameters);
  const reasons: Record<string, Refused> = Object.assign(
    unknownParameter(query),
    ...Object.entries(invalid).map(([name, input]) => ({ [name]: invalidInput(body ?? query.schema, input) })),
    own,
    method === 'GET' ? {} : { ...(words.body === undefined ? NO_BODY : {}), ...BROKEN_BODY },
    ...operations.map((operation) => refusalsOf(operation, path.includes('{business_id}'))),
    FAILURES,
  );
  return {
    operationId,
    summary,
    description,
    tags: [resource],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(body, words.body),
    security: [
      ...(session === 'only' ? [{ sessionKey: [] }] : allowsKeys(first) ? [{ apiKey: [] }] : []),
      ...(allowsOperators(first) ? [{ operatorKey: [] }] : []),
      ...(token ? [{ businessToken: [] }] : []),
      ...(codeIn === undefined ? [] : [{}]),
    ],
    responses: { 200: success, ...refusals(reasons) },
  };
}

/** Returns whether the service compares the page's origin with the registered domains. */
const comparesOrigin = ({ operations }: Accepts) =>
  operations.some((operation) => allowsKeys(operation) && POLICY[operation].resource !== 'session');

/** Returns each route's accepted input by method and path, or null for a public route. */
function routes(): Map<string, Accepts | null> {
  const found = new Map<string, Accepts | null>();
  for (const { method, path, handler } of createApp(() => new Date(0), console).api.routes) {
    const route = `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`;
    if (method !== 'ALL') found.set(route, ACCEPTS.get(handler) ?? found.get(route) ?? null);
  }
  return found;
}

/** Describes the paths of all routes. Throws if a route has no description or a description has no route. */
export function pathsOf(
  words: DescriptionsByRoute,
  publicOnes: Record<string, ZodOpenApiOperationObject>,
): ZodOpenApiPathsObject {
  const accepted = routes();
  const described = [...Object.keys(words), ...Object.keys(publicOnes)];
  const undescribed = [...accepted.keys()].filter((route) => !described.includes(route));
  if (undescribed.length > 0) throw new Error(`src/openapi has no words for ${undescribed.join(', ')}`);
  const paths: ZodOpenApiPathsObject = {};
  for (const route of described) {
    const [method = '', path = ''] = route.split(' ');
    const accepts = accepted.get(route);
    const own = words[route];
    const operation = accepts && own ? operationOf(method, path, accepts, own) : publicOnes[route];
    if (accepts === undefined || operation === undefined)
      throw new Error(`src/openapi has words for ${route}, which is not such a route`);
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  for (const [path, item] of Object.entries(paths)) {
    const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => inPath(name));
    const isCompared = [...accepted].some(
      ([route, accepts]) => route.endsWith(` ${path}`) && accepts && comparesOrigin(accepts),
    );
    const shared = isCompared ? [...ids, ORIGIN] : ids;
    if (shared.length > 0) paths[path] = { parameters: shared, ...item };
  }
  return paths;
}
