// Which keys work, and the words that describe a key.
import type { OwnRole } from '../../../core/policy.ts';
import type { Key } from '../../../keys/description.ts';
import { isReturnUrl } from '../../../sessions/rules.ts';
import { dayWords } from '../formats.ts';
import { OWN_KINDS } from '../roles.ts';
import type { StoredSession } from '../storage.ts';
import { whoWords } from '../who.ts';

export const isWorking = ({ revoked_at, expires_on }: Key, today: string): boolean =>
  revoked_at === null && (expires_on === null || expires_on >= today);

/** Returns whether `maker` created `key`. */
export const hasCreated = (maker: Key, key: Key): boolean => key.created_by.startsWith(`key ${maker.id} (`);

/** The last day of a working key, or why a key no longer works. */
export function endWords({ revoked_at, expires_on }: Key, today: string): string {
  if (revoked_at !== null) return `Revoked ${dayWords(revoked_at)}`;
  if (expires_on === null) return 'Never';
  return expires_on < today ? `Expired after ${dayWords(expires_on)}` : dayWords(expires_on);
}

/** Describes who created a key. `tail`: the last four characters of this session's key. */
export function makerWords(key: Key, keys: readonly Key[], tail: string): ReturnType<typeof whoWords> {
  if (key.created_by === `console link (…${tail})`) return { name: 'You', credential: '' };
  const key_name = keys.find((one) => hasCreated(one, key))?.name ?? null;
  return whoWords({ actor: key.created_by, actor_name: key.created_by_name, key_name });
}

/** Says what a new key can do. `business`: the name of its only business, or null. */
export function abilityWords({ role, expires_on }: Key, business: string | null): string {
  const where = business === null ? 'all your businesses' : `“${business}”`;
  const { ability } = OWN_KINDS[role as OwnRole]; // the console creates no other keys
  return `${ability(where)} It works until the end of ${dayWords(expires_on ?? '')} (UTC).`;
}

/** Says who manages keys, in a session that cannot: the product whose link opened the console, or who gave the key. */
export function askWords({ returnUrl, tail }: Pick<StoredSession, 'returnUrl' | 'tail'>): string {
  const product = returnUrl !== null && isReturnUrl(returnUrl) && new URL(returnUrl).host;
  const giver = tail === null ? 'the person who gave you access to this console' : 'the service operator';
  return `To give someone access, ask ${product || giver}.`;
}
