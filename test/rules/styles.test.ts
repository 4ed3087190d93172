// The pages use a fixed scale of sizes, weights and distances, and each view's style sheet styles only that view.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const PAGE = resolve(import.meta.dirname, '../../src/page');
const OWNER = join(PAGE, 'owner');
/** The style sheets that all views share. */
const SHARED = ['console.css', 'parts.css'];
const read = (path: string) => readFileSync(path, 'utf8').replace(/\/\*.*?\*\//gs, '');
const sheets = [
  ...['base.css', 'page.css'].map((name) => [name, join(PAGE, name)] as const),
  ...readdirSync(OWNER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.css'))
    .map((path) => [basename(path), join(OWNER, path)] as const),
];

/** Returns the values of the matching properties, except custom properties. */
const valuesOf = (style: string, property: string) =>
  [...style.matchAll(new RegExp(`(?<![\\w-])(?:${property}):([^;{}]+);`, 'g'))].map(([, value = '']) => value.trim());

describe.each(sheets)('%s', (_, path) => {
  const style = read(path);

  test('uses only the six sizes, the three weights and the distances of the scale', () => {
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
});

function outerSelectors(style: string): string[] {
  const found: string[] = [];
  const open: string[] = [];
  let text = '';
  for (const character of style) {
    if (character === '{') {
      const head = text.trim();
      if (!head.startsWith('@') && open.every((outer) => outer.startsWith('@media'))) found.push(head);
      open.push(head);
      text = '';
    } else if (character === '}') {
      open.pop();
      text = '';
    } else text = character === ';' ? '' : text + character;
  }
  return found;
}

/** The root selectors of the style sheets whose file name differs from the class of their view. */
const ROOTS: Record<string, string[]> = {
  'confirm.css': ['dialog'],
  'domains.css': ['.domains-view'],
  'token.css': ['.token', '.endings'],
};

test.each(sheets.filter(([name, path]) => path.startsWith(OWNER) && !SHARED.includes(name)))(
  '%s styles nothing outside its view',
  (name, path) => {
    const roots = outerSelectors(read(path)).flatMap((selector) =>
      selector.split(',').map((one) => /^\.?[\w-]+/.exec(one.trim())?.[0]),
    );
    expect([...new Set(roots)]).toEqual(ROOTS[name] ?? [`.${name.replace('.css', '')}`]);
  },
);
