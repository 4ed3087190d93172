// Which old tokens the console shows as valid, and how it describes them.
import { expect, test } from 'vitest';
import {
  afterReplacement,
  type Done,
  doneWords,
  formatLastFour,
  lastUseWords,
  refreshDelayMs,
  remainingWords,
  validAt,
} from '../../src/page/owner/token/former-tokens.ts';

const NOW = Date.parse('2026-11-22T07:21:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const token = (last_four: string, ms = HOUR, last_used_on: string | null = null) => ({
  last_four,
  expires_at: new Date(NOW + ms).toISOString(),
  last_used_on,
});

test('an old token is valid until just before its expiry', () => {
  const former = [token('aaaa', 1), token('bbbb', 0), token('cccc', -1)];
  expect(validAt(NOW, former)).toEqual([token('aaaa', 1)]);
});

test('a replaced token is added last, and the oldest is dropped if there are more than five', () => {
  const four = ['a', 'b', 'c', 'd'].map((name) => token(name.repeat(4)));
  const kept = token('wxyz');
  expect(afterReplacement(four, kept)).toEqual([...four, kept]);
  expect(afterReplacement([token('oldd'), ...four], kept)).toEqual([...four, kept]);
});

test('a replacement that revokes the old token leaves no old token valid', () => {
  expect(afterReplacement([token('aaaa')], null)).toEqual([]);
});

test.each([
  [0, 'in less than a minute'],
  [MINUTE - 1, 'in less than a minute'],
  [MINUTE, 'in 1 minute'],
  [HOUR - 1, 'in 59 minutes'],
  [HOUR, 'in 1 hour'],
  [24 * HOUR - 1, 'in 23 hours'],
  [48 * HOUR - 1, 'in 47 hours'],
  [48 * HOUR, 'in 2 days'],
  [7 * 24 * HOUR - 1, 'in 6 days'],
])('a remaining time of %i ms is rounded down to “%s”', (ms, words) => {
  expect(remainingWords(ms)).toBe(words);
});

test('the list of old tokens refreshes each minute and exactly at the next expiry', () => {
  expect(refreshDelayMs(NOW, [token('aaaa', 5 * HOUR)])).toBe(MINUTE);
  expect(refreshDelayMs(NOW, [token('aaaa', 5 * HOUR), token('bbbb', 900), token('cccc', -900)])).toBe(900);
});

test.each([
  [null, 'Not used since it was replaced. Once all your pages have the new tag, it is safe to stop.'],
  ['2026-11-22', 'Used today.'],
  ['2026-11-21', 'Last used on Nov 21, 2026.'],
])('an old token that was last used on %s says so', (day, words) => {
  expect(lastUseWords(token('aaaa', HOUR, day), NOW)).toBe(words);
});

test('old tokens are named by their last four characters', () => {
  expect(formatLastFour([token('aaaa')])).toBe('…aaaa');
  expect(formatLastFour([token('aaaa'), token('bbbb'), token('cccc')])).toBe('…aaaa, …bbbb and …cccc');
});

const replaced: Done = { action: 'replaced', token: 'bua_pk_newwxyz', old: token('oldd') };
const stopped: Done = { action: 'stopped', token: 'bua_pk_newwxyz' };
test.each<[string, Done, ReturnType<typeof token>[], string | null]>([
  ['the message after a replacement says until when the old token works', replaced, [token('oldd')], 'The new token is …wxyz. The old one works until Nov 22, 2026, 08:21 UTC. Paste the new tag into your pages.'],
  ['the message after a replacement says that the old token no longer works if it has expired or been revoked', replaced, [], 'The new token is …wxyz. The old one no longer works. Paste the new tag into your pages.'],
  ['the message after a replacement that revokes the old token says that the old token no longer works', { ...replaced, old: null }, [], 'The new token is …wxyz. The old one no longer works. Paste the new tag into your pages.'],
  ['the message after revoking the old tokens says that the current token works', stopped, [], 'The old tokens no longer work. The token …wxyz keeps working.'],
  ['the message after revoking the old tokens disappears if an old token works', stopped, [token('aaaa')], null],
])('%s', (_, done, working, words) => {
  expect(doneWords(done, 'bua_pk_newwxyz', working)).toBe(words);
}); // biome-ignore format: one row per line

test('the message after a replacement disappears when the new token is replaced', () => {
  expect(doneWords(replaced, 'bua_pk_other', [token('oldd')])).toBe(null);
});
