// Detects domains under which strangers can register names. The public suffix list is large and needed only to register wildcards, so it is
// loaded on demand.
import { isSharedHost } from './core/shared-hosts.ts';

/**
 * Returns whether strangers can own names below a domain. This is the case if the domain is a public suffix of a registry (co.uk) or a
 * company (github.io), or the parent of such a suffix (amazonaws.com is the parent of s3.amazonaws.com). Some companies (weebly.com) are
 * missing from the public suffix list, and are in ours.
 */
export async function isShared(domain: string): Promise<boolean> {
  const [{ getPublicSuffix }, { SUFFIX_PARENTS }] = await Promise.all([import('tldts'), import('./suffix-parents.ts')]);
  const isSuffix = getPublicSuffix(domain, { allowPrivateDomains: true }) === domain;
  return isSuffix || SUFFIX_PARENTS.has(domain) || isSharedHost(domain);
}
