// Reads input, behind the guard. Only callers who may make the call learn what is wrong with it: creating an input error asks for
// the permission first, and throws the refusal instead if there is one.
import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import * as z from 'zod/mini';
import { isSmallJson, MAX_JSON_DEPTH, MAX_JSON_PARTS } from '../core/json.ts';
import { readVerdict } from '../db/permission.ts';
import type { ContextOf, Guarded } from '../env.ts';
import type { Query } from '../wire/requests.ts';
import { invalid, type ServiceError } from './errors.ts';

const JSON_RULE = 'must be JSON, sent with the header Content-Type: application/json';
const SMALL_JSON_RULE = `must be nested at most ${MAX_JSON_DEPTH} deep, and have at most ${MAX_JSON_PARTS} objects, lists and members`;

/** Returns the error to throw for invalid input. Throws the refusal instead if the call is refused. */
export async function invalidInput(c: ContextOf<Guarded>, errors: Record<string, string[]>): Promise<ServiceError> {
  await c.get('ask')(readVerdict);
  return invalid(errors);
}

/** The same for one field. `rule` completes the sentence that starts with the field's name. */
export const invalidField = (c: ContextOf<Guarded>, field: string, rule: string) =>
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

const NAME_LENGTH = 64;
const words = new Intl.ListFormat('en');

/** Refuses the first parameter that an operation does not have: a typing error must not be ignored. */
async function refuseUnknownParameters(c: ContextOf<Guarded>, { name: operation, schema }: Query): Promise<void> {
  if (!c.req.url.includes('?')) return;
  const known = Object.keys(schema.shape);
  // Not from the object of all parameters: it has names such as `7` first.
  for (const sent of new URL(c.req.url).searchParams.keys()) {
    if (known.includes(sent)) continue;
    const name = sent === '' ? '""' : sent.slice(0, NAME_LENGTH).toWellFormed();
    throw await invalidField(c, name, `is not a parameter of ${operation}: it takes ${words.format(known) || 'none'}`);
  }
}

/** Reads the parameters into `c.req.valid('query')`. */
export const queryInput = (query: Query): MiddlewareHandler =>
  zValidator('query', query.schema, async (result, c: Context<Guarded>) => {
    await refuseUnknownParameters(c, query);
    if (!result.success) throw await invalidInput(c, errorsOf(result.error.issues));
  });

/** Reads a JSON body. An empty one is undefined, where the schema takes that. (Hono reads a body of another type as {}, and would blame a field for a wrong header.) */
export async function readJson<S extends z.ZodMiniType>(
  c: ContextOf<Guarded>,
  body: string,
  schema: S,
): Promise<z.output<S>> {
  if (body.trim() === '') {
    const nothing = z.safeParse(schema, undefined);
    if (nothing.success) return nothing.data;
  }
  if (!/^application\/json\s*(;|$)/i.test(c.req.header('Content-Type') ?? '')) {
    throw await invalidField(c, 'body', JSON_RULE);
  }
  if (!isSmallJson(body)) throw await invalidField(c, 'body', SMALL_JSON_RULE);
  const value = jsonIn(body);
  if (value === undefined) throw await invalidField(c, 'body', JSON_RULE);
  const result = z.safeParse(schema, value);
  if (!result.success) throw await invalidInput(c, errorsOf(result.error.issues));
  return result.data;
}

/** Returns undefined, which JSON cannot express, if the text is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
