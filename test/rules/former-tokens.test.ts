// Which old tokens the console shows as valid, and how it describes them.
import { expect, test } from 'vitest';
import { formatLastFour, lastUseWords, validAt } from '../../src/page/owner/token/former-tokens.ts';

const NOW = Date.parse('2026-11-22T07:21:00Z');
const token = (
  last_four: string,
  ms = 3_600_000,
  last_used_on: string | null = null,
  used_from: { origin: string; last_used_on: string }[] = [],
) => ({
  ...{ id: 1, used_from },
  last_four,
  expires_at: new Date(NOW + ms).toISOString(),
  last_used_on,
});

test('an old token is valid until just before its expiry', () => {
  const former = [token('aaaa', 1), token('bbbb', 0), token('cccc', -1)];
  expect(validAt(NOW, former)).toEqual([token('aaaa', 1)]);
});

const SHOP = { origin: 'https://shop.example', last_used_on: '2026-11-22' };
test.each([
  [null, [], 'Not used since it was replaced. Once all your pages have the new tag, it is safe to stop.'],
  ['2026-11-22', [], 'Last used today.'],
  [
    '2026-11-22',
    [SHOP, { origin: 'https://b.example', last_used_on: '2026-11-20' }],
    'Last used today. Pages: https://shop.example (today), https://b.example (on Nov 20, 2026).',
  ],
  ['2026-11-21', [], 'Last used on Nov 21, 2026.'],
])('an old token that was last used on %s, from %j, says so', (day, from, words) => {
  expect(lastUseWords(token('aaaa', 1, day, from), NOW)).toBe(words);
});

test('old tokens are named by their last four characters', () => {
  expect(formatLastFour([token('aaaa')])).toBe('…aaaa');
  expect(formatLastFour([token('aaaa'), token('bbbb'), token('cccc')])).toBe('…aaaa, …bbbb and …cccc');
});
