// Validates URLs: those that receive alerts, those to which the console may link back, and those to which commands send their key.
import { LOOPBACK_HOSTS } from './site.ts';

/** Completes an error message that starts with the field's name. Plain http is allowed only on the local machine. */
export const addressRule = (maxLength: number): string =>
  `must be an https URL (http only for localhost, 127.0.0.1 and [::1]) of at most ${maxLength} characters, without credentials, spaces or control characters`;

export function isSafeAddress(text: string, maxLength = Number.POSITIVE_INFINITY): boolean {
  if (text.length > maxLength || /[\s\p{C}]/u.test(text)) return false;
  // Checks the text itself, because the URL parser accepts missing slashes and drops an @ that follows no user name.
  const [, authority] = /^https?:\/\/([^/?#\\]+)/i.exec(text) ?? [];
  const url = URL.parse(text);
  if (authority === undefined || authority.includes('@') || url === null) return false;
  return url.protocol === 'https:' || LOOPBACK_HOSTS.includes(url.hostname);
}
