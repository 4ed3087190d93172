// Input through one failure path: the guard reads it, and says what is wrong with it only to callers whom it lets in.
import { zValidator } from '@hono/zod-validator';
import type { MiddlewareHandler } from 'hono';
import type { BlankInput } from 'hono/types';
import * as z from 'zod/mini';
import { isSmallJson, MAX_JSON_DEPTH, MAX_JSON_PARTS } from '../core/json.ts';
import type { Env, Known } from '../env.ts';
import { InvalidInput } from './errors.ts';

/** For routes that take none. */
export const noInput: MiddlewareHandler<Env, string, BlankInput> = (_c, next) => next();

export const JSON_RULE = 'must be JSON, sent with the header Content-Type: application/json';
export const SMALL_JSON_RULE = `must be nested at most ${MAX_JSON_DEPTH} deep, and have at most ${MAX_JSON_PARTS} objects, lists and members`;

/**
 * Reads a part of the request into `c.req.valid`, or throws InvalidInput. What a schema alone cannot judge, `resolve` does,
 * with what is known of the request; it throws InvalidInput too.
 */
export function input<T extends 'query' | 'json' | 'param' | 'header', S extends z.ZodMiniType, R = z.output<S>>(
  target: T,
  schema: S,
  resolve?: (value: z.output<S>, known: Known) => R | Promise<R>,
): MiddlewareHandler<Env, string, { in: { [K in T]: z.input<S> }; out: { [K in T]: R } }> {
  const validate = zValidator(target, schema, (result) => {
    if (!result.success) throw new InvalidInput(errorsOf(result.error.issues));
  });
  return async function input(c, next) {
    if (target === 'json') {
      const parsed = z.safeParse(schema, jsonOf(c.req.header('Content-Type') ?? '', c.env.known.body));
      if (!parsed.success) throw new InvalidInput(errorsOf(parsed.error.issues));
      c.req.addValidatedData(target, parsed.data as object);
    } else await validate(c as never, async () => {});
    if (resolve) {
      const value = c.req.valid(target as never) as z.output<S>;
      c.req.addValidatedData(target, (await resolve(value, c.env.known)) as object);
    }
    await next();
  };
}

/** A body that is JSON and says so. (Hono reads one of another type as {}, which would blame a field for what the header did.) */
function jsonOf(type: string, body: string): unknown {
  const refuse = (rule: string) => new InvalidInput({ body: [`body ${rule}`] });
  if (!/^application\/json\s*(;|$)/i.test(type)) throw refuse(JSON_RULE);
  if (!isSmallJson(body)) throw refuse(SMALL_JSON_RULE);
  try {
    return JSON.parse(body);
  } catch {
    throw refuse(JSON_RULE);
  }
}

/** Issues by field. Messages are written without the field's name, which stands in front of each. */
function errorsOf(issues: readonly z.core.$ZodIssue[]): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const { path, message } of issues) {
    const field = path.length === 0 ? 'body' : path.join('.');
    errors[field] = [...(errors[field] ?? []), `${field} ${message}`];
  }
  return errors;
}
