// Generates the OpenAPI 3.1 description at build time. The Worker only serves the file. Schemas, rules and refusals come from the service,
// and the test suite validates every response against the description (test/contract.ts).
import { createDocument, createSchema, type ZodOpenApiOverride } from 'zod-openapi';
import { webhooks } from '../alerts/description.ts';
import { pathsOf } from '../description/paths.ts';
import { NARROW_KINDS, ROLE_RESTRICTIONS } from '../description/roles.ts';
import { DESCRIPTIONS } from '../descriptions.ts';
import { JSON_SCHEMAS } from '../input.ts';
import { OPERATIONS } from '../operations.ts';
import { publicPaths } from './public.ts';

const DESCRIPTION = `Counts the daily uses of each business, and restricts its token to the sites that its owner registered.

**Credentials.** Send an API key or a business token: \`Authorization: Bearer <API key or business token>\`. An *API key* is secret.
Keep it on servers. It gives access to all businesses of its user, or to one. It can be ${ROLE_RESTRICTIONS}. \
A *business token* is public. Put it in web pages. It gives access to its own business only. If a
business has registered sites, pages on other sites are refused with either credential, and a token is refused without \`Origin\`.

**Responses.** A success contains \`status: true\` and \`data\`. An unknown path returns 404, and an unsupported method 405, both with
\`{"message": "…"}\`. HEAD works wherever GET does. It returns the same status and headers, except Content-Length, and no body.
Every page can read every response (\`Access-Control-Allow-Origin: *\`). A response that depends on a credential must not be
stored. Days are in UTC.`;

const bearer = (bearerFormat: string, description: string) =>
  ({ type: 'http', scheme: 'bearer', bearerFormat, description }) as const;
const KEY = `A secret API key, for servers. It gives access to all businesses of its user, or to one, and can be ${NARROW_KINDS}.`;
const SESSION = 'The key of a console session. Send it like an API key. It expires automatically.';
const OPERATOR =
  "A secret operator key, for the operator's servers. It gives access to every business, and can be record-only or read-only.";
const TOKEN = 'A public business token, for web pages. It gives access to its own business from the registered sites.';

/**
 * Returns the override for a description. In a `closed` description, undescribed fields are errors. Otherwise, responses may contain them,
 * because later versions may add fields.
 */
const overrideOf = (closed: boolean): ZodOpenApiOverride =>
  function override({ zodSchema, jsonSchema, io }) {
    const { def } = zodSchema._zod;
    Object.assign(jsonSchema, JSON_SCHEMAS.get(zodSchema));
    if (closed && jsonSchema.type === 'object') jsonSchema.additionalProperties ??= false;
    else if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    if (def.type !== 'pipe') return;
    // Both sides of a pipe apply, because the routes check the length of a list before they check its entries.
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
          description: 'Create and list businesses, manage users, and read the usage and alerts of all businesses.',
        },
        {
          name: 'access',
          description: 'Manage a business, its registered sites and its token, and read its changes and alerts.',
        },
        { name: 'alerts', description: 'Messages that the service sends to the alert receiver.' },
        { name: 'session', description: 'Start and end console sessions for owners.' },
        { name: 'description', description: 'The health of the service, and this document.' },
      ],
      paths: { ...pathsOf(OPERATIONS, DESCRIPTIONS), ...publicPaths },
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
