// Canonicalizes the sites in a request body.
import type { FieldErrors } from '../core/conflict.ts';
import { canonicalSite } from '../core/site.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { invalidInput } from '../http/input.ts';
import { isShared } from '../public-suffix.ts';

/** Returns the canonical sites, without duplicates. Throws if a wildcard covers different owners' domains. */
export async function canonicalSites(c: ContextOf<Guarded>, texts: string[]): Promise<string[]> {
  const errors: FieldErrors = {};
  const sites = new Set<string>();
  for (const [index, text] of texts.entries()) {
    const { site, below } = canonicalSite(text);
    if (below !== undefined && (await isShared(below))) {
      const field = `sites.${index}`;
      errors[field] = [`${field} must not cover ${below}: its subdomains belong to different owners`];
    } else if (site !== undefined) sites.add(site); // sitesBody has rejected invalid sites
  }
  if (Object.keys(errors).length > 0) throw await invalidInput(c, errors);
  return [...sites];
}
