// A business's old tokens that still work.
import type { BusinessDetails } from '../../../business/description.ts';
import { DAY_MS, dayOf } from '../../../core/time.ts';
import { dayWords, instantWords, plural } from '../formats.ts';

export type FormerToken = BusinessDetails['former_tokens'][number];

/** The service's limit. Beyond it, the oldest tokens stop working. */
export const MAX_FORMER_TOKENS = 5;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** `now` is in milliseconds since 1970. */
export const validAt = (now: number, former: readonly FormerToken[]): FormerToken[] =>
  former.filter(({ expires_at }) => Date.parse(expires_at) > now);

/** Predicts the old tokens after a replacement. `old` is the replaced token, or null if all old tokens were stopped. */
export const afterReplacement = (former: readonly FormerToken[], old: FormerToken | null): FormerToken[] =>
  old === null ? [] : [...former, old].slice(-MAX_FORMER_TOKENS);

/** Returns the time until the displayed times must be refreshed. This is the time until the next expiry, but at most a minute. */
export const refreshDelayMs = (now: number, former: readonly FormerToken[]): number =>
  Math.min(MINUTE_MS, ...validAt(now, former).map(({ expires_at }) => Date.parse(expires_at) - now));

/** Formats the remaining time, rounded down. */
export function remainingWords(ms: number): string {
  if (ms < MINUTE_MS) return 'in less than a minute';
  if (ms < HOUR_MS) return `in ${plural(Math.floor(ms / MINUTE_MS), 'minute')}`;
  if (ms < 2 * DAY_MS) return `in ${plural(Math.floor(ms / HOUR_MS), 'hour')}`;
  return `in ${plural(Math.floor(ms / DAY_MS), 'day')}`;
}

/** Says whether pages still use a token. `now` is in milliseconds since 1970. */
export function lastUseWords({ last_used_on }: FormerToken, now: number): string {
  if (last_used_on === null)
    return 'Not used since it was replaced. Once all your pages have the new tag, it is safe to stop.';
  return last_used_on === dayOf(new Date(now)) ? 'Used today.' : `Last used on ${dayWords(last_used_on)}.`;
}

/** Shortens a token to its last four characters. */
export const tailOf = (token: string): string => `…${token.slice(-4)}`;

/** "…abcd, …efgh and …ijkl" */
export function formatLastFour(former: readonly FormerToken[]): string {
  const tails = former.map(({ last_four }) => tailOf(last_four));
  return [tails.slice(0, -1).join(', '), tails.at(-1)].filter(Boolean).join(' and ');
}

/** A change made on this page. `token` is the business's token after the change. */
export type Done = { token: string } & ({ action: 'replaced'; old: FormerToken | null } | { action: 'stopped' });

/** Describes the part of a change that still applies, given the tokens that work now. Returns null if it is outdated. */
export function doneWords(done: Done, token: string, working: readonly FormerToken[]): string | null {
  if (done.token !== token) return null; // the token has been replaced since
  if (done.action === 'stopped') {
    return working.length > 0 ? null : `The old tokens no longer work. The token ${tailOf(token)} keeps working.`;
  }
  const still = working.find(({ last_four }) => last_four === done.old?.last_four);
  const old = still ? `The old one works until ${instantWords(still.expires_at)}.` : 'The old one no longer works.';
  return `The new token is ${tailOf(token)}. ${old} Paste the new tag into your pages.`;
}
