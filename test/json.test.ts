// The look at a JSON text before it is parsed.
import { describe, expect, test } from 'vitest';
import { partsIn } from '../src/core/json.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const list = (parts: number, part: string) => `[${Array(parts).fill(part)}]`;

describe('a JSON text is small', () => {
  test.each([
    ['at 32 levels', nested(32)],
    ['with many lists side by side', list(19_999, '[]')],
    ['with many objects and members', list(9_999, '{"a":0}')],
    ['with a million numbers', list(500_000, '1')],
    ['with brackets and colons in strings', JSON.stringify(['[{:'.repeat(100_000), '"[{:\\', '\\'])],
    ['with what only looks like the end of a string', JSON.stringify([`\\"${'['.repeat(40)}`, `"${'{'.repeat(40)}`])],
    ['with nothing', ''],
  ])('%s', (_, text) => {
    expect(partsIn(text)).not.toBeNull();
  });

  test.each([
    ['at 33 levels', nested(33)],
    ['at 33 levels of both kinds', `${'[{"a":'.repeat(17)}`],
    ['with 20,001 lists', list(20_000, '[]')],
    ['with 20,001 objects and members', list(10_000, '{"a":0}')],
    ['behind a string that ends in a backslash', `["\\\\",${nested(33)}]`],
    ['that is no JSON, and of brackets alone', '['.repeat(1_000_000)],
  ])('not %s', (_, text) => {
    expect(partsIn(text)).toBeNull();
  });
});
