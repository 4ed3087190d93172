// What an owner means who types the address of a site, often without its scheme.
import { canonicalSite } from '../../core/site.ts';

/** `mailto:a@shop.example` has a scheme that is not ours; `localhost:3000` has none, but a port. */
const hasScheme = (text: string): boolean => /^[a-z]+:/i.test(text) && !/^[^/:]+:(\d+|\*)(\/|$)/.test(text);

/** The address with its scheme: http for this machine, https elsewhere. Null where it has one already. */
export function withScheme(text: string): string | null {
  if (hasScheme(text)) return null;
  const scheme = /^(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/i.test(text) ? 'http' : 'https';
  return `${scheme}://${text.replace(/^\/+/, '')}`;
}

/** The origin that a browser sends from a page of this address. What is no address stays as it is. */
export function originOfPage(text: string): string {
  if (text.includes('*') || text === 'null') return text;
  const address = [text, withScheme(text)].find((written) => written !== null && canonicalSite(written).site);
  return address ? new URL(address).origin : text;
}
