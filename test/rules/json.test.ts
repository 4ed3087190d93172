// The checks that run before a JSON text is parsed.
import { describe, expect, test } from 'vitest';
import { countEntries, parseBoundedJson } from '../../src/core/json.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const list = (length: number, element: string) => `[${Array(length).fill(element)}]`;

describe('a JSON text', () => {
  test.each([
    ['with 32 levels', nested(32), 32],
    ['with 10,000 numbers', list(10_000, '1'), 10_000],
    ['with 5,000 one-member objects', list(5_000, '{"a":0}'), 10_000],
    ['with 10,000 members', `{${Array.from({ length: 10_000 }, (_, index) => `"${index}":0`)}}`, 10_000],
    ['with the largest list of uses', `{"uses":${list(1000, '{"id":"a","at":"b","quantity":1}')}}`, 4001],
    ['with five years of days', `{"days":${list(1830, '{"date":"2026-03-01","count":1}')},"replace":true}`, 5492],
    ['with brackets and commas in strings', JSON.stringify(['[{,'.repeat(100_000), '"[{,\\', '\\']), 3],
    ['with escaped quotes in strings', JSON.stringify([`\\"${'['.repeat(40)}`, `"${'{'.repeat(40)}`]), 2],
    ['that is a number', '1', 0],
  ])('%s is accepted', (_, text, entries) => {
    expect(countEntries(text)).toBe(entries);
    expect(parseBoundedJson(text)).toEqual({ value: JSON.parse(text) });
  });

  test.each([
    ['with 33 levels', nested(33)],
    ['with 34 levels of lists and objects', `${'[{"a":'.repeat(17)}`],
    ['with 10,001 numbers', list(10_001, '1')],
    ['with 5,001 one-member objects', list(5_001, '{"a":0}')],
    ['with 33 levels after a string that ends with a backslash', `["\\\\",${nested(33)}]`],
    ['of brackets only, which is not valid JSON,', '['.repeat(1_000_000)],
    ['of commas only, which is not valid JSON,', ','.repeat(1_000_000)],
  ])('%s is rejected as too large', (_, text) => {
    expect(countEntries(text)).toBeNull();
    expect(parseBoundedJson(text)).toEqual({ problem: 'too_large' });
  });
});

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"b":{},"a":2}',
  '[{"a":{"b":[1,2],"b":[]}}]',
  '{"a":[1,2,3],"a":[1,2,3]}',
  '{"__proto__":1,"__proto__":2}',
  '{"a":{},"\\u0061":{}}',
])('a JSON text with a duplicate member is rejected: %s', (text) => {
  expect(parseBoundedJson(text)).toEqual({ problem: 'repeated' });
});
