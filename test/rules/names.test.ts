// One idea, one word, in code, tables, the API and documents (docs/design.md, "Glossary").
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The console calls sites domains, as owners and the specification do. */
const mayContain = (word: string, file: string) => word === 'site' && file.startsWith('src/page/');

/** Each idea's word, and second words for it. */
const WORDS: [word: string, others: RegExp][] = [
  [
    'site',
    /\b(access|registered|authorized) (domain|entr(y|ies))|\b(access|site)_?entr(y|ies)\b|\bentry_id\b|\bentryColumns\b/i,
  ],
  ['alert', /\balert[ _]?events?\b/i],
  ['limit', /\bquotas?\b/i],
  ['use', /\bhits?\b|\bpage ?views?\b/i],
  ['change', /\baudit/i],
  ['API key', /\b(access|customer) keys?\b/i],
  ['console link', /\bmagic links?\b/i],
  ['refused origin', /\b(rejected|blocked|unknown) origins?\b/i],
];

const files = globSync(['src/**/*.{ts,tsx}', 'migrations/*.sql', 'docs/*.md', 'README.md']).map((name) =>
  name.replaceAll('\\', '/'),
);

test.each(WORDS)('%s has no second word', (word, others) => {
  const found = files
    .filter((name) => !mayContain(word, name))
    .flatMap((name) =>
      readFileSync(name, 'utf8')
        .split('\n')
        .map((line) => `${name}: ${line}`),
    )
    .filter((line) => others.test(line));
  expect(found).toEqual([]);
});

test('no folder has the name of a second word', () => {
  expect(files.filter((name) => /\/(access|domains|entries|events)\//.test(name))).toEqual([]);
});
