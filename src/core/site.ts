// The rules for domains (docs/api.md, "Sites"): what a site may be when it is registered, and which sites cover an
// origin. A stored site is an origin exactly as browsers serialize it, so a visitor's header is only ever compared.

/** The most sites that a business can have, and that one call can add. */
export const MAX_SITES = 500;
export const MAX_SITES_PER_CALL = 100;

const MAX_LENGTH = 2048;
const MAX_HOST_LENGTH = 253; // RFC 1035 §2.3.4, as are the labels of 63
const MAX_LABEL_LENGTH = 63;
/** NFC leaves at least one character of every four (UAX #15), so a longer host cannot fit. */
const MAX_WRITTEN_LENGTH = 4 * MAX_HOST_LENGTH + ':65535'.length;
/** No text in use has so many marks in a row (UAX #15, Stream-Safe Text). Normalizing them takes quadratic time. */
const MAX_MARKS_IN_A_ROW = 30;
/** How many labels may follow `*.`. */
const WILDCARD_LABELS = [2, 3, 4, 5];
/** This machine. Alerts and operator keys may go there unencrypted, so nothing else may be in this list. */
export const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];
/** A cheap first check: a wildcard covers only loopback hosts, and hosts of at least three labels. */
const COVERABLE = /^https?:\/\/(?:localhost|\[::1\]|[^.]+\.[^.]+\.)/;
const IP_LITERAL = /^(?:\d+\.\d+\.\d+\.\d+|\[.*\])$/;

/**
 * The canonical site, or the problem: the rest of a sentence that starts with the name of the field. `below` is the domain whose
 * subdomains a wildcard covers. The caller must refuse it if strangers own names below it.
 */
export type Site = { site: string; below?: string; problem?: never } | { site?: never; below?: never; problem: string };

const wrong = (problem: string): Site => ({ problem });

/** The canonical form of a site: `https://EXAMPLE.com:443/shop` is `https://example.com`. */
export function canonicalSite(text: string): Site {
  const written = withoutSpacesAround(text);
  if (written.length > MAX_LENGTH) return wrong(`must have at most ${MAX_LENGTH} characters`);
  // The URL parser drops tabs and newlines and reads on.
  if (/\p{Cc}/u.test(written)) return wrong('must not contain control characters');
  const [, scheme, authority = ''] = /^(https?):\/\/([^/?#]*)/i.exec(written) ?? [];
  if (scheme === undefined) return wrong('must be an http or https URL, such as https://example.com');
  if (authority === '') return wrong('must name a host, such as https://example.com');
  if (authority.includes('@')) return wrong('must not contain a user name or password');
  if (/[\\%\s]/.test(authority)) return wrong('must not contain a backslash, % or spaces in its host');
  // Checked first, because normalizing a host and encoding its labels in punycode take quadratic time.
  if (authority.length > MAX_WRITTEN_LENGTH || hasTooManyMarks(authority)) return wrong(NO_HOST);
  if (/[<>]/.test(authority)) return wrong(INVALID); // with a combining mark, these become another character
  const composed = authority.normalize('NFC'); // some keyboards send é as e and an accent; workerd's parser misses some Hangul
  if (!canFit(composed)) return wrong(NO_HOST);
  if (isDisguised(authority)) return wrong(DISGUISED);
  if (/\.(?::\d*)?$/.test(composed)) return wrong('must not have a dot at the end of its host');
  if (composed.includes('*')) return wildcard(scheme.toLowerCase(), composed);
  return literal(scheme, composed);
}

/** Whether a text is an origin as a browser sends it for a page that could be registered. */
export const isRegistrable = (origin: string): boolean =>
  !origin.includes('*') && canonicalSite(origin).site === origin;

const INVALID = 'must have a valid host, and a port from 1 to 65535 if any';
const DISGUISED = 'must not contain invisible or full-width characters in its host';
const NO_HOST =
  'must have a host of labels of 1 to 63 letters, digits, - or _, at most 253 in all, such as example.com';

/** Counts run by run. A pattern for 31 marks would look at each mark 30 times. */
const hasTooManyMarks = (authority: string): boolean =>
  (authority.match(/\p{M}+/gu) ?? []).some((run) => Array.from(run).length > MAX_MARKS_IN_A_ROW);

/** Whether a host, with or without `*.` and a port, can fit into 253 characters. Punycode never makes a label shorter. */
function canFit(authority: string): boolean {
  const labels = authority.replace(/^\*\.|:\d*$/g, '').split('.');
  const lengths = labels.map((label) => Array.from(label).length);
  const total = lengths.reduce((sum, length) => sum + length, labels.length - 1);
  return total <= MAX_HOST_LENGTH && lengths.every((length) => length <= MAX_LABEL_LENGTH);
}

function literal(scheme: string, authority: string): Site {
  const url = URL.parse(`${scheme}://${authority}`);
  // Browsers let no label begin with a mark; workerd's parser does not know all of them.
  if (url === null || /(?:^|\.)\p{M}/u.test(authority)) return wrong(INVALID);
  if (url.port === '0') return wrong('must have a port from 1 to 65535');
  const { hostname, origin } = url;
  if (IP_LITERAL.test(hostname)) {
    // 127.1 and 0x7f.1 are 127.0.0.1 to the parser: what was written is not what would be authorized.
    const asWritten = authority === hostname || authority.startsWith(`${hostname}:`);
    return asWritten ? { site: origin } : wrong(`must give an IP address in its usual form, such as ${origin}`);
  }
  return isDnsName(hostname) ? { site: origin } : wrong(NO_HOST);
}

function wildcard(scheme: string, authority: string): Site {
  const anyPort = LOOPBACK_HOSTS.find((host) => authority.toLowerCase() === `${host}:*`);
  if (anyPort !== undefined) return { site: `${scheme}://${anyPort}:*` };
  const right = 'a leading *. as in https://*.example.com, or any port of a loopback host as in http://localhost:*';
  const rest = authority.slice('*.'.length);
  if (!authority.startsWith('*.') || rest.includes('*')) return wrong(`must have * only as ${right}`);
  const { site, problem } = literal(scheme, rest);
  if (site === undefined) return wrong(problem);
  const { hostname } = new URL(site);
  const labels = hostname.split('.').length;
  if (IP_LITERAL.test(hostname)) return wrong('must not have * before an IP address');
  if (!WILDCARD_LABELS.includes(labels)) {
    return wrong('must have two to five labels after *., as in https://*.example.com');
  }
  if (hostname.length > MAX_HOST_LENGTH - '*.'.length) return wrong('must have a host of at most 253 characters');
  return { site: site.replace('://', '://*.'), below: hostname };
}

/** By hand: a pattern for the spaces at the end takes quadratic time on a megabyte of them elsewhere. */
function withoutSpacesAround(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ') start += 1;
  while (end > start && text[end - 1] === ' ') end -= 1;
  return text.slice(start, end);
}

/** Whether a host has characters that the URL parser turns into others or into nothing, beyond letter case. */
function isDisguised(host: string): boolean {
  if (host.includes('\u212a')) return true; // the Kelvin sign, a K to every normalization
  // U+0345 becomes a letter of its own (ᾳ is αι). Which accents go with it depends on the order of composing.
  if (host.normalize('NFD').includes('\u0345')) return true;
  const composed = host.normalize('NFC');
  return composed !== composed.normalize('NFKC') || /[\p{Default_Ignorable_Code_Point}\u3002\uff61]/u.test(composed);
}

const LABEL = /^(?!-)[a-z\d_-]{1,63}(?<!-)$/;

/** Whether a host is a DNS name as the URL parser leaves it: lower case, punycode, with the underscores that exist in practice. */
const isDnsName = (host: string) =>
  host.length <= MAX_HOST_LENGTH && host.split('.').every((label) => LABEL.test(label));

/**
 * The sites that would admit an origin: itself, byte for byte, whatever it is, and where it is well-formed the wildcards over
 * it, at most four, or the one for any port of a loopback host. An origin with a `*` matches nothing, not even itself.
 */
export function sitesCovering(origin: string): string[] {
  if (origin.includes('*')) return [];
  return [origin, ...wildcardsOver(origin)];
}

/** Whether one of the sites would admit an origin. */
export const covers = (sites: ReadonlySet<string>, origin: string): boolean =>
  sitesCovering(origin).some((site) => sites.has(site));

function wildcardsOver(origin: string): string[] {
  if (!COVERABLE.test(origin) || origin.length > 'https://'.length + MAX_HOST_LENGTH + ':65535'.length) return [];
  const url = URL.parse(origin);
  // Well-formed is what serializes to itself: so it has no default port, no leading zeros, no capitals, no path.
  if (url === null || url.origin !== origin || url.port === '0') return [];
  const { protocol, hostname, port } = url;
  if (LOOPBACK_HOSTS.includes(hostname)) return [`${protocol}//${hostname}:*`];
  if (IP_LITERAL.test(hostname) || !isDnsName(hostname)) return [];
  const labels = hostname.split('.');
  const counts = WILDCARD_LABELS.filter((count) => count < labels.length); // a wildcard does not cover its own domain
  return counts.map((count) => `${protocol}//*.${labels.slice(-count).join('.')}${port === '' ? '' : `:${port}`}`);
}
