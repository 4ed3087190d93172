// What a row of the list of domains says about the uses of its site. It never says that a site is unused if its uses may have counted without a
// source.
import { SHOWN_DAYS } from '../../scale.ts';
import { dayWords, plural } from '../formats.ts';
import type { Uses } from '../source-uses.ts';

/** The uses without a source: those of servers without a label, of days with too many sites, and of imported days. */
export const unnamedIn = (uses: Uses[]): Uses | null => uses.find(({ source }) => source === null) ?? null;

/** “60 uses in 28 days”, or if there are none, “5 uses today so far” */
export const countWords = ({ count, today }: Uses): string =>
  count === 0 ? `${plural(today, 'use')} today so far` : `${plural(count, 'use')} in ${SHOWN_DAYS} days`;

/** `addedOn` is when the site was added, if it was in these days. */
export function usesWords(site: string, uses: Uses[], addedOn?: string): string {
  const own = uses.find(({ source }) => source === site);
  if (own !== undefined)
    return own.count === 0 ? countWords(own) : `${countWords(own)}, last on ${dayWords(own.last_day)}`;
  const isCertain = unnamedIn(uses) === null;
  if (addedOn === undefined)
    return isCertain ? `Not used in ${SHOWN_DAYS} days` : `No use counted by name in ${SHOWN_DAYS} days`;
  return `Added on ${dayWords(addedOn)}, ${isCertain ? 'not used yet' : 'no use counted by name yet'}`;
}
