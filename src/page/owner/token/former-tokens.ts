// The old tokens of a business that still work: which they are at an instant, and what is said about them.
import { DAY_MS } from '../../../core/time.ts';
import type { BusinessDetails } from '../../../wire/responses.ts';
import { instantWords, plural } from '../formats.ts';

export type FormerToken = BusinessDetails['former_tokens'][number];

/** The service keeps no more. Of more, those stop that were replaced first. */
export const MAX_FORMER_TOKENS = 5;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Those that still work at `now`, in milliseconds since 1970. */
export const workingAt = (now: number, former: readonly FormerToken[]): FormerToken[] =>
  former.filter(({ expires_at }) => Date.parse(expires_at) > now);

/** What works after a replacement that has kept `old`, or has stopped all of them (null), before the service is asked again. */
export const afterReplacement = (former: readonly FormerToken[], old: FormerToken | null): FormerToken[] =>
  old === null ? [] : [...former, old].slice(-MAX_FORMER_TOKENS);

/** How long to wait until what is said about them changes: at the next end, or with the next minute. */
export const waitMs = (now: number, former: readonly FormerToken[]): number =>
  Math.min(MINUTE_MS, ...workingAt(now, former).map(({ expires_at }) => Date.parse(expires_at) - now));

/** How long something still lasts. It never promises more than there is. */
export function remainingWords(ms: number): string {
  if (ms < MINUTE_MS) return 'in less than a minute';
  if (ms < HOUR_MS) return `in ${plural(Math.floor(ms / MINUTE_MS), 'minute')}`;
  if (ms < 2 * DAY_MS) return `in ${plural(Math.floor(ms / HOUR_MS), 'hour')}`;
  return `in ${plural(Math.floor(ms / DAY_MS), 'day')}`;
}

/** How a view names a token: by its last four characters. */
export const tailOf = (token: string): string => `…${token.slice(-4)}`;

/** "…abcd, …efgh and …ijkl" */
export function tailsOf(former: readonly FormerToken[]): string {
  const tails = former.map(({ last_four }) => tailOf(last_four));
  return [tails.slice(0, -1).join(', '), tails.at(-1)].filter(Boolean).join(' and ');
}

/** What this page has done to the token, which was `token` then. */
export type Done = { token: string } & ({ action: 'replaced'; old: FormerToken | null } | { action: 'stopped' });

/** What is still true of it, with the token and the old ones that work now. Null: nothing that this page has done. */
export function doneWords(done: Done, token: string, working: readonly FormerToken[]): string | null {
  if (done.token !== token) return null; // somebody has replaced it since
  if (done.action === 'stopped') {
    return working.length > 0 ? null : `The old tokens no longer work. The token ${tailOf(token)} goes on working.`;
  }
  const kept = working.find(({ last_four }) => last_four === done.old?.last_four);
  const old = kept ? `The old one works until ${instantWords(kept.expires_at)}.` : 'The old one no longer works.';
  return `There is a new token ${tailOf(token)}. ${old} Paste the new tag into your pages.`;
}
