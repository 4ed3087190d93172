// Which old tokens of a business the console shows as working, and what it says about them.
import { expect, test } from 'vitest';
import {
  afterReplacement,
  type Done,
  doneWords,
  remainingWords,
  tailsOf,
  waitMs,
  workingAt,
} from '../../src/page/owner/token/former-tokens.ts';

const NOW = Date.parse('2026-11-22T07:21:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const token = (last_four: string, ms = HOUR) => ({ last_four, expires_at: new Date(NOW + ms).toISOString() });

test('a token works until its end, and not at it', () => {
  const former = [token('aaaa', 1), token('bbbb', 0), token('cccc', -1)];
  expect(workingAt(NOW, former)).toEqual([token('aaaa', 1)]);
});

test('after a replacement that keeps the old token, it comes last, and of more than five the first has stopped', () => {
  const four = ['a', 'b', 'c', 'd'].map((name) => token(name.repeat(4)));
  const kept = token('wxyz');
  expect(afterReplacement(four, kept)).toEqual([...four, kept]);
  expect(afterReplacement([token('oldd'), ...four], kept)).toEqual([...four, kept]);
});

test('after a replacement that stops the old token, none of the old ones works', () => {
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
])('%i ms are “%s”: no more than there is', (ms, words) => {
  expect(remainingWords(ms)).toBe(words);
});

test('what is said is looked at again each minute, and exactly at the next end', () => {
  expect(waitMs(NOW, [token('aaaa', 5 * HOUR)])).toBe(MINUTE);
  expect(waitMs(NOW, [token('aaaa', 5 * HOUR), token('bbbb', 900), token('cccc', -900)])).toBe(900);
});

test('tokens are named by their last four characters', () => {
  expect(tailsOf([token('aaaa')])).toBe('…aaaa');
  expect(tailsOf([token('aaaa'), token('bbbb'), token('cccc')])).toBe('…aaaa, …bbbb and …cccc');
});

const replaced: Done = { action: 'replaced', token: 'bua_pk_newwxyz', old: token('oldd') };
test.each([
  [
    'a replacement that keeps the old token says until when it works',
    replaced,
    [token('oldd')],
    'There is a new token …wxyz. The old one works until Nov 22, 2026, 08:21 UTC. Paste the new tag into your pages.',
  ],
  [
    'after the end of the old token, or when it was stopped, it does not say so any more',
    replaced,
    [],
    'There is a new token …wxyz. The old one no longer works. Paste the new tag into your pages.',
  ],
  [
    'a replacement that stops the old token says so',
    { ...replaced, old: null },
    [],
    'There is a new token …wxyz. The old one no longer works. Paste the new tag into your pages.',
  ],
  [
    'stopping the old tokens says that the token works on',
    { action: 'stopped', token: 'bua_pk_newwxyz' },
    [],
    'The old tokens no longer work. The token …wxyz goes on working.',
  ],
  ['but not while one works again', { action: 'stopped', token: 'bua_pk_newwxyz' }, [token('aaaa')], null],
] as const)('%s', (_, done, working, words) => {
  expect(doneWords(done as Done, 'bua_pk_newwxyz', working)).toBe(words);
});

test('nothing is said of a token that somebody has replaced since', () => {
  expect(doneWords(replaced, 'bua_pk_other', [token('oldd')])).toBe(null);
});
