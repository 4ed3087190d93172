// Rules for sites (docs/api.md, "Sites"): which can be registered, and which cover an origin. A stored site is an origin exactly as
// browsers serialize it, so an `Origin` header can be compared byte for byte.

/** Per business. */
export const MAX_SITES = 500;
export const MAX_SITES_PER_CALL = 100;

export const MAX_SITE_LENGTH = 2048;
const MAX_HOST_LENGTH = 253; // RFC 1035 §2.3.4, which also limits labels
const MAX_LABEL_LENGTH = 63;
/** NFC shortens a host by at most a factor of four (UAX #15), so a longer host cannot fit. */
const MAX_WRITTEN_LENGTH = 4 * MAX_HOST_LENGTH + ':65535'.length;
/** Longer sequences of marks do not occur in real text (UAX #15, Stream-Safe Text) and take quadratic time to normalize. */
const MAX_MARKS_IN_A_ROW = 30;
/** The allowed numbers of labels after `*.`. */
const WILDCARD_LABELS = [5, 4, 3, 2];
/** Alerts and operator keys may be sent unencrypted to these hosts, so each must refer to the local machine. */
export const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];
/** Subdomains of localhost are loopback hosts too (RFC 6761 §6.3). */
const ANY_LOCALHOST = '*.localhost';
/** A cheap first check: a wildcard covers only loopback hosts and hosts of at least three labels. */
const COVERABLE = /^https?:\/\/(?:localhost|\[::1\]|[^.]+\.(?:localhost|[^.]+\.))/;
const IP_LITERAL = /^(?:\d+\.\d+\.\d+\.\d+|\[.*\])$/;

/**
 * A canonical site, or a problem that completes a sentence starting with the field's name. `below` is the domain whose subdomains a
 * wildcard covers. The caller must reject the site if strangers can own such subdomains (public-suffix.ts).
 */
export type ParsedSite =
  | { site: string; below?: string; problem?: never }
  | { site?: never; below?: never; problem: string };

const wrong = (problem: string): ParsedSite => ({ problem });

/** Canonicalizes a site: `https://EXAMPLE.com:443/shop` becomes `https://example.com`. */
export function canonicalSite(text: string): ParsedSite {
  if (text.length > MAX_SITE_LENGTH) return wrong(`must have at most ${MAX_SITE_LENGTH} characters`);
  const written = trimSpaces(text);
  // The URL parser would silently drop tabs and newlines.
  if (/\p{Cc}/u.test(written)) return wrong('must not contain control characters');
  if (isAppOrigin(written)) return { site: written };
  if (APP_SCHEME.test(written)) return wrong(NO_APP);
  const [, scheme, authority = ''] = /^(https?):\/\/([^/?#]*)/i.exec(written) ?? [];
  if (scheme === undefined) return wrong('must be an http or https URL, such as https://example.com');
  if (authority === '') return wrong('must include a host, such as https://example.com');
  if (authority.includes('@')) return wrong('must not contain a user name or password');
  if (/[\\%\s]/.test(authority)) return wrong('must not contain a backslash, % or spaces in its host');
  // Checked first, because normalizing a host and encoding its labels in Punycode take quadratic time.
  if (authority.length > MAX_WRITTEN_LENGTH || hasTooManyMarks(authority)) return wrong(NO_HOST);
  if (/[<>]/.test(authority)) return wrong(INVALID); // a combining mark would turn these into another character
  const composed = authority.normalize('NFC'); // some keyboards send é as e and an accent; workerd's parser misses some Hangul
  if (!canFit(composed)) return wrong(NO_HOST);
  if (isDisguised(authority) || hasStrayJoiner(composed)) return wrong(DISGUISED);
  if (/\.(?::\d*)?$/.test(composed)) return wrong('must not have a host that ends with a dot');
  if (composed.includes('*')) return wildcard(scheme.toLowerCase(), composed);
  return literal(scheme, composed);
}

/** Returns whether an origin, as a browser sends it, could be registered as a site. */
export const isRegistrable = (origin: string): boolean =>
  !origin.includes('*') && canonicalSite(origin).site === origin;

const APP_SCHEME = /^(?:capacitor|ionic|tauri|app|chrome-extension):/i;
const FIXED_APP_ORIGIN = /^(?:(?:capacitor|ionic|tauri):\/\/localhost|chrome-extension:\/\/[a-p]{32})$/;

/** Returns whether a text is the origin of an app or a browser extension. URL parsers disagree about these, so they are not repaired. */
export function isAppOrigin(text: string): boolean {
  const [, host] = /^app:\/\/([^:]+)$/.exec(text) ?? [];
  return host === undefined ? FIXED_APP_ORIGIN.test(text) : isRegistrable(`https://${host}`);
}

const INVALID_WILDCARD =
  'may contain * only as a leading *., as in https://*.example.com, or as the port of a loopback host, as in http://localhost:*';
const NO_APP =
  'must be exactly capacitor://localhost, ionic://localhost, tauri://localhost, app:// and a host, or chrome-extension:// and an id';
const INVALID = 'must have a valid host, and any port must be from 1 to 65535';
const DISGUISED = 'must not contain invisible or full-width characters in its host';
const NO_HOST =
  'must have a host of at most 253 characters, in labels of 1 to 63 letters, digits, - or _, such as example.com';

/** Counts each sequence of marks once. A pattern for 31 marks would read each mark 30 times. */
const hasTooManyMarks = (authority: string): boolean =>
  (authority.match(/\p{M}+/gu) ?? []).some((run) => Array.from(run).length > MAX_MARKS_IN_A_ROW);

/** Returns whether a host, with or without `*.` and a port, can fit into 253 characters. Punycode never shortens a label. */
function canFit(authority: string): boolean {
  const labels = authority.replace(/^\*\.|:\d*$/g, '').split('.');
  const lengths = labels.map((label) => Array.from(label).length);
  const total = lengths.reduce((sum, length) => sum + length, labels.length - 1);
  return total <= MAX_HOST_LENGTH && lengths.every((length) => length <= MAX_LABEL_LENGTH);
}

function literal(scheme: string, authority: string): ParsedSite {
  const url = URL.parse(`${scheme}://${authority}`);
  // Browsers reject labels that start with a mark. workerd's parser does not recognize all marks.
  if (url === null || /(?:^|\.)\p{M}/u.test(authority) || mixesDirections(authority)) return wrong(INVALID);
  if (url.port === '0') return wrong('must have a port from 1 to 65535');
  const { hostname, origin } = url;
  if (IP_LITERAL.test(hostname)) {
    // The parser reads 127.1 and 0x7f.1 as 127.0.0.1, which is not what the caller wrote.
    const asWritten = authority === hostname || authority.startsWith(`${hostname}:`);
    return asWritten ? { site: origin } : wrong(`must write an IP address in standard notation, such as ${origin}`);
  }
  return isDnsName(hostname) ? { site: origin } : wrong(NO_HOST);
}

function wildcard(scheme: string, authority: string): ParsedSite {
  const anyPort = [...LOOPBACK_HOSTS, ANY_LOCALHOST].find((host) => authority.toLowerCase() === `${host}:*`);
  if (anyPort !== undefined) return { site: `${scheme}://${anyPort}:*` };
  const rest = authority.slice('*.'.length);
  if (!authority.startsWith('*.') || rest.includes('*')) return wrong(INVALID_WILDCARD);
  const { site, problem } = literal(scheme, rest);
  if (site === undefined) return wrong(problem);
  const { hostname } = new URL(site);
  const labels = hostname.split('.').length;
  if (IP_LITERAL.test(hostname)) return wrong('must not have * before an IP address');
  if (hostname === 'localhost') return { site: site.replace('localhost', ANY_LOCALHOST) };
  if (!WILDCARD_LABELS.includes(labels)) {
    return wrong('must have two to five labels after *., as in https://*.example.com');
  }
  if (hostname.length > MAX_HOST_LENGTH - '*.'.length) return wrong('must have a host of at most 253 characters');
  return { site: site.replace('://', '://*.'), below: hostname };
}

/**
 * Avoids a regular expression, because matching trailing spaces with one takes quadratic time if the text contains a megabyte of spaces
 * elsewhere.
 */
function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ') start += 1;
  while (end > start && text[end - 1] === ' ') end -= 1;
  return text.slice(start, end);
}

/** A zero-width joiner or non-joiner, with the nearest character on each side that is not a mark. The first includes its marks. */
const JOINER = /(?<=((?:[^\p{Mn}\p{Me}.][\p{Mn}\p{Me}]*)?))[\u200c\u200d](?=[\p{Mn}\p{Me}]*([^\p{Mn}\p{Me}.:]?))/gu;

/**
 * Returns whether a host contains a joiner that browsers reject. A joiner may follow a virama, and a non-joiner may also separate two
 * letters that join (RFC 5892, appendices A.1 and A.2). workerd's parser is content if such letters are anywhere in the label, so it is
 * asked about each joiner alone.
 */
function hasStrayJoiner(host: string): boolean {
  return [...host.matchAll(JOINER)].some(([joiner, left = '', right]) => {
    const before = Array.from(left);
    const followsVirama = URL.canParse(`https://a${before.at(-1) ?? ''}\u200d`);
    const separates = joiner === '\u200c' && URL.canParse(`https://${before[0] ?? ''}\u200c${right}`);
    return !followsVirama && !separates;
  });
}

/** The blocks of scripts that are written from right to left, and those that Unicode reserves for them. */
const BLOCKS = String.raw`\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}`;
const LEFTWARD = String.raw`[[${BLOCKS}]--[\p{M}\u06f0-\u06f9]]`;
/** Modifiers have no direction, apart from these three, which end words. */
const RIGHTWARD = String.raw`[[\p{L}--\p{Lm}]\u0e46\u3005\u30fc]`;
/** All marks but these five take the direction of their letter. */
const MARK = String.raw`[\p{Mn}--[\u0cbf\u0cc6\u{11a07}\u{11a08}\u{11c3f}]]`;
/** In a label that is written from right to left. Some scripts have digits of that direction, with which a label can begin. */
const START = String.raw`(?=[\p{L}\u07c0-\u07c9\u{1e950}-\u{1e959}])${LEFTWARD}`;
const REST = String.raw`[${BLOCKS}${MARK}\p{Emoji_Presentation}\d_\-\u200c\u200d]*(?<=[\p{L}\p{N}]\p{Mn}*)`;
const HAS_LEFTWARD = new RegExp(LEFTWARD, 'v');
const LABEL_OF_ONE_DIRECTION = new RegExp(
  // An empty label has its own error.
  String.raw`^(?:|${START}${REST}|(?=${RIGHTWARD})(?:(?!${LEFTWARD}).)*(?<=(?:${RIGHTWARD}|[\p{Mc}\p{Nd}])\p{Mn}*))$`,
  'v',
);

/**
 * Returns whether browsers could reject a host because of its directions of writing (RFC 5893 §2). workerd's parser looks at each label
 * alone, and does not know recent letters.
 */
function mixesDirections(authority: string): boolean {
  const labels = authority.replace(/:\d*$/, '').split('.');
  return HAS_LEFTWARD.test(authority) && !labels.every((label) => LABEL_OF_ONE_DIRECTION.test(label));
}

/** Returns whether a host contains characters, other than capitals, that the URL parser replaces or drops. */
function isDisguised(host: string): boolean {
  if (host.includes('\u212a')) return true; // the Kelvin sign, which every normalization turns into K
  // U+0345 becomes a separate letter (ᾳ becomes αι). The order of composition determines which accents move with it.
  if (host.normalize('NFD').includes('\u0345')) return true;
  const composed = host.normalize('NFC');
  return (
    composed !== composed.normalize('NFKC') ||
    /[[\p{Default_Ignorable_Code_Point}--[\u200c\u200d]]\u3002\uff61]/v.test(composed)
  );
}

/** Allows underscores, and hyphens at both ends of a label. Browsers load such hosts, although no registry sells them. */
const LABEL = /^[a-z\d_-]{1,63}$/;

/** Returns whether a host from the URL parser (lower case, Punycode) is a DNS name. */
const isDnsName = (host: string) =>
  host.length <= MAX_HOST_LENGTH && host.split('.').every((label) => LABEL.test(label));

/**
 * Returns the sites that would admit an origin: the origin itself, byte for byte, and if it is well-formed, up to six wildcards, the narrowest
 * first, or a loopback host's any-port site. An origin that contains a `*` matches nothing, not even itself.
 */
export function sitesCovering(origin: string): string[] {
  if (origin.includes('*')) return [];
  return [origin, ...wildcardsOver(origin)];
}

/** Returns whether one of the sites would admit an origin. */
export const covers = (sites: ReadonlySet<string>, origin: string): boolean =>
  sitesCovering(origin).some((site) => sites.has(site));

function wildcardsOver(origin: string): string[] {
  if (!COVERABLE.test(origin) || origin.length > 'https://'.length + MAX_HOST_LENGTH + ':65535'.length) return [];
  const url = URL.parse(origin);
  // A well-formed origin serializes to itself, because it contains no default port, leading zeros, capitals or path.
  if (url === null || url.origin !== origin || url.port === '0') return [];
  const { protocol, hostname, port } = url;
  if (LOOPBACK_HOSTS.includes(hostname)) return [`${protocol}//${hostname}:*`];
  if (IP_LITERAL.test(hostname) || !isDnsName(hostname)) return [];
  const labels = hostname.split('.');
  const isLocal = labels.at(-1) === 'localhost';
  const counts = isLocal ? [...WILDCARD_LABELS, 1] : WILDCARD_LABELS;
  const hosts = counts
    .filter((count) => count < labels.length) // a wildcard does not cover its own domain
    .map((count) => `*.${labels.slice(-count).join('.')}${port === '' ? '' : `:${port}`}`);
  return [...hosts, ...(isLocal ? [`${ANY_LOCALHOST}:*`] : [])].map((host) => `${protocol}//${host}`);
}
