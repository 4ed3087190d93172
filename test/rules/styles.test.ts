// The pages use a fixed scale of sizes, weights and distances.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const PAGE = resolve(import.meta.dirname, '../../src/page');
const OWNER = join(PAGE, 'owner');
const sheets = [
  ...['base.css', 'page.css'].map((name) => [name, join(PAGE, name)] as const),
  ...readdirSync(OWNER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.css'))
    .map((path) => [basename(path), join(OWNER, path)] as const),
];

/** Returns the values of the matching properties, except custom properties. */
const valuesOf = (style: string, property: string) =>
  [...style.matchAll(new RegExp(`(?<![\\w-])(?:${property}):([^;{}]+);`, 'g'))].map(([, value = '']) => value.trim());

test.each(sheets)('%s uses only the six sizes, the three weights and the distances of the scale', (_, path) => {
  const style = readFileSync(path, 'utf8').replace(/\/\*.*?\*\//gs, '');
  const sizes = valuesOf(style, 'font-size').filter((value) => !/^(var\(--size-[1-6]\)|inherit)$/.test(value));
  const weights = valuesOf(style, 'font-weight').filter(
    (value) => !/^(var\(--weight-(normal|medium|bold)\)|inherit)$/.test(value),
  );
  const distances = valuesOf(style, '(?:margin|padding)(?:-[a-z]+)*|(?:row-|column-)?gap').filter((value) => {
    const parts = value.replace(/(calc|min|max)\(([^()]|var\([^()]*\))*\)|var\(--space-[1-7]\)/g, '0');
    return !parts.split(' ').every((part) => /^(0|auto|1px|\d+d?vh)$/.test(part));
  });
  expect({ sizes, weights, distances }).toEqual({ sizes: [], weights: [], distances: [] });
});
