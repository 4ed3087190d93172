// What an owner means by the address of a site, often typed without its scheme.
import { canonicalSite, sitesCovering } from '../../../core/site.ts';

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

const LOOPBACK_OR_IP = /^(localhost|\[.*\]|\d+\.\d+\.\d+\.\d+)$/;
/** Below the domain of a country: co.uk, com.au, gob.mx. */
const OF_A_COUNTRY =
  /^(ac|co|com|edu|firm|gen|go|gob|gouv|gov|id|ltd|me|mil|ne|net|nhs|nic|nom|or|org|plc|sch|web)\.[a-z]{2}$/;
/** Where many people have a site each. */
const OF_A_HOSTER =
  /^((firebaseapp|herokuapp|myshopify|weebly|wixsite|wordpress)\.com|(github|gitlab|ngrok|webflow)\.io|(amplifyapp|azurewebsites|cloudfront)\.(com|net)|(lovable|netlify|ngrok-free|replit|vercel|web)\.app|(fly|pages|workers)\.dev|(notion|square)\.site|onrender\.com|surge\.sh)$/;

/**
 * What a host lacks to be the host of somebody's site. It knows the common public suffixes only: the whole list would be larger than this
 * page. The service, which has it, decides about wildcards.
 */
export function lackOf(host: string): 'ending' | 'name' | null {
  if (LOOPBACK_OR_IP.test(host)) return null;
  if (!host.includes('.')) return 'ending';
  return OF_A_COUNTRY.test(host) || OF_A_HOSTER.test(host) ? 'name' : null;
}

/** The host of a canonical site, without `*.` and the port. */
export const hostOf = (site: string): string => /^https?:\/\/(?:\*\.)?(\[.*\]|[^:/]+)/.exec(site)?.[1] ?? '';

/** The first of `sites` that lets an origin pass. */
export const siteCovering = (origin: string, sites: readonly string[]): string | undefined =>
  sitesCovering(origin).find((site) => sites.includes(site));

/** Whether a canonical site could be the site of one owner. */
export const couldBeSomeones = (site: string): boolean => lackOf(hostOf(site)) === null;
