// A business's old tokens that still work.

import { dayOf } from '../../../core/time.ts';
import type { BusinessDetails } from '../../../shown-business/description.ts';
import { dayWords, tailOf } from '../formats.ts';

export type FormerToken = BusinessDetails['former_tokens'][number];

/** `now` is in milliseconds since 1970. */
export const validAt = (now: number, former: readonly FormerToken[]): FormerToken[] =>
  former.filter(({ expires_at }) => Date.parse(expires_at) > now);

/** Says whether pages still use a token. `now` is in milliseconds since 1970. */
export function lastUseWords({ last_used_on, used_from }: FormerToken, now: number): string {
  if (last_used_on === null)
    return 'Not used since it was replaced. Once all your pages have the new tag, it is safe to stop.';
  const today = dayOf(new Date(now));
  const when = (day: string) => (day === today ? 'today' : `on ${dayWords(day)}`);
  const pages = used_from.map(({ origin, last_used_on }) => `${origin} (${when(last_used_on)})`);
  const from = pages.length === 0 ? '' : ` Pages: ${pages.join(', ')}.`;
  return `Last used ${when(last_used_on)}.${from}`;
}

/** "…abcd, …efgh and …ijkl" */
export function formatLastFour(former: readonly FormerToken[]): string {
  const tails = former.map(({ last_four }) => tailOf(last_four));
  return [tails.slice(0, -1).join(', '), tails.at(-1)].filter(Boolean).join(' and ');
}
