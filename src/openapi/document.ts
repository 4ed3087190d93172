// Generates the OpenAPI 3.1 description at build time. The Worker only serves the file. Schemas, policy and refusals come from the
// service, and the test suite validates every response against the description (test/contract.ts).
import * as z from 'zod/mini';
import { createDocument, createSchema, type ZodOpenApiOverride, type ZodOpenApiPathsObject } from 'zod-openapi';
import { MESSAGE_TYPE } from '../core/webhook.ts';
import { DESCRIBED } from '../wire/requests.ts';
import * as schemas from '../wire/responses.ts';
import { access } from './access.ts';
import { businesses } from './businesses.ts';
import { alertOfMonth } from './examples.ts';
import { parameter } from './parameters.ts';
import { pathsOf } from './paths.ts';
import { publicOperations } from './public.ts';
import { json } from './responses.ts';
import { session } from './session.ts';
import { usage } from './usage.ts';

const DESCRIPTION = `Counts the uses of a business per day, and lets its token work only on the domains that its owner registered.

**Credentials.** Send either: \`Authorization: Bearer <API key or business token>\`. An *API key* is secret. Keep it on servers; it
acts on every business of its user, or on one. It may be read-only; or record-only, for reading usage and recording uses. A *business
token* is public. Put it into web pages; it acts on its own business only. Once a business has registered domains, pages of other
domains are refused, whichever they send, and a token is refused without \`Origin\`.

**Responses.** A success has \`status: true\` and \`data\`. An unknown path gets 404 and another method 405, both with
\`{"message": "…"}\`. HEAD works wherever GET does: it has the same status and headers, except Content-Length, and no body.
Every page can read every response (\`Access-Control-Allow-Origin: *\`). A response that depends on a credential must not be
stored. Days are UTC.`;

const sent = (name: string, pattern: RegExp, description: string, example: string) =>
  parameter('header', name, z.string().check(z.regex(pattern)), [description, example]);

/** The webhook that sends alerts (docs/alerts.md). Tests validate every message against it. */
const webhooks: ZodOpenApiPathsObject = {
  [MESSAGE_TYPE]: {
    post: {
      operationId: 'receiveAlerts',
      tags: ['alerts'],
      summary: 'Receive alerts',
      description: `What the service sends to the receiver that the operator set up, when businesses have reached a threshold of a limit. The headers are
those of Standard Webhooks (https://www.standardwebhooks.com). Anything but a status from 200 to 299 within 10 seconds is a failure: then the
same message comes again, each minute for three days, or each hour if the status is from 400 to 499, except 401, 408, 425 and 429. It can also
come twice: ignore a \`webhook-id\` that you have.`,
      security: [],
      parameters: [
        sent(
          'webhook-id',
          /^msg_[\da-f-]{36}$/,
          'Identifies the message: the same each time it is sent.',
          'msg_3e1fb0f4-4ab2-4ad9-9d4b-0d1a5f3ae0a5',
        ),
        sent('webhook-timestamp', /^\d+$/, 'When it is sent, this time, in seconds since 1970.', '1773576060'),
        sent(
          'webhook-signature',
          /^v1,[A-Za-z\d+/]{43}=$/,
          '`v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`.',
          'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
        ),
      ],
      requestBody: {
        description: 'The message.',
        required: true,
        content: json(schemas.alertMessage, {
          message: {
            type: MESSAGE_TYPE,
            timestamp: '2026-03-15T12:01:00.000000Z',
            data: { alerts: [{ ...alertOfMonth, business_id: 1, user_id: 7 }] },
          },
        }),
      },
      responses: {
        '2XX': { description: 'The receiver has the message. The service does not read the body.' },
      },
    },
  },
};

const bearer = (bearerFormat: string, description: string) =>
  ({ type: 'http', scheme: 'bearer', bearerFormat, description }) as const;
const KEY =
  'An API key: secret, for servers. It acts on every business of its user, or on one, and may be read-only or record-only.';
const SESSION = 'The key of a session of the console. It is sent wherever an API key is, and ends by itself.';
const OPERATOR =
  'An operator key: secret, for the servers of whoever runs the service. It acts on every business, or only records uses.';
const TOKEN = 'A business token: public, for web pages. It acts on its own business, from the registered domains.';

/**
 * Returns the override for a description. In a `closed` one, undescribed fields are errors. Otherwise, later versions may add fields to a
 * response.
 */
const overrideOf = (closed: boolean): ZodOpenApiOverride =>
  function override({ zodSchema, jsonSchema, io }) {
    const { def } = zodSchema._zod;
    Object.assign(jsonSchema, DESCRIBED.get(zodSchema));
    if (closed && jsonSchema.type === 'object') jsonSchema.additionalProperties ??= false;
    else if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    if (def.type !== 'pipe') return;
    // Both sides of a pipe apply: the routes check the length of a list before its entries.
    Object.assign(jsonSchema, createSchema(def.out, { io, opts: { override } }).schema);
  };

/** Returns the description. `closed` is for tests, which reject undescribed fields in responses. */
export const openapi = ({ closed } = { closed: false }) =>
  createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Business Usage and Access',
        version: '1.0.0',
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'The host that serves this description.' }],
      tags: [
        { name: 'usage', description: 'Read and record the uses of a business.' },
        {
          name: 'businesses',
          description: 'List the businesses of an API key, or all for the operator, and what each used.',
        },
        {
          name: 'access',
          description: 'Manage the domains on which a business token works, the token, and read who changed what.',
        },
        { name: 'alerts', description: 'What the service sends to a receiver.' },
        { name: 'session', description: 'Start and end sessions of the console for owners.' },
        { name: 'description', description: 'The health of the service, and this document.' },
      ],
      paths: pathsOf({ ...usage, ...access, ...businesses, ...session }, publicOperations),
      webhooks,
      components: {
        securitySchemes: {
          apiKey: bearer('bua_sk_…', KEY),
          businessToken: bearer('bua_pk_…', TOKEN),
          sessionKey: bearer('bua_sk_…', SESSION),
          operatorKey: bearer('bua_op_…', OPERATOR),
        },
      },
    },
    { override: overrideOf(closed) },
  );
