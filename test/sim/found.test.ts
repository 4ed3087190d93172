// The service in a simulated world (docs/design.md, "The simulator"). `npm run sim` plays worlds with new seeds, and prints a failure as a
// test for this file.
import { expect, test } from 'vitest';
import { play } from './play.ts';

// `.ci/run` also plays new seeds for a minute.
test('the service does what the model says, in a short world', async () => {
  expect((await play(5, { steps: 500, settles: false })).failure).toBeNull();
});
test.each([1, 2, 3, 5001])('the service does what the model says, in the world of seed %i', async (seed) => {
  expect((await play(seed, { steps: 2000 })).failure).toBeNull();
});

test('a seed repeats a world exactly', async () => {
  const [first, second] = [await play(7, { steps: 200 }), await play(7, { steps: 200 })];
  expect(second).toEqual(first);
});
