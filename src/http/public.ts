// What stands before the operations that need no credential.
import { createMiddleware } from 'hono/factory';
import type { Env } from '../env.ts';
import { NO_QUERY } from '../wire/requests.ts';
import { inputError, tooMany } from './errors.ts';
import { unknownParameter } from './input.ts';
import { isAddressLimited } from './rate-limits.ts';

/** Counts the request against the address of its sender, and refuses every parameter. */
export const openToAll = createMiddleware<Env>(async function openToAll(c, next) {
  if (await isAddressLimited(c.env, c.req.header('CF-Connecting-IP'))) throw tooMany();
  const errors = unknownParameter(c.req, NO_QUERY);
  if (errors !== null) throw inputError(errors);
  await next();
});
