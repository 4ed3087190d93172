// Explains a refused origin by comparing it with the closest registered site.
import { canonicalSite, isAppOrigin, isRegistrable, sitesCovering } from '../../../core/site.ts';
import { canHaveOneOwner, hostOf, LOOPBACK, siteCovering } from './address.ts';

/** `isOwn`: the origin looks like one of the owner's. `offers`: sites whose registration would allow it. */
type Refusal = { reason: string; isOwn: boolean; offers: string[] };

const NULL_ORIGIN =
  'Sent by a sandboxed frame, or by a page that was opened as a file. It names no site, so it cannot be registered.';
const FOREIGN = 'This is not a website, so it cannot be registered.';

/** Apps made with one tool share an origin, unless the app chooses the host or has an id. */
function appReason(origin: string): string {
  const [, tool] = /^(capacitor|ionic|tauri):/.exec(origin) ?? [];
  if (tool === undefined) return 'Not registered.';
  const name = `${tool.charAt(0).toUpperCase()}${tool.slice(1)}`;
  return `Not registered. Every app made with ${name} sends it, so registering it lets all of them pass.`;
}

export function explainRefusal(origin: string, sites: readonly string[]): Refusal {
  if (origin === 'null') return { reason: NULL_ORIGIN, isOwn: false, offers: [] };
  if (!isRegistrable(origin)) return { reason: FOREIGN, isOwn: false, offers: [] };
  if (isAppOrigin(origin)) return { reason: appReason(origin), isOwn: false, offers: [origin] };
  const { protocol, hostname, port } = new URL(origin);
  const offers = canHaveOneOwner(origin) ? [origin] : [];
  const refusal = (reason: string, isOwn = true): Refusal => ({ reason, isOwn, offers });
  const at = (host: string) => `${protocol}//${host}${port === '' ? '' : `:${port}`}`;

  const other = protocol === 'https:' ? 'http:' : 'https:';
  const otherScheme = siteCovering(origin.replace(protocol, other), sites);
  if (otherScheme !== undefined) return refusal(`It begins with ${protocol}//, but ${otherScheme} is registered.`);

  const withoutWww = at(hostname.replace(/^www\./, ''));
  const withWww = at(`www.${hostname}`);
  if (withoutWww !== origin && sites.includes(withoutWww)) {
    return refusal(`It begins with www., but ${withoutWww} is registered.`);
  }
  if (sites.includes(withWww)) return refusal(`It does not begin with www., but ${withWww} is registered.`);

  const sameHost = sites.filter((site) => hostOf(site) === hostname && !site.includes('*'));
  const otherPort = sameHost.find((site) => site.startsWith(`${protocol}//`)) ?? sameHost[0];
  if (otherPort !== undefined) {
    const difference = otherPort.startsWith(`${protocol}//`) ? 'port' : 'scheme and port';
    return refusal(`It has a different ${difference} from ${otherPort}, which is registered.`);
  }
  const wider = sites.find((site) => site.includes('//*.') && coversHost(site, origin));
  if (wider !== undefined) return refusal(`It has a different port from ${wider}, which is registered.`);

  const above = sites.find((site) => !site.includes('*') && hostname.endsWith(`.${hostOf(site)}`));
  if (above !== undefined) {
    const wildcard = canonicalSite(at(`*.${hostOf(above)}`)).site;
    if (wildcard !== undefined && canHaveOneOwner(wildcard)) offers.push(wildcard);
    return refusal(`It is a subdomain of ${above}, which does not cover subdomains.`);
  }
  const below = sites.find((site) => hostOf(site).endsWith(`.${hostname}`) || site === at(`*.${hostname}`));
  if (below === undefined) return refusal('Not registered.', false);
  // The parent of a single site can belong to someone else, such as a platform on which the owner has a shop.
  return refusal(`It is a parent domain of ${below}, which does not cover it.`, hostOf(below) === hostname);
}

/** Returns whether a wildcard covers an origin's host, regardless of scheme and port. */
function coversHost(wildcard: string, origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return sitesCovering(`${protocol}//${hostname}`).includes(`${protocol}//*.${hostOf(wildcard)}`);
}

/** Returns the origins that one press may register: no unencrypted pages, and no apps, some of which are on `https://localhost`. */
export function addableAtOnce(rows: readonly { origin: string }[], sites: readonly string[]) {
  const origins = rows
    .map(({ origin }) => origin)
    .filter((one) => siteCovering(one, sites) === undefined && explainRefusal(one, sites).offers[0] === one);
  const addable = origins.filter((origin) => origin.startsWith('https:') && !LOOPBACK.test(new URL(origin).hostname));
  return { addable, total: origins.length };
}
