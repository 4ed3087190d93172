// Which sites visitors can reach (docs/api.md, "Overage"). Any other could be a page on any machine, so it must not let strangers use up an
// overage. The rule judges what a site says, and never looks it up.

/** Address blocks that are not public (RFC 6890 and its registry), as the first address and the number of leading bits. */
const PRIVATE_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;

/**
 * Domains that the public DNS never contains (RFC 6761, 6762 with its appendix G, 8375, 9476, and ICANN's "internal"). A host in none of
 * them must still have a dot: single labels are names on a local network.
 */
const LOCAL_DOMAIN =
  /(?:^|\.)(?:localhost|local|internal|test|invalid|alt|home\.arpa|intranet|private|corp|home|lan|localdomain)$/;

/** Returns whether visitors can reach a canonical site, or an origin that a canonical wildcard covers. */
export function isReachable(site: string): boolean {
  const [, host = ''] = /^https?:\/\/(?:\*\.)?(\[.*\]|[^:]*)/.exec(site) ?? [];
  if (host.startsWith('[')) return isPublicIpv6(host.slice(1, -1));
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return isPublicIpv4(host);
  return host.includes('.') && !LOCAL_DOMAIN.test(host);
}

const numberOf = (address: string) => address.split('.').reduce((number, byte) => number * 256 + Number(byte), 0);
const isPublicIpv4 = (address: string): boolean =>
  !PRIVATE_IPV4.some(([first, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(numberOf(address) / size) === Math.floor(numberOf(first) / size);
  });

/**
 * Only 2000::/3 is public, so neither is a mapped IPv4 address. In it, 2001::/23 and 2001:db8::/32 are reserved, 2002::/16 contains an IPv4
 * address of any kind, and 3fff::/20 is for documentation. Canonical addresses begin with their first two groups in hex, unless the second
 * is 0.
 */
function isPublicIpv6(address: string): boolean {
  const [first = 0, second = 0] = (/^[^:]*:[^:]*/.exec(address)?.[0] ?? '')
    .split(':')
    .map((group) => Number.parseInt(group || '0', 16));
  const isReserved =
    (first === 0x2001 && (second < 0x200 || second === 0xdb8)) ||
    first === 0x2002 ||
    (first === 0x3fff && second < 0x1000);
  return first >= 0x2000 && first < 0x4000 && !isReserved;
}
