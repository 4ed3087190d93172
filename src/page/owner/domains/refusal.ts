// Explains why an origin was refused, by the closest registered site.
import { canonicalSite, isRegistrable, sitesCovering } from '../../../core/site.ts';
import { canHaveOneOwner, hostOf, siteCovering } from './address.ts';

/** `offers`: sites that would let the origin pass. */
type Refusal = { reason: string; offers: string[] };

const NULL_ORIGIN =
  'Sent by a sandboxed frame, or by a page that was opened as a file. It names no site, so it cannot be registered.';
const FOREIGN = 'Not a web site that could be registered.';

export function refusalOf(origin: string, sites: readonly string[]): Refusal {
  if (origin === 'null') return { reason: NULL_ORIGIN, offers: [] };
  if (!isRegistrable(origin)) return { reason: FOREIGN, offers: [] };
  const { protocol, hostname, port } = new URL(origin);
  const own = canHaveOneOwner(origin) ? [origin] : [];
  const at = (host: string) => `${protocol}//${host}${port === '' ? '' : `:${port}`}`;

  const other = protocol === 'https:' ? 'http:' : 'https:';
  const otherScheme = siteCovering(origin.replace(protocol, other), sites);
  if (otherScheme !== undefined) {
    return { reason: `It begins with ${protocol}//, but ${otherScheme} is registered.`, offers: own };
  }
  const bare = hostname.startsWith('www.') ? hostname.slice('www.'.length) : null;
  if (bare !== null && sites.includes(at(bare))) {
    return { reason: `It begins with www., but ${at(bare)} is registered.`, offers: own };
  }
  if (sites.includes(at(`www.${hostname}`))) {
    return { reason: `It does not begin with www., but ${at(`www.${hostname}`)} is registered.`, offers: own };
  }
  const sameHost = sites.filter((site) => hostOf(site) === hostname && !site.includes('*'));
  const otherPort = sameHost.find((site) => site.startsWith(`${protocol}//`)) ?? sameHost[0];
  if (otherPort !== undefined) {
    const what = otherPort.startsWith(`${protocol}//`) ? 'port' : 'scheme and port';
    return { reason: `It has another ${what} than ${otherPort}, which is registered.`, offers: own };
  }
  const wider = sites.find((site) => site.includes('//*.') && coversHost(site, origin));
  if (wider !== undefined) {
    return { reason: `It has another port than ${wider}, which is registered.`, offers: own };
  }
  const above = sites.find((site) => !site.includes('*') && hostname.endsWith(`.${hostOf(site)}`));
  if (above !== undefined) {
    const wildcard = canonicalSite(at(`*.${hostOf(above)}`)).site;
    const offers = wildcard === undefined || !canHaveOneOwner(wildcard) ? own : [...own, wildcard];
    return { reason: `It is a subdomain of ${above}, which lets no subdomain pass.`, offers };
  }
  const below = sites.find((site) => hostOf(site).endsWith(`.${hostname}`) || site === at(`*.${hostname}`));
  if (below !== undefined)
    return { reason: `It is the domain above ${below}, which does not let it pass.`, offers: own };
  return { reason: 'Not registered.', offers: own };
}

/** Whether a wildcard with the origin's scheme and port would cover it. */
function coversHost(wildcard: string, origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return sitesCovering(`${protocol}//${hostname}`).includes(`${protocol}//*.${hostOf(wildcard)}`);
}
