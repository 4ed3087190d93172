// Input through one failure path: the guard reads it, and says what is wrong with it only to callers whom it lets in.
import { zValidator } from '@hono/zod-validator';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import type { BlankInput } from 'hono/types';
import type * as z from 'zod/mini';
import type { Env, Known } from './env.ts';
import { InvalidInput, tooLarge } from './errors.ts';

/** In front of the guard where a request has a body: its size is judged before its sender is. */
export const limitedBody = bodyLimit({ maxSize: 1024 * 1024, onError: (c) => tooLarge(c.env.known) });

/** For routes that take none. */
export const noInput: MiddlewareHandler<Env, string, BlankInput> = (_c, next) => next();

export const JSON_RULE = 'must be JSON, sent with the header Content-Type: application/json';

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
    // Hono reads a body of another type as {}, which would blame a field for what the header did.
    if (target === 'json' && !/^application\/json\s*(;|$)/i.test(c.req.header('Content-Type') ?? '')) {
      throw new InvalidInput({ body: [`body ${JSON_RULE}`] });
    }
    try {
      await validate(c as never, async () => {});
    } catch (error) {
      throw error instanceof HTTPException ? new InvalidInput({ body: [`body ${JSON_RULE}`] }) : error;
    }
    if (resolve) {
      const value = c.req.valid(target as never) as z.output<S>;
      c.req.addValidatedData(target, (await resolve(value, c.env.known)) as object);
    }
    await next();
  };
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
