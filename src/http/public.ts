// Middleware for the public operations.
import { createMiddleware } from 'hono/factory';
import type { Env } from '../env.ts';
import { NO_QUERY } from '../input.ts';
import { inputError } from './errors.ts';
import { unknownParameters } from './input.ts';
import { limitAddress } from './rate-limits.ts';

/** Applies the address rate limit and rejects all parameters. */
export const publicAccess = createMiddleware<Env>(async function publicAccess(c, next) {
  await limitAddress(c);
  const errors = unknownParameters(c.req, NO_QUERY);
  if (Object.keys(errors).length > 0) throw inputError(errors);
  await next();
});
