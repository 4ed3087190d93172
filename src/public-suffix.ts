// Finds domains under which strangers can register names. The list of public suffixes is large and only needed to register a wildcard, so it
// is loaded on demand.

/**
 * Whether strangers can own names below a domain: it is a public suffix of a registry (co.uk) or a company (github.io), or the parent of a
 * public suffix (amazonaws.com has s3.amazonaws.com).
 */
export async function isShared(domain: string): Promise<boolean> {
  const [{ getPublicSuffix }, { SUFFIX_PARENTS }] = await Promise.all([import('tldts'), import('./suffix-parents.ts')]);
  return getPublicSuffix(domain, { allowPrivateDomains: true }) === domain || SUFFIX_PARENTS.has(domain);
}
