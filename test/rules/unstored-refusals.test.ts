// When counts of refused uses are stored: at once, then at most ten times a minute, and nothing is left out.
import { expect, test } from 'vitest';
import { UnstoredRefusals } from '../../src/memory/unstored-refusals.ts';

const DAY = '2026-03-15';

test('the first is stored at once, the next when six seconds have passed, and others only count', () => {
  const refusals = new UnstoredRefusals();
  expect(refusals.add(1, DAY, 1, 0)).toBe(0);
  expect(refusals.add(1, DAY, 2, 0)).toBe(null);
  expect(refusals.take(1, DAY, 1)).toBe(3);
  expect(refusals.add(1, DAY, 5, 1000)).toBe(5001);
  expect(refusals.add(1, DAY, 5, 6000)).toBe(null);
  expect(refusals.take(1, DAY, 6001)).toBe(10);
  expect(refusals.add(1, DAY, 1, 60_000)).toBe(0);
});

test('businesses and days are counted apart', () => {
  const refusals = new UnstoredRefusals();
  expect([refusals.add(1, DAY, 1, 0), refusals.add(2, DAY, 2, 0), refusals.add(1, '2026-03-16', 4, 0)]).toEqual([
    0, 0, 0,
  ]);
  expect([refusals.take(1, DAY, 0), refusals.take(2, DAY, 0), refusals.take(1, '2026-03-16', 0)]).toEqual([1, 2, 4]);
});

test('if the request that was to store a count has ended without doing so, a later one stores it', () => {
  const refusals = new UnstoredRefusals();
  expect(refusals.add(1, DAY, 1, 0)).toBe(0);
  expect(refusals.add(1, DAY, 1, 9_999)).toBe(null);
  expect(refusals.add(1, DAY, 1, 10_000)).toBe(0);
  expect(refusals.take(1, DAY, 10_000)).toBe(3);
});

test('a count that nobody stored in time is forgotten when another business is refused, and keeps no later one', () => {
  const refusals = new UnstoredRefusals();
  for (const id of [1, 2]) refusals.add(id, DAY, 1, 0);
  refusals.take(2, DAY, 0);
  refusals.add(3, DAY, 1, 9_999);
  expect(refusals.take(1, DAY, 9_999)).toBe(1);
  refusals.add(1, DAY, 1, 9_999);
  refusals.add(3, DAY, 1, 60_000);
  expect(refusals.take(1, DAY, 60_000)).toBe(0);
});

test('an hour of refusals, one each 100 ms, is stored ten times a minute and is complete', () => {
  const refusals = new UnstoredRefusals();
  const due: number[] = [];
  let stored = 0;
  let writes = 0;
  for (let now = 0; now < 3_610_000; now += 100) {
    if (due[0] !== undefined && due[0] <= now) {
      due.shift();
      stored += refusals.take(1, DAY, now);
      writes += 1;
    }
    const wait = now < 3_600_000 ? refusals.add(1, DAY, 1, now) : null;
    if (wait !== null) due.push(now + wait);
  }
  expect(stored).toBe(36_000);
  expect(writes).toBeLessThanOrEqual(601);
});
