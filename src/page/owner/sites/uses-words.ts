// What a row of the list of domains says about the uses of its site. It never says that a site is unused if its uses may have counted without a
// source.
import type { SourceUses } from '../../../usage/description.ts';
import { dayWords, plural } from '../formats.ts';

/** The rows show the uses of this number of days, today included. */
export const DAYS = 28;

/** The uses without a source: those of servers without a label, of days with too many sites, and of imported days. */
export const unnamedIn = (uses: SourceUses[]): number => uses.find(({ source }) => source === null)?.count ?? 0;

/** `addedOn` is when the site was added, if it was in these days. */
export function usesWords(site: string, uses: SourceUses[], addedOn?: string): string {
  const own = uses.find(({ source }) => source === site);
  if (own !== undefined) return `${plural(own.count, 'use')} in ${DAYS} days, last on ${dayWords(own.last_day)}`;
  const isCertain = unnamedIn(uses) === 0;
  if (addedOn === undefined) return isCertain ? `Not used in ${DAYS} days` : `No use counted by name in ${DAYS} days`;
  return `Added on ${dayWords(addedOn)}, ${isCertain ? 'not used yet' : 'no use counted by name yet'}`;
}
