// What an owner means by the address of a site, often typed without its scheme.
import { canonicalSite } from '../../core/site.ts';

/** `mailto:a@shop.example` has another scheme; `localhost:3000` has a port and no scheme. */
const hasScheme = (text: string): boolean => /^[a-z]+:/i.test(text) && !/^[^/:]+:(\d+|\*)(\/|$)/.test(text);

/** The address with a scheme: http for this machine, https for any other. Null if it already has one. */
export function withScheme(text: string): string | null {
  if (hasScheme(text)) return null;
  const scheme = /^(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/i.test(text) ? 'http' : 'https';
  return `${scheme}://${text.replace(/^\/+/, '')}`;
}

/** The origin that a browser sends from a page of this address. Text that is not an address is returned as it is. */
export function originOfPage(text: string): string {
  if (text.includes('*') || text === 'null') return text;
  const address = [text, withScheme(text)].find((written) => written !== null && canonicalSite(written).site);
  return address ? new URL(address).origin : text;
}
