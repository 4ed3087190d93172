// Descriptions of parameters by name. Their schemas come from the routes.
import * as z from 'zod/mini';
import { DEFAULT_PER_PAGE } from '../core/request.ts';

/** Tools send all examples together, so a parameter that excludes another, or that only later pages need, has none. */
export type ParameterDescription = readonly [description: string, example?: unknown, isRequired?: 'required'];

const DESCRIPTIONS: Record<string, ParameterDescription> = {
  business_id: ['Identifier of the business.', 1],
  access_id: ['Identifier of the site.', 1],
  former_id: ['Identifier of the former token.', 1],
  user_id: ['Identifier of the user.', 7],
  key_id: ['Identifier of the key.', 12],
  from: ['First day. Default: 29 days before `to`.', '2026-03-01'],
  to: ['Last day. Default: today.', '2026-03-03'],
  limit: [`Maximum number of entries. Default: ${DEFAULT_PER_PAGE}.`, 20],
  after: ['The `next` of the previous page. Default: the first page.'],
  before: ['The `next` of the previous page. Default: the newest entries.'],
  cursor: ['The `next` of the previous page. Default: the first page.'],
  since: ['Lists only alerts stored at or after this time. Default: all alerts.', '2026-03-14T00:00:00Z'],
};

/** Returns a parameter with its schema. The description is `own`, or by default the one for its name. */
export function parameter(
  location: 'path' | 'query' | 'header',
  name: string,
  schema: z.ZodMiniType,
  own?: ParameterDescription,
) {
  const [description, example] = own ?? DESCRIPTIONS[name] ?? [];
  if (description === undefined) throw new Error(`the parameter ${name} has no description`);
  return schema.check(
    z.meta({ param: { in: location, name, description, ...(example === undefined ? {} : { example }) } }),
  );
}

const id = z.int().check(z.minimum(1));
export const inPath = (name: string) => parameter('path', name, id);

export const ORIGIN = parameter('header', 'Origin', z.optional(z.string()), [
  'The origin of the calling page, sent by browsers. It is compared with the registered sites.',
  'https://shop.example',
]);

/** An id as it is, or a quoted string that contains it. */
const key = z
  .string()
  .check(z.regex(/^(?:[\x21\x23-\x7e][\x21-\x7e]{0,254}|"(?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255}")$/));
export const idempotencyKey = (own?: ParameterDescription) =>
  parameter('header', 'Idempotency-Key', own?.[2] === 'required' ? key : z.optional(key), own);
