// Parses a site's URL as an owner types it, often without a scheme.
import { isSharedHost } from '../../../core/shared-hosts.ts';
import { canonicalSite, isAppOrigin, sitesCovering } from '../../../core/site.ts';

/** `mailto:a@shop.example` has a scheme. `localhost:3000` has a port but no scheme. A scheme with a dot is followed by `//`. */
const hasScheme = (text: string): boolean =>
  /^[a-z][a-z\d+-]*(:|[a-z\d+.-]*:\/\/)/i.test(text) && !/^[^/:]+:(\d+|\*)([/?#]|$)/.test(text);

/** Hosts that refer to the visitor's own machine. */
export const LOOPBACK = /^((.+\.)?localhost|127\.0\.0\.1|\[::1\])$/i;

/** Adds a scheme: http for this machine, https otherwise. Returns null if the text already has a scheme. */
export function withScheme(text: string): string | null {
  if (hasScheme(text)) return null;
  const scheme = LOOPBACK.test(text.replace(/(:(\d*|\*))?([/?#].*)?$/, '')) ? 'http' : 'https';
  return `${scheme}://${text.replace(/^\/+/, '')}`;
}

/** Returns the origin that a browser sends from a page at this URL, or the text itself if it is not a URL. */
export function originOfPage(text: string): string {
  if (text.includes('*') || text === 'null') return text;
  const sites = [text, withScheme(text)].map((written) => written !== null && canonicalSite(written).site);
  return sites.find((site) => site) || text;
}

const IP_LITERAL = /^(\[.*\]|\d+\.\d+\.\d+\.\d+)$/;
/** Countries' second-level suffixes, such as co.uk, com.au and gob.mx. Some labels are suffixes in a few countries, and names in others. */
const COUNTRY_SUFFIX =
  /^((ac|co|com|edu|gob|gouv|gov|mil|net|org)\.[a-z]{2}|(go|or)\.(ci|cr|id|it|jp|ke|kr|th|tz|ug)|id\.(au|ir|lv|vn)|(ltd|me|nhs|plc|sch)\.uk|me\.(ke|tz)|ne\.(jp|ke|kr|tz|ug)|nom\.(br|co|es|za)|web\.(id|nf|tr|ve|za))$/;

/**
 * Returns which part is missing from a host that cannot belong to one owner, or null. Of the public suffixes, it knows only the
 * common ones of countries. The service validates wildcards against all of them.
 */
export function missingPart(host: string): 'ending' | 'name' | null {
  if (LOOPBACK.test(host) || IP_LITERAL.test(host)) return null;
  if (!host.includes('.')) return 'ending';
  return COUNTRY_SUFFIX.test(host) || isSharedHost(host) ? 'name' : null;
}

/** Returns the host of a canonical site, without `*.` and the port. Empty for the origin of an app. */
export const hostOf = (site: string): string => /^https?:\/\/(?:\*\.)?(\[.*\]|[^:/]+)/.exec(site)?.[1] ?? '';

/** Returns one of `sites` that covers an origin, preferably the origin itself. */
export const siteCovering = (origin: string, sites: readonly string[]): string | undefined =>
  sitesCovering(origin).find((site) => sites.includes(site));

/** Returns whether a canonical site can belong to one owner. */
export const canHaveOneOwner = (site: string): boolean => isAppOrigin(site) || missingPart(hostOf(site)) === null;
