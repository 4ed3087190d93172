// The service in a simulated world (docs/design.md, "The simulator"). `npm run sim` plays worlds with new seeds, and prints a failure as a
// test for this file.
import { expect, test } from 'vitest';
import { play } from './play.ts';

test('a seed repeats a world exactly', { tags: 'slow' }, async () => {
  const [first, second] = [await play(7, 200), await play(7, 200)];
  expect(second).toEqual(first);
});
