// Domains below which strangers register theirs. The list is large, and only a wildcard that somebody wants to register asks
// for it, so it is loaded then.

/** Whether a domain is a public suffix, of a registry (co.uk) or private (github.io). */
export async function isPublicSuffix(domain: string): Promise<boolean> {
  const { getPublicSuffix } = await import('tldts');
  return getPublicSuffix(domain, { allowPrivateDomains: true }) === domain;
}
