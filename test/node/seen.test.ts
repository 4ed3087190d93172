// What stays in its place in the lists of the console.
import { expect, test } from 'vitest';
import { inOrderSeen, rowsOf } from '../../src/page/owner/domains/seen.ts';

test('keys are in the order in which they were first seen, whatever order comes next', () => {
  expect(inOrderSeen([], ['b', 'a'])).toEqual(['b', 'a']);
  expect(inOrderSeen(['b', 'a'], ['c', 'a'])).toEqual(['b', 'a', 'c']);
});

test('a site that was removed here stays, and one that somebody else removed does not', () => {
  const seen = ['a', 'b', 'c', 'd'];
  expect(rowsOf(seen, ['d', 'a'], new Set(['b', 'd']))).toEqual([
    { site: 'a', isRegistered: true },
    { site: 'b', isRegistered: false },
    { site: 'd', isRegistered: true },
  ]);
});
