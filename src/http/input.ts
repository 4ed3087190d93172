// Reads input, after the guard. Only callers who may make the call learn what is wrong with it: creating an input error asks for
// the permission first, and throws the refusal instead if there is one.
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import * as z from 'zod/mini';
import { isSmallJson, MAX_JSON_DEPTH, MAX_JSON_PARTS } from '../core/json.ts';
import { idOf } from '../core/request.ts';
import { readVerdict } from '../db/permission.ts';
import type { Env } from '../env.ts';
import { InvalidInput } from './errors.ts';

export const JSON_RULE = 'must be JSON, sent with the header Content-Type: application/json';
export const SMALL_JSON_RULE = `must be nested at most ${MAX_JSON_DEPTH} deep, and have at most ${MAX_JSON_PARTS} objects, lists and members`;

/** Returns the error to throw for invalid input. Throws the refusal instead if the call is refused. */
export async function invalidInput(c: Context<Env>, errors: Record<string, string[]>): Promise<InvalidInput> {
  await c.get('ask')(readVerdict);
  return new InvalidInput(errors);
}

/** The same for one field. `rule` completes the sentence that starts with the field's name. */
export const invalidField = (c: Context<Env>, field: string, rule: string) =>
  invalidInput(c, { [field]: [`${field} ${rule}`] });

/** The issues by field, each message with the field's name in front. */
function errorsOf(issues: readonly z.core.$ZodIssue[]): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const { path, message } of issues) {
    const field = path.length === 0 ? 'body' : path.join('.');
    errors[field] = [...(errors[field] ?? []), `${field} ${message}`];
  }
  return errors;
}

/** The hook for zValidator. */
export async function refuseInvalid(
  result: { success: boolean; error?: { issues: readonly z.core.$ZodIssue[] } },
  c: Context,
): Promise<void> {
  if (result.error !== undefined) throw await invalidInput(c, errorsOf(result.error.issues));
}

const NAME_LENGTH = 64;
const words = new Intl.ListFormat('en');

/** Refuses the first parameter that an operation does not have: a typing error must not be ignored. */
async function refuseUnknownParameters(c: Context<Env>, of: string, known: string[]): Promise<void> {
  // Not from the object of all parameters: it has names such as `7` first.
  for (const sent of new URL(c.req.url).searchParams.keys()) {
    if (known.includes(sent)) continue;
    const name = sent === '' ? '""' : sent.slice(0, NAME_LENGTH).toWellFormed();
    throw await invalidField(c, name, `is not a parameter of ${of}: it takes ${words.format(known) || 'none'}`);
  }
}

/** The hook for zValidator on a query. */
export const refuseInvalidQuery = (of: string, schema: z.ZodMiniObject) =>
  async function refuse(result: Parameters<typeof refuseInvalid>[0], c: Context): Promise<void> {
    await refuseUnknownParameters(c, of, Object.keys(schema.shape));
    await refuseInvalid(result, c);
  };

/** Refuses every parameter, for an operation that cannot be undone. (`DELETE …/access?access_id=5` would remove all entries.) */
export const noQuery = createMiddleware<Env>(async function noQuery(c, next) {
  await refuseUnknownParameters(c, 'this operation', []);
  await next();
});

/** The query of a list that comes in pages of at most `most`: `limit`, and `cursor`, the id where the page before ended. */
export function pageQuery<const Cursor extends string>(cursor: Cursor, most: number) {
  const isLimit = (text: string) => (idOf(text) ?? most + 1) <= most;
  const limitRule = `must be a whole number from 1 to ${most}`;
  const idRule = 'must be an id, such as 17, and given once';
  return z.object({
    limit: z.optional(z.string(`${limitRule}, and given once`).check(z.refine(isLimit, limitRule))),
    [cursor]: z.optional(z.string(idRule).check(z.refine((text) => idOf(text) !== null, idRule))),
  } as Record<Cursor | 'limit', z.ZodMiniOptional<z.ZodMiniString>>);
}

/** Reads a JSON body. (Hono reads a body of another type as {}, and would blame a field for a wrong header.) */
export async function readJson<S extends z.ZodMiniType>(c: Context<Env>, schema: S): Promise<z.output<S>> {
  const body = c.get('body');
  if (!/^application\/json\s*(;|$)/i.test(c.req.header('Content-Type') ?? '')) {
    throw await invalidField(c, 'body', JSON_RULE);
  }
  if (!isSmallJson(body)) throw await invalidField(c, 'body', SMALL_JSON_RULE);
  const value = parsed(body);
  if (value === undefined) throw await invalidField(c, 'body', JSON_RULE);
  const result = z.safeParse(schema, value);
  if (!result.success) throw await invalidInput(c, errorsOf(result.error.issues));
  return result.data;
}

/** Returns undefined, which JSON cannot express, if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a JSON body into `c.req.valid('json')`. Where it is optional, an empty body is {}. */
export const jsonInput = <S extends z.ZodMiniType<object>>(schema: S, { optional } = { optional: false }) =>
  createMiddleware<Env, string, { in: { json: z.input<S> }; out: { json: z.output<S> } }>(
    async function jsonInput(c, next) {
      c.req.addValidatedData('json', optional && c.get('body').trim() === '' ? {} : await readJson(c, schema));
      await next();
    },
  );
