// The rate limits, through the platform's binding and before the database: per client address, then per credential.
import { type Credential, hashOf } from '../core/credential.ts';
import type { Bindings } from '../env.ts';

/** Whether a client has too many requests. It never has where the binding is absent, as in tests, or the address, as behind one. */
export async function isAddressLimited({ ADDRESS_LIMIT }: Bindings, address: string | undefined): Promise<boolean> {
  if (!ADDRESS_LIMIT || address === undefined) return false;
  const { success } = await ADDRESS_LIMIT.limit({ key: networkOf(address) });
  return !success;
}

/**
 * Whether there are too many requests with an API key; or with a token from one origin: a token is in every page, and pages that
 * are refused must not use up what those have that are not. It is looked at behind the address, for the same reason.
 */
export async function isCredentialLimited(
  { CREDENTIAL_LIMIT }: Bindings,
  { kind, secret, hash }: Credential,
  origin: string | null,
): Promise<boolean> {
  if (!CREDENTIAL_LIMIT) return false;
  const key = kind === 'key' ? await hash() : await hashOf(`${secret} ${origin ?? ''}`);
  const { success } = await CREDENTIAL_LIMIT.limit({ key });
  return !success;
}

/** What one client has: an IPv4 address, or the 64 bits of an IPv6 network, which has addresses without end (RFC 6177 §2). */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  const all = [...groups, ...Array(Math.max(0, missing)).fill('0'), ...(tail ? tail.split(':') : [])];
  return all.slice(0, 4).join(':');
}
