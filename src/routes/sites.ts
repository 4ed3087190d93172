// Checks and canonicalizes the sites in a request body.
import type { FieldErrors } from '../core/conflict.ts';
import { canonicalSite } from '../core/site.ts';
import { isShared } from '../public-suffix.ts';

/** Returns the errors of wildcards that cover different owners' domains. */
export async function sitesErrors({
  sites = [],
}: {
  sites?: (string | undefined)[] | undefined;
}): Promise<FieldErrors> {
  const errors: FieldErrors = {};
  for (const [index, text = ''] of sites.entries()) {
    const { below } = canonicalSite(text);
    if (below === undefined || !(await isShared(below))) continue;
    const field = `sites.${index}`;
    errors[field] = [`${field} must not cover ${below}: its subdomains belong to different owners`];
  }
  return errors;
}

/** Returns the canonical form of valid sites, without duplicates. */
export const canonicalSites = (texts: string[]): string[] => [
  ...new Set(texts.flatMap((text) => canonicalSite(text).site ?? [])),
];
