// Which old tokens the console shows as valid, and how it describes them.
import { expect, test } from 'vitest';
import { formatLastFour, lastUseWords, validAt } from '../../src/page/owner/token/former-tokens.ts';

const NOW = Date.parse('2026-11-22T07:21:00Z');
const token = (
  last_four: string,
  ms = 3_600_000,
  last_used_on: string | null = null,
  last_used_from: string | null = null,
) => ({
  ...{ id: 1, last_used_from },
  last_four,
  expires_at: new Date(NOW + ms).toISOString(),
  last_used_on,
});

test('an old token is valid until just before its expiry', () => {
  const former = [token('aaaa', 1), token('bbbb', 0), token('cccc', -1)];
  expect(validAt(NOW, former)).toEqual([token('aaaa', 1)]);
});

test.each([
  [null, null, 'Not used since it was replaced. Once all your pages have the new tag, it is safe to stop.'],
  ['2026-11-22', null, 'Used today.'],
  ['2026-11-22', 'https://shop.example', 'Used today, first from https://shop.example.'],
  ['2026-11-21', 'https://shop.example', 'Last used on Nov 21, 2026, first from https://shop.example.'],
])('an old token that was last used on %s, from %s, says so', (day, from, words) => {
  expect(lastUseWords(token('aaaa', 1, day, from), NOW)).toBe(words);
});

test('old tokens are named by their last four characters', () => {
  expect(formatLastFour([token('aaaa')])).toBe('…aaaa');
  expect(formatLastFour([token('aaaa'), token('bbbb'), token('cccc')])).toBe('…aaaa, …bbbb and …cccc');
});
