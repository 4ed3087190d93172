// The parts of the description that its operations share.
import { BrokenBody, TooMany, Unavailable } from '../http/errors.ts';
import { answer, RETRY, said } from './answers.ts';
import { namedSchemas } from './schemas.ts';

const header = (description: string, more: object = {}) => ({
  description,
  required: true,
  schema: { type: 'string', ...more },
});

/** What an id of a path is. */
export const wholeNumber = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

export const components = () => ({
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'bua_sk_…',
      description: 'An API key: secret, for servers. Acts on every business of its user.',
    },
    businessToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'bua_pk_…',
      description: 'A business token: public, for web pages. Acts on its own business, from its registered domains.',
    },
  },
  parameters: {
    business_id: {
      name: 'business_id',
      in: 'path',
      required: true,
      description: 'Identifier of the business.',
      schema: wholeNumber,
      example: 1,
    },
    Origin: {
      name: 'Origin',
      in: 'header',
      required: false,
      description: 'Set by browsers: the origin of the page that calls. Compared with the registered domains.',
      schema: { type: 'string' },
      example: 'https://shop.example',
    },
  },
  headers: {
    CacheControl: header('Answers to a credential are not stored.', { const: 'no-store' }),
    PublicCacheControl: header('For how long it may be stored.', { pattern: '^public, max-age=\\d+$' }),
    ETag: header('Names this version.'),
    RequestId: header('Names the call; the log of the service has it too.'),
    RetryAfter: header('After how many seconds to try again.', { pattern: '^\\d+$' }),
    ServerTiming: {
      description: 'How long the database took, where it was asked.',
      required: false,
      schema: { type: 'string', pattern: '^d1;dur=' },
    },
    WWWAuthenticate: header('RFC 6750.', { const: 'Bearer' }),
  },
  responses: {
    PayloadTooLarge: answer('The body is over 1 MiB.', ['Message'], {
      too_large: { value: { message: 'Payload Too Large' } },
    }),
    BadRequest: answer('The body broke off.', ['Message'], { broken: said(new BrokenBody()) }),
    TooManyAttempts: answer('Too many calls.', ['Message'], { limited: said(new TooMany()) }, RETRY),
    ServerError: answer('The fault is on our side.', ['Message'], { error: said(new Error()) }),
    ServiceUnavailable: answer(
      'The database cannot be reached or is busy. Trying again is safe.',
      ['Message'],
      { unavailable: said(new Unavailable()) },
      RETRY,
    ),
  },
  schemas: {
    ...namedSchemas(),
    Description: {
      type: 'object',
      properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
      required: ['openapi', 'info', 'paths'],
      additionalProperties: true,
    },
  },
});
