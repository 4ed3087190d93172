// Building blocks of the schemas of responses, and the schemas of errors. The Worker never loads this file.
import * as z from 'zod/mini';
import { MAX_PERCENT } from '../core/limits.ts';

/** Registers a component of the OpenAPI description. Generated clients use `id` as the type's name. */
export function component<S extends z.ZodMiniType>(id: string, description: string, schema: S): S {
  z.globalRegistry.add(schema, { id, description });
  return schema;
}

export const object = <Shape extends z.core.$ZodShape>(id: string, description: string, shape: Shape) =>
  component(id, description, z.object(shape));

export const text = (description: string) => z.string().check(z.describe(description));
/** Describes the value and its null together. */
export const textOrNull = (description: string) => z.nullable(z.string()).check(z.describe(description));
export const flag = (description: string) => z.boolean().check(z.describe(description));
export const count = (description: string) => z.int().check(z.minimum(0), z.describe(description));
export const id = (of: string) => z.int().check(z.minimum(1), z.describe(`Identifier of ${of}.`));
export const day = (description: string) =>
  z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/), z.meta({ description, format: 'date' }));

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;
export const time = (of: string) =>
  z.string().check(z.regex(INSTANT), z.meta({ description: `When ${of}, in UTC.`, format: 'date-time' }));

export const list = <S extends z.ZodMiniType>(description: string, entry: S) =>
  z.array(entry).check(z.describe(description));

/** The body of a success response, with the requested `data`. */
export const success = <S extends z.ZodMiniType>(data: S) => z.object({ status: z.literal(true), data });
export const percent = z.int().check(z.minimum(1), z.maximum(MAX_PERCENT));
export const next = z
  .nullable(z.int().check(z.minimum(1)))
  .check(z.describe('The position of the next page. Null on the last page.'));

export const message = object('Message', 'An error that does not concern a business.', {
  message: text('What is wrong.'),
});

const refused = { status: z.literal(false), message: text('The problem, and what would be valid.') };
export const refusal = object('Refusal', 'A call that is not permitted, or that names something unknown.', refused);
export const invalidInput = object('InvalidInput', 'Rejected input. With 422, `message` is the first error.', {
  ...refused,
  errors: z
    .record(z.string(), z.array(z.string()))
    .check(z.describe('The problems of each field, by its dotted path, such as `sites.1`.')),
});
