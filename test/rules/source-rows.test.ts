// The changes in the table of sources.
import { expect, test } from 'vitest';
import { areAlike } from '../../src/page/owner/usage/source-rows.ts';

/** Returns uses of one source, and uses without one. */
const uses = (named: number, unnamed: number) =>
  [
    { source: 'https://a.example', count: named },
    { source: null, count: unnamed },
  ].map((one) => ({ ...one, last_day: '2026-11-01' }));

test.each([
  ['most uses of both periods have a source', uses(90, 10), uses(51, 49), true],
  ['most uses of neither period have a source', uses(10, 90), uses(49, 51), true],
  ['the earlier days were imported', uses(90, 10), uses(5, 95), false],
  ['sources ended', uses(5, 95), uses(90, 10), false],
  ['there were no uses before', uses(90, 10), [], true],
])('when %s', (_, now, before, expected) => {
  expect(areAlike({ now, before })).toBe(expected);
});
