// Checks and canonicalizes the sites in a request body.
import type { FieldErrors } from '../core/field-errors.ts';
import { canonicalSite, MAX_SITES } from '../core/site.ts';
import { MAX_NAMED_SITES } from '../core/sources.ts';
import { isShared } from '../public-suffix.ts';

export const FIRST_RULE =
  'must cover the origin of this page, or the page would lose access: add it, or register the first sites from a server';

export const UNREGISTRABLE_RULE =
  'must be registered from a server: the origin of this page cannot be registered, so the page would lose access';

export const ADMITTING_RULE =
  'must not be the site that lets this page in, or the page would lose access: first register another that covers its origin, or remove this one from a server';

export const MOST_RULE = `must not give the business more than ${MAX_SITES} sites`;
export const MOST_NAMES_RULE = `must not give the business more than ${MAX_NAMED_SITES} sites that are registered, or were and have counted uses: reports name those, too`;

export const LAST_RULE =
  'must not be the last site: without sites, the token works everywhere. To allow that, DELETE the whole list.';

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
