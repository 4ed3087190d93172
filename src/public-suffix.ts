// The list of public suffixes: domains under which strangers register their own. It is large and only needed when somebody
// registers a wildcard, so it is loaded then.

/** Whether a domain is a public suffix: of a registry (co.uk) or private (github.io). */
export async function isPublicSuffix(domain: string): Promise<boolean> {
  const { getPublicSuffix } = await import('tldts');
  return getPublicSuffix(domain, { allowPrivateDomains: true }) === domain;
}
