// The rules for domains: what a site may be when it is registered (contract, "Access domains"). What is stored is its
// canonical origin, exactly as a browser serialises it, so that a visitor's header is only ever compared, never parsed.

const MAX_LENGTH = 2048;
/** A DNS name as the URL parser leaves it: lower case, punycode; RFC 1035 lengths, with the underscores that exist in practice. */
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const IP_LITERAL = /^(?:\d+\.\d+\.\d+\.\d+|\[.*\])$/;

/** The canonical site, or what is wrong with the text and what would be right, to be put behind the name of its field. */
export type Site = { site: string; problem?: undefined } | { site?: undefined; problem: string };

const wrong = (problem: string): Site => ({ problem });

/** The canonical form of a site: `https://EXAMPLE.com:443/shop` is `https://example.com`. */
export function canonicalSite(text: string): Site {
  const written = text.replace(/^ +| +$/g, '');
  if (written.length > MAX_LENGTH) return wrong(`must have at most ${MAX_LENGTH} characters`);
  // The URL parser drops tabs and newlines and reads past the rest.
  if (/\p{Cc}/u.test(written)) return wrong('must not contain control characters');
  const [, scheme, authority = ''] = /^(https?):\/\/([^/?#]*)/i.exec(written) ?? [];
  if (scheme === undefined) return wrong('must be an http or https URL, such as https://example.com');
  if (authority === '') return wrong('must name a host, such as https://example.com');
  if (authority.includes('@')) return wrong('must not contain a user name or password');
  if (authority.includes('*')) return wrong('must not contain *: name each domain, such as https://shop.example.com');
  if (/[\\%\s]/.test(authority)) return wrong('must not contain a backslash, % or spaces in its host');
  if (isDisguised(authority)) return wrong('must not contain invisible or full-width characters in its host');
  const url = URL.parse(`${scheme}://${authority}`);
  if (url === null) return wrong('must have a valid host, and a port from 1 to 65535 if any');
  if (url.port === '0') return wrong('must have a port from 1 to 65535');
  const host = url.hostname;
  if (IP_LITERAL.test(host)) {
    // 127.1 and 0x7f.1 are 127.0.0.1 to the parser: what was written is not what would be authorized.
    const asWritten = authority === host || authority.startsWith(`${host}:`);
    return asWritten ? { site: url.origin } : wrong(`must give an IP address in its usual form, such as ${url.origin}`);
  }
  if (!DNS_NAME.test(host)) {
    return wrong(
      'must have a host of labels of 1 to 63 letters, digits, - or _, at most 253 in all, such as example.com',
    );
  }
  return { site: url.origin };
}

/** Whether a host has characters that the URL parser turns into others or into nothing, beyond letter case. */
function isDisguised(host: string): boolean {
  const composed = host.normalize('NFC'); // some keyboards send é as e and an accent
  return composed !== composed.normalize('NFKC') || /[\p{Default_Ignorable_Code_Point}\u3002\uff61]/u.test(composed);
}
