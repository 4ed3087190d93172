// The rate limits, through the platform's binding and before the database: per client address and per credential.
import type { MiddlewareHandler } from 'hono';
import { credentialOf, hashOf } from './core/credential.ts';
import type { Env } from './env.ts';
import { tooMany } from './errors.ts';

/** Passes where a binding is absent, as in tests, or a request has no address, as through a service binding. */
export const limits: MiddlewareHandler<Env> = async function limits(c, next) {
  const { ADDRESS_LIMIT, CREDENTIAL_LIMIT } = c.env;
  const address = c.req.header('CF-Connecting-IP');
  const credential = CREDENTIAL_LIMIT && credentialOf(c.req.header('Authorization'));
  const outcomes = await Promise.all([
    address === undefined ? undefined : ADDRESS_LIMIT?.limit({ key: address }),
    credential ? CREDENTIAL_LIMIT.limit({ key: await hashOf(credential.secret) }) : undefined,
  ]);
  return outcomes.some((outcome) => outcome?.success === false) ? tooMany(c) : next();
};
