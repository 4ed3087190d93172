// Describes the responses of operations, with their headers and examples.
import * as z from 'zod/mini';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { ERROR_CODES } from '../http/errors.ts';
import type { Success } from '../http/response.ts';
import type { Refused } from './refusals.ts';
import { invalidInput, message, refusal, success } from './schemas.ts';

type Headers = Record<string, z.ZodMiniType>;
const header = (id: string, description: string, schema: z.ZodMiniType = z.string()) =>
  schema.check(z.meta({ header: { id, description } }));
const matching = (pattern: RegExp) => z.string().check(z.regex(pattern));

const timing = z.optional(matching(/^d1;dur=/));
const traced = { 'X-Request-Id': header('RequestId', "Identifies the request in the service's log.") };
export const uncached = {
  ...traced,
  'Cache-Control': header('CacheControl', 'The response must not be stored.', z.literal('no-store')),
  'Server-Timing': header('ServerTiming', 'Milliseconds spent in the database. Absent if it was not queried.', timing),
};
export const cached = z.object({
  ...traced,
  'Cache-Control': header(
    'PublicCacheControl',
    'How long the response can be cached.',
    matching(/^public, max-age=\d+$/),
  ),
  ETag: header('ETag', 'Identifies this version.'),
});
const challenge = {
  'WWW-Authenticate': header(
    'WWWAuthenticate',
    'RFC 6750.',
    matching(/^Bearer(?: error="invalid_token", error_description="[^"\\]+")?$/),
  ),
};
const AGAIN = 'Seconds to wait before retrying the same request';
const retry = {
  'Retry-After': header(
    'RetryAfter',
    `${AGAIN}. Sent with every 503 and every \`rate_limited\` (429).`,
    matching(/^\d+$/),
  ),
};
const LIMIT_ENDS =
  'With `limit_reached`, the time until the day or the billing month ends, which can be weeks. Absent if the limit never allows that many uses, for example if it is 0.';
const retryIfAny = {
  'Retry-After': header(
    'RetryAfterIfAny',
    `${AGAIN}. Always sent with \`rate_limited\`. ${LIMIT_ENDS}`,
    z.optional(matching(/^\d+$/)),
  ),
};
const coded = {
  'Error-Code': header('ErrorCode', 'The error code, for programs. Later versions may add codes.', z.enum(ERROR_CODES)),
};

const examplesOf = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));

/** Describes a JSON body. A request example and its response share a name, so mock servers can match them. */
export const json = (schema: z.ZodMiniType, examples: Record<string, object>) => ({
  'application/json': { schema, examples: examplesOf(examples) },
});

/** Describes a success response, with examples of its `data`. */
export function ok<S extends z.ZodMiniType>(description: string, data: S, examples: Record<string, z.infer<S>>) {
  const bodies: Record<string, Success<z.infer<S>>> = {};
  for (const [name, example] of Object.entries(examples)) bodies[name] = { status: true, data: example };
  return { description, headers: z.object(uncached), content: json(success(data), bodies) };
}

/**
 * Adds a CSV file to a success response, for callers that prefer it. `others` describes additional headers, such as the Link header of a
 * paged file.
 */
export const orCsv = (
  { headers, content, ...response }: ReturnType<typeof ok>,
  examples: Record<string, string>,
  others: Headers = {},
) => ({
  ...response,
  headers: z.extend(headers, {
    Vary: header('Vary', 'The response depends on this header.', z.literal('Accept')),
    'Content-Disposition': header(
      'ContentDisposition',
      'The name of the CSV file.',
      z.optional(matching(/^attachment; /)),
    ),
    ...others,
  }),
  content: { ...content, 'text/csv': { schema: z.string(), examples: examplesOf(examples) } },
});
export const linked = {
  Link: header(
    'Link',
    'The URL of the next page. Absent on the last page.',
    z.optional(matching(/^<[^>]+>; rel="next"$/)),
  ),
};

/** The meaning of each status. A status with an id is a component, shared by all operations. */
const STATUSES: Record<string, { id?: string; description: string; headers?: Headers }> = {
  400: { id: 'BadRequest', description: 'The body ended early or is not UTF-8' },
  401: { description: 'The credential is missing or invalid', headers: challenge },
  403: { description: 'The credential does not allow this, or not from this origin, as `message` states' },
  404: { description: 'An id in the path is not valid' },
  413: { id: 'PayloadTooLarge', description: 'The body is larger than 1 MiB' },
  415: {
    id: 'UnsupportedMediaType',
    description: 'The body is compressed',
    headers: {
      'Accept-Encoding': header('AcceptEncoding', 'The encoding that would be accepted.', z.literal('identity')),
    },
  },
  422: { description: 'The input is invalid' },
  429: { id: 'TooManyAttempts', description: 'Too many requests', headers: retry },
  500: { id: 'ServerError', description: 'The service failed' },
  503: {
    id: 'ServiceUnavailable',
    description: 'The database is unavailable, or only the operator is admitted. A retry is safe',
    headers: retry,
  },
};
const OR_UNKNOWN = ", or `business_id` is not one of the caller's businesses";

const schemaOf = (body: object) => ('errors' in body ? invalidInput : 'status' in body ? refusal : message);
const components: Record<string, ZodOpenApiResponseObject> = {};

/** Returns one response per status, with its bodies as examples. */
export function refusals(reasons: Record<string, Refused>): Record<string, ZodOpenApiResponseObject> {
  const byStatus = Object.groupBy(Object.entries(reasons), ([, { status }]) => status);
  const responses = Object.entries(byStatus).map(([status, entries = []]) => {
    const meaning = STATUSES[status];
    if (meaning === undefined) throw new Error(`status ${status} has no description`);
    const { id, description } = meaning;
    const headers = 'limit_reached' in Object.fromEntries(entries) ? retryIfAny : meaning.headers;
    const examples = Object.fromEntries(entries.map(([name, { body }]) => [name, body]));
    const when = entries.flatMap(([, { when: reason = [] }]) => reason).join(', or ');
    const [schema = message, ...others] = new Set(Object.values(examples).map(schemaOf));
    const response = {
      description: `${description}${when && `: ${when}`}${'unknown_business' in examples ? OR_UNKNOWN : ''}.`,
      headers: z.object({ ...uncached, ...coded, ...headers }),
      content: json(others.length === 0 ? schema : z.union([schema, ...others]), examples),
    };
    if (id === undefined || entries.length > 1) return [status, response];
    components[id] ??= { id, ...response };
    return [status, components[id]];
  });
  return Object.fromEntries(responses);
}
