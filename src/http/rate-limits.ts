// The rate limits, checked before the database: by client address, then by credential.
import { type Credential, hashOf } from '../core/credential.ts';
import type { Bindings } from '../env.ts';

/** Whether an address is over its limit. Never, if there is no binding (tests) or no address (a service binding). */
export async function isAddressLimited({ ADDRESS_LIMIT }: Bindings, address: string | undefined): Promise<boolean> {
  if (!ADDRESS_LIMIT || address === undefined) return false;
  const { success } = await ADDRESS_LIMIT.limit({ key: networkOf(address) });
  return !success;
}

/**
 * Whether an API key is over its limit, or a token from one origin, or an operator key for one business or user, the `subject`. Tokens
 * count by origin because they are public: pages that are refused must not use up the limit of a registered page. Operator keys count
 * by subject, so that a loop over one does not stop the others. The address is checked first, so that one that is over its limit does not
 * use up the limit of a credential.
 */
export async function isCredentialLimited(
  { CREDENTIAL_LIMIT }: Bindings,
  { kind, text, hash }: Credential,
  origin: string | null,
  subject: string,
): Promise<boolean> {
  if (!CREDENTIAL_LIMIT) return false;
  const key =
    kind === 'token'
      ? await hashOf(`${text} ${origin ?? ''}`)
      : `${await hash()}${kind === 'operator' ? ` ${subject}` : ''}`;
  const { success } = await CREDENTIAL_LIMIT.limit({ key });
  return !success;
}

/**
 * Limits the writes that strangers cause: a refused origin is remembered once a minute, and ten for each business. The origin is
 * checked first, so that one that keeps coming does not use up the limit of its business.
 */
export async function mayRemember(
  { REFUSED_ORIGIN_LIMIT, REFUSED_BUSINESS_LIMIT }: Bindings,
  business_id: number,
  origin: string,
): Promise<boolean> {
  const ofOrigin = await REFUSED_ORIGIN_LIMIT?.limit({ key: `${business_id} ${origin}` });
  if (ofOrigin?.success === false) return false;
  const ofBusiness = await REFUSED_BUSINESS_LIMIT?.limit({ key: `${business_id}` });
  return ofBusiness?.success !== false;
}

/** The key for one client: an IPv4 address, or the first 64 bits of an IPv6 address, since one client has them all (RFC 6177 §2). */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  const all = [...groups, ...Array(Math.max(0, missing)).fill('0'), ...(tail ? tail.split(':') : [])];
  return all.slice(0, 4).join(':');
}
