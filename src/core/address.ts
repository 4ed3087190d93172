// Which addresses are safe to send something to, or somebody.
import { LOOPBACK_HOSTS } from './site.ts';

/** The rest of an error about an address. Plain http is allowed on this machine, where nobody can listen in. */
export const addressRule = (maxLength: number): string =>
  `must be an https URL (http only for localhost, 127.0.0.1 and [::1]) of at most ${maxLength} characters, without credentials, spaces or control characters`;

export function isSafeAddress(text: string, maxLength: number): boolean {
  if (text.length > maxLength || /[\s\p{C}]/u.test(text)) return false;
  // The parser forgives missing slashes, and drops an @ without a name before it.
  const [, authority] = /^https?:\/\/([^/?#\\]+)/i.exec(text) ?? [];
  const url = URL.parse(text);
  if (authority === undefined || authority.includes('@') || url === null) return false;
  return url.protocol === 'https:' || LOOPBACK_HOSTS.includes(url.hostname);
}
