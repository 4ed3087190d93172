// Sites and origins (docs/api.md, "Sites"), on a small vocabulary: what is stored for a given text is a table, not an algorithm.

export const BASE = 'https://service.example';

/** Texts that can be registered, and what is stored for each. */
export const SITES: Record<string, string> = {
  'https://shop.example': 'https://shop.example',
  'https://SHOP.example:443/cart?item=1#top': 'https://shop.example',
  ' https://shop.example ': 'https://shop.example',
  'http://shop.example': 'http://shop.example',
  'https://shop.example:8443': 'https://shop.example:8443',
  'https://www.shop.example': 'https://www.shop.example',
  'https://*.Shop.example': 'https://*.shop.example',
  'https://*.shop.example:8443': 'https://*.shop.example:8443',
  'https://*.eu.shop.example': 'https://*.eu.shop.example',
  'https://www.eu.shop.example': 'https://www.eu.shop.example',
  'https://bücher.example': 'https://xn--bcher-kva.example',
  'http://192.168.1.20': 'http://192.168.1.20',
  'http://[::ffff:c0a8:114]:8080': 'http://[::ffff:c0a8:114]:8080',
  'http://0.0.0.0:3000': 'http://0.0.0.0:3000',
  'http://Router': 'http://router',
  'https://*.shop.test': 'https://*.shop.test',
  'https://127.5gram.example': 'https://127.5gram.example',
  'http://localhost': 'http://localhost',
  'http://localhost:*': 'http://localhost:*',
  'http://localhost:3000': 'http://localhost:3000',
  'http://*.localhost:3000': 'http://*.localhost:3000',
  'http://*.localhost:*': 'http://*.localhost:*',
  'http://app.localhost:3000': 'http://app.localhost:3000',
  'http://127.0.0.1:*': 'http://127.0.0.1:*',
  'http://[::1]:3000': 'http://[::1]:3000',
  'capacitor://localhost': 'capacitor://localhost',
  'app://shop.example': 'app://shop.example',
  [BASE]: BASE,
};
/** A name that only looks like an address. */
export const LIKE_LOOPBACK = 'https://127.5gram.example';
/** Those of one shop, of which some cover others. */
export const OVERLAPPING = Object.keys(SITES).filter((text) => /^https:\/\/(\*|www)\.[a-zS.]+(:8443)?$/.test(text));

/** Those that visitors can reach. */
const REACHABLE = [
  ...['https://shop.example', 'http://shop.example', 'https://shop.example:8443', 'https://www.shop.example'],
  ...['https://*.shop.example', 'https://*.shop.example:8443', 'https://*.eu.shop.example'],
  ...['https://www.eu.shop.example', 'https://xn--bcher-kva.example', LIKE_LOOPBACK, BASE],
];
export const isReachable = (site: string): boolean => REACHABLE.includes(site) || isNumbered(site);
const isNumbered = (site: string) => /^https:\/\/s\d+\.example$/.test(site);
/** Those that visitors cannot reach, and that name. */
export const FEW_REACH = Object.keys(SITES).filter((text) => text === LIKE_LOOPBACK || !isReachable(SITES[text] ?? ''));

/** What is stored for a text. Undefined if it cannot be registered. */
export const storedFor = (text: string): string | undefined => SITES[text] ?? (isNumbered(text) ? text : undefined);

/** Texts that cannot be registered, and the rule that each breaks. */
export const BAD_SITES: Record<string, string> = {
  'shop.example': 'must be an http or https URL, such as https://example.com',
  'ftp://shop.example': 'must be an http or https URL, such as https://example.com',
  'capacitor://other':
    'must be exactly capacitor://localhost, ionic://localhost, tauri://localhost, app:// and a host, or chrome-extension:// and an id',
  'https://': 'must include a host, such as https://example.com',
  'https://me:secret@shop.example': 'must not contain a user name or password',
  'https://shop.example.': 'must not have a host that ends with a dot',
  'http://127.1': 'must write an IP address in standard notation, such as http://127.0.0.1',
  'https://*.com': 'must have two to five labels after *., as in https://*.example.com',
  'https://shop.*':
    'may contain * only as a leading *., as in https://*.example.com, or as the port of a loopback host, as in http://localhost:*',
  'https://shop.example:*':
    'may contain * only as a leading *., as in https://*.example.com, or as the port of a loopback host, as in http://localhost:*',
  'https://shop.example:99999': 'must have a valid host, and any port must be from 1 to 65535',
  'https://a b.example': 'must not contain a backslash, % or spaces in its host',
};
/** Wildcards for domains of different owners, which are well-formed. */
export const SHARED_SITES: Record<string, string> = {
  'https://*.github.io': 'must not cover github.io: its subdomains belong to different owners',
  'https://*.amazonaws.com': 'must not cover amazonaws.com: its subdomains belong to different owners',
};

const LONG = `https://${'x'.repeat(300)}.example`;
/** Origins that callers send. */
export const ORIGINS: readonly string[] = [
  'https://shop.example',
  'https://www.shop.example',
  'https://a.b.shop.example',
  'https://eu.shop.example',
  'https://www.eu.shop.example',
  'https://www.shop.example:8443',
  'https://shop.example:8443',
  'http://shop.example',
  'https://wwwshop.example',
  'https://evil.example',
  'https://xn--bcher-kva.example',
  'http://192.168.1.20',
  'http://localhost',
  'http://localhost:5173',
  'http://localhost:3000',
  'http://127.0.0.1:5173',
  'http://[::1]:3000',
  'https://127.5gram.example',
  'http://app.localhost:3000',
  'http://a.b.localhost:5173',
  'capacitor://localhost',
  'app://shop.example',
  'capacitor://other',
  'null',
  BASE,
  'https://SHOP.example',
  'https://*.shop.example',
  LONG,
  'evil',
];
/** Those that no site can equal, so they are not listed as refused. */
const UNREGISTRABLE = ['null', 'https://SHOP.example', 'https://*.shop.example', 'evil', 'capacitor://other', LONG];
export const isRegistrable = (origin: string): boolean => !UNREGISTRABLE.includes(origin);

const partsOf = (text: string) => /^(https?):\/\/(\[[^\]]+\]|[^:/]+)(?::(.+))?$/.exec(text)?.slice(1) ?? [];

/** Whether a stored site covers an origin. */
export const isCovered = (sites: readonly string[], origin: string): boolean => entryFor(sites, origin) !== null;

/** The stored site that lets an origin in: the origin itself, or else the narrowest wildcard. */
export function entryFor(sites: readonly string[], origin: string): string | null {
  if (origin.includes('*')) return null;
  const covering = sites.filter((site) => {
    if (site === origin) return true;
    if (origin !== origin.toLowerCase()) return false;
    const [scheme, host = '', port] = partsOf(site);
    const [ofScheme, ofHost = '', ofPort] = partsOf(origin);
    if (ofScheme === undefined || scheme !== ofScheme) return false;
    const isHost = host.startsWith('*.') ? ofHost.endsWith(host.slice(1)) : host === ofHost;
    return isHost && (port === '*' || (host.startsWith('*.') && port === ofPort));
  });
  const labels = (site: string) => site.split('.').length + (site.endsWith(':*') ? 0 : 0.5);
  const [narrowest = null] = covering.toSorted((a, b) => labels(b) - labels(a));
  return covering.includes(origin) ? origin : narrowest;
}
