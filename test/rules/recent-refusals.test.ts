// What an isolate remembers of the refusals of an owner who has used up an allowance.
import { expect, test } from 'vitest';
import { RecentRefusals } from '../../src/memory/recent-refusals.ts';

const ERROR = new Error('refused');
const isRefused = (refusals: RecentRefusals, key: string, now: number, kind: 'reading' | 'recording' = 'recording') => {
  try {
    refusals.refuseAgain(key, kind, now);
    return false;
  } catch (error) {
    expect(error).toBe(ERROR);
    return true;
  }
};

test('one refusal holds for a second, for all keys of the user that do not wait, and only for its class', () => {
  const refusals = new RecentRefusals();
  for (const key of ['a', 'b']) refusals.add(key, 7, 'recording', ERROR, 0);
  refusals.add('other', 8, 'recording', ERROR, 0);
  expect(isRefused(refusals, 'b', 900)).toBe(true);
  refusals.add('a', 7, 'recording', ERROR, 1000);
  expect(['a', 'b', 'new', 'other'].map((key) => isRefused(refusals, key, 1800))).toEqual([true, true, false, false]);
  expect(isRefused(refusals, 'b', 1800, 'reading')).toBe(false);
  expect(isRefused(refusals, 'b', 1799)).toBe(false); // a clock that went back
  expect(isRefused(refusals, 'b', 2000)).toBe(false); // a second after the last refusal that came from the database
});

test('a key that waited a second after its own refusal asks the database, whatever the user’s other keys do', () => {
  const refusals = new RecentRefusals();
  for (const key of ['a', 'polite']) refusals.add(key, 7, 'recording', ERROR, 0);
  for (let now = 250; now <= 1000; now += 250) refusals.add('a', 7, 'recording', ERROR, now);
  expect(isRefused(refusals, 'polite', 1000)).toBe(false);
  expect(isRefused(refusals, 'a', 1000)).toBe(true);
});

test('a refusal without a user holds for its key alone', () => {
  const refusals = new RecentRefusals();
  for (const key of ['a', 'b']) refusals.add(key, 7, 'recording', ERROR, 0);
  refusals.add('a', null, 'recording', ERROR, 5000);
  expect(['a', 'b'].map((key) => isRefused(refusals, key, 5000))).toEqual([true, false]);
});

test('a thousand are remembered, and the oldest are forgotten', () => {
  const refusals = new RecentRefusals();
  for (let user = 1; user <= 1001; user++) refusals.add(`key ${user}`, user, 'recording', ERROR, 0);
  expect([1, 2, 1001].map((user) => isRefused(refusals, `key ${user}`, 0))).toEqual([false, true, true]);
});
