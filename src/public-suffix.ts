// Domains under which strangers register their own. The list of public suffixes is large and only needed when somebody registers a
// wildcard, so it is loaded then.

/**
 * Whether strangers own names below a domain: because it is a public suffix, of a registry (co.uk) or private (github.io), or because
 * there are public suffixes below it (amazonaws.com has s3.amazonaws.com).
 */
export async function isShared(domain: string): Promise<boolean> {
  const [{ getPublicSuffix }, { SUFFIX_PARENTS }] = await Promise.all([import('tldts'), import('./suffix-parents.ts')]);
  return getPublicSuffix(domain, { allowPrivateDomains: true }) === domain || SUFFIX_PARENTS.has(domain);
}
