// src/suffix-parents.ts is generated from the list of public suffixes in tldts. Run npm run generate after an update of tldts.
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { SHARED_HOSTS } from '../../src/core/shared-hosts.ts';
import { missingPart } from '../../src/page/owner/sites/address.ts';
import { isShared } from '../../src/public-suffix.ts';

type Trie = typeof import('tldts/dist/types/src/data/trie.d.ts');
const trie: Trie = createRequire(import.meta.url)('tldts/dist/cjs/src/data/trie.js');

/**
 * Returns the names that have a public suffix below them but are not public suffixes themselves. The subdomains of such a name belong to
 * different owners.
 */
function parents(): string[] {
  const { nodeFlags, edgeStart, edgeLength, edgeChild, labelText, rulesRoot } = trie;
  let end = 0;
  const labels = Array.from(edgeLength, (length) => {
    end += length;
    return labelText.slice(end - length, end);
  });
  const found = new Set<string>();
  /** Returns whether this node of the tree, or any node below it, is a public suffix. */
  function walk(node: number, name: string[]): boolean {
    let isParent = false;
    for (let edge = edgeStart[node] ?? 0; edge < (edgeStart[node + 1] ?? 0); edge++) {
      isParent = walk(edgeChild[edge] ?? 0, [labels[edge] ?? '', ...name]) || isParent;
    }
    const isSuffix = nodeFlags[node] !== 0;
    if (isParent && !isSuffix && name.length >= 2) found.add(new URL(`https://${name.join('.')}`).hostname); // a wildcard needs two labels
    return isParent || isSuffix;
  }
  walk(rulesRoot, []);
  return [...found].sort();
}

test('the console and the service both refuse a wildcard over every shared host, and the domains above it', async () => {
  const hosts = SHARED_HOSTS.map((name) => name.replace('*', 'any'));
  const above = hosts.map((host) => host.slice(host.indexOf('.') + 1)).filter((host) => host.includes('.'));
  for (const host of [...hosts, ...above]) {
    expect([host, missingPart(host), await isShared(host)]).toEqual([host, 'name', true]);
  }
  for (const host of hosts) expect([host, missingPart(`mine.${host}`)]).toEqual([host, null]);
});

test.each([
  ...['co.uk', 'com.au', 'gob.mx', 'or.jp', 'me.uk', 'id.au', 'web.za'].map((host) => [host, true] as const),
  ...['web.de', 'id.me', 'go.com', 'me.de', 'or.de'].map((host) => [host, false] as const),
])('the console and the service agree whether %s is shared by many owners: %s', async (host, shared) => {
  expect([missingPart(host), await isShared(host)]).toEqual([shared ? 'name' : null, shared]);
});

test('src/suffix-parents.ts lists every name that has public suffixes below it', async () => {
  const names = parents();
  expect(names).toContain('amazonaws.com');
  expect(names.filter((name) => name.includes('*'))).toEqual([]);
  const groups = Map.groupBy(names, (name) => name.slice(name.indexOf('.')));
  const lines = [...groups].map(([end, all]) => [end, ...all.map((name) => name.slice(0, -end.length))].join(' '));
  const text = `// Names with public suffixes below them. npm run generate writes this file from the list in tldts.

/** Each line contains a suffix, followed by the labels that can precede it. */
const NAMES = \`${lines.sort().join('\n')}\`;

export const SUFFIX_PARENTS: ReadonlySet<string> = new Set(
  NAMES.split('\\n').flatMap((line) => {
    const [end, ...beginnings] = line.split(' ');
    return beginnings.map((beginning) => beginning + end);
  }),
);
`;
  await expect(text).toMatchFileSnapshot('../../src/suffix-parents.ts');
});
