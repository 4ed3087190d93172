// The public operations: health and the OpenAPI description.
import * as z from 'zod/mini';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { health } from '../databases/description.ts';
import { FAILURES, PUBLIC, unknownParameter } from '../description/refusals.ts';
import { cached, json, refusals, uncached } from '../description/responses.ts';
import { NO_QUERY } from '../input.ts';

const openApi = z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) });

export const publicPaths: ZodOpenApiPathsObject = {
  '/api/v1/health': {
    get: {
      operationId: 'readHealth',
      tags: ['description'],
      summary: 'Check whether the service and its databases respond',
      description: 'For uptime checks. Every caller receives a response within 5 seconds.',
      security: [],
      responses: {
        200: {
          description: 'All databases respond. The result can be up to 5 seconds old, or 10 if a database is slow.',
          headers: z.object(uncached),
          content: json(health, {
            healthy: {
              status: true,
              runs: { alerts: '2026-03-15T12:00:00.000000Z', purge: '2026-03-15T12:00:00.000000Z' },
              large_databases: [],
            },
          }),
        },
        ...refusals({ ...unknownParameter(NO_QUERY), ...FAILURES }),
      },
    },
  },
  '/api/v1/openapi.json': {
    get: {
      operationId: 'readDescription',
      tags: ['description'],
      summary: 'Read this description',
      description: 'Describes every operation with its parameters, responses and errors, as OpenAPI 3.1.',
      security: [],
      responses: {
        200: {
          description: 'The description in OpenAPI 3.1. It can be cached for an hour.',
          headers: cached,
          content: json(openApi, { start: { openapi: '3.1.0', info: {}, paths: {} } }),
        },
        304: { description: 'Unchanged since the version in `If-None-Match`.', headers: cached },
        ...refusals({ ...unknownParameter(NO_QUERY), ...PUBLIC }),
      },
    },
  },
};
