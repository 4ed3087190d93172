// The rate limits, through the platform's binding and before the database: per client address, then per credential.
import type { Credential } from './core/credential.ts';
import type { Bindings } from './env.ts';

/**
 * Whether a request is one too many. It never is where a binding is absent, as in tests, or for an address where there is none,
 * as through a service binding. What an address has too many of is not counted against the credential: that is in every page.
 */
export async function isLimited(
  { ADDRESS_LIMIT, CREDENTIAL_LIMIT }: Bindings,
  address: string | undefined,
  credential: Credential | null,
): Promise<boolean> {
  if (ADDRESS_LIMIT && address !== undefined) {
    const { success } = await ADDRESS_LIMIT.limit({ key: networkOf(address) });
    if (!success) return true;
  }
  if (CREDENTIAL_LIMIT && credential !== null) {
    const { success } = await CREDENTIAL_LIMIT.limit({ key: await credential.hash() });
    if (!success) return true;
  }
  return false;
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
