// What the list of domains says about the uses of a site.
import { expect, test } from 'vitest';
import { usesWords } from '../../src/page/owner/sites/uses-words.ts';

const SITE = 'https://shop.example';
const of = (source: string | null, count = 3, today = 0) => ({ source, count, today, last_day: '2026-03-14' });
test.each([
  ['counted', [of(SITE), of(null)], undefined, '3 uses in 28 days, last on Mar 14, 2026'],
  ['used only today', [of(SITE, 0, 5)], undefined, '5 uses today so far'],
  ['counted, also today', [of(SITE, 3, 5)], undefined, '3 uses in 28 days, last on Mar 14, 2026'],
  ['unused', [of('https://b.example')], undefined, 'Not used in 28 days'],
  ['unused, with no uses at all', [], undefined, 'Not used in 28 days'],
  ['new', [of('sms')], '2026-03-10', 'Added on Mar 10, 2026, not used yet'],
  ['new and counted', [of(SITE, 1)], '2026-03-10', '1 use in 28 days, last on Mar 14, 2026'],
  // Its uses may be among those without a source.
  ['perhaps used', [of(null, 1)], undefined, 'No use counted by name in 28 days'],
  ['new and perhaps used', [of('https://b.example'), of(null)], '2026-03-10', 'Added on Mar 10, 2026, no use counted by name yet'],
])('a site that is %s says so', (_, uses, addedOn, words) => {
  expect(usesWords(SITE, uses, addedOn)).toBe(words);
}); // biome-ignore format: one row per line
