// The rate limits, checked before the database is queried: by client address, then by credential.
import { type Credential, sha256Hex } from '../core/credential.ts';
import type { Rule } from '../core/policy.ts';
import { stackOf } from '../db/stack.ts';
import { withTimeout } from '../db/timeout.ts';
import type { ContextOf, Env, RateLimiter } from '../env.ts';
import { tooMany } from './errors.ts';

/** A limiter runs in the Worker's location and normally responds within a millisecond. */
const TIMEOUT_MS = 500;

/**
 * Counts a request under `key`, and returns whether it is within the limit. Returns true if there is no binding (in tests). If the limiter
 * fails or times out, logs the error and returns null.
 */
async function isWithin(c: ContextOf<Env>, limiter: RateLimiter, key: string): Promise<boolean | null> {
  const binding = c.env[limiter];
  if (binding === undefined) return true;
  try {
    return (await withTimeout(binding.limit({ key }), TIMEOUT_MS)).success;
  } catch (error) {
    const { request_id } = c.get('logEntry');
    c.get('log').error({ operation: 'rate_limit', limiter, request_id, error: stackOf(error) });
    return null;
  }
}

/** Throws if `key` is over a limit. Fails open: a broken limiter must not take the service down. */
async function requireWithin(c: ContextOf<Env>, limiter: RateLimiter, key: string): Promise<void> {
  if ((await isWithin(c, limiter, key)) !== false) return;
  c.get('logEntry').limiter = limiter;
  throw tooMany();
}

/** Throws if the client address is over its limit. Requests through a service binding have no client address. */
export async function limitAddress(c: ContextOf<Env>): Promise<void> {
  const address = c.req.header('CF-Connecting-IP');
  if (address !== undefined) await requireWithin(c, 'ADDRESS_LIMIT', networkOf(address));
}

/**
 * Throws if a credential is over its limit, or a caller of dear operations is over the limit of those. Tokens are public, so their requests
 * are counted per origin. Otherwise, refused pages could use up a registered page's limit. Requests with an operator key are counted per
 * `subject` (a business or a user), so a loop of calls for one subject does not block the others. Call this after limitAddress, so an
 * address over its limit cannot use up a credential's limit.
 */
export async function limitCredential(
  c: ContextOf<Env>,
  { kind, text, hash }: Credential,
  origin: string | null,
  subject: string,
  { isDear }: Pick<Rule, 'isDear'>,
): Promise<void> {
  const limiters: RateLimiter[] = isDear ? ['CREDENTIAL_LIMIT', 'DEAR_LIMIT'] : ['CREDENTIAL_LIMIT'];
  if (limiters.every((limiter) => c.env[limiter] === undefined)) return; // avoids computing a digest
  const key =
    kind === 'token' ? sha256Hex(`${text} ${origin ?? ''}`) : `${hash()}${kind === 'operator' ? ` ${subject}` : ''}`;
  for (const limiter of limiters) await requireWithin(c, limiter, key);
}

/**
 * Limits the writes that anyone can cause: one a minute per refused or let-in origin, and ten a minute per business. Checks the origin's limit first,
 * so one frequent origin does not use up the business's limit. Returns false if a limiter fails.
 */
export async function mayStoreOrigin(c: ContextOf<Env>, business_id: number, origin: string): Promise<boolean> {
  const isFirst = await isWithin(c, 'REFUSED_ORIGIN_LIMIT', `${business_id} ${origin}`);
  return isFirst === true && (await isWithin(c, 'REFUSED_BUSINESS_LIMIT', `${business_id}`)) === true;
}

/** Returns an IPv4 address, or the first 64 bits of an IPv6 address, because one client controls a whole /64 (RFC 6177 §2). */
export function networkOf(address: string): string {
  const canonical = address.includes(':') ? URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) : undefined;
  if (canonical === undefined) return address;
  const [start = [], end = []] = canonical.split('::').map((groups) => groups.split(':').filter(Boolean));
  return [...start, ...Array<string>(8 - start.length - end.length).fill('0'), ...end].slice(0, 4).join(':');
}
