// Keeps the SQL that D1 runs in readable files. test/sql contains the statements of four calls, with the widest of their permissions.
// npm run generate rewrites the files after an intended change.
import { format } from 'sql-formatter';
import { expect, test } from 'vitest';
import type { Steps } from '../../src/db/statement.ts';
import { businessWithSites } from '../../src/shown-business/statements.ts';
import { addSites } from '../../src/sites/statements.ts';
import { rotateToken } from '../../src/tokens/statements.ts';
import { countOnce, readKnownUse } from '../../src/usage/recording.ts';
import { usageInRange } from '../../src/usage/reports.ts';
import { ruleNamed } from '../ask.ts';

const digest = '00'.repeat(16);
const token = `bua_pk_0${'a'.repeat(33)}`;
const page = { caller: 'token', namesBusiness: true, namesUser: false, origin: 'sent', candidates: 2 } as const;
const server = { caller: 'key', namesBusiness: true, namesUser: false, origin: 'exempt', candidates: 0 } as const;

test.each([
  ['report', { ...page, rule: ruleNamed('read_usage') }, { read: usageInRange({ from: '2026-03-01', to: '2026-03-31' }) }],
  ['use-with-id', { ...page, rule: ruleNamed('record_use') }, { read: readKnownUse({ digest }), ...countOnce({ digest, quantity: 1, label: null }) }],
  ['add-sites', { ...server, rule: ruleNamed('change_access') }, { read: businessWithSites, ...addSites(['https://shop.example'], true) }],
  ['rotate-token', { ...server, rule: ruleNamed('rotate_token') }, rotateToken({ token, keep_until: '2026-03-16T12:00:00.000000Z' })],
] as const)('test/sql/%s.sql is current', async (name, form, steps: Steps) => {
  const statements = Object.entries(steps).map(([step, { textFor }]) => {
    const { sql, names } = textFor(form);
    expect(sql).not.toContain('--'); // D1 receives no comments
    const numbers = new Set(sql.match(/\?\d*/g));
    expect([...numbers].sort()).toEqual(names.map((_, index) => `?${index + 1}`).sort());
    return { step, sql: sql.replace(/\?(\d+)/g, (_, number) => `:${names[number - 1]}`) };
  });
  const permissions = statements.flatMap(({ sql }) => sql.match(PERMISSIONS) ?? []);
  const [widest = ''] = permissions.toSorted((a, b) => b.length - a.length);
  const texts = [
    ...statements.map(({ step, sql }) => textOf(step, sql.replaceAll(PERMISSIONS, 'permission'))),
    textOf('permission: a statement selects only the columns that it reads', widest.slice(1, -') permission'.length)),
  ];
  const caller = form.caller === 'token' ? 'a page, with a token' : 'a server, with an API key';
  const title = `-- From ${caller}. D1 receives a number for each :name, and a subquery for permission.\n`;
  await expect([title, ...texts].join('\n')).toMatchFileSnapshot(`../sql/${name}.sql`);
}); // biome-ignore format: one row per line

const PERMISSIONS = /\(select coalesce\(case\b(?:(?!select coalesce\(case\b).)*?limit 1\) permission/gs;
const textOf = (name: string, sql: string) =>
  `-- ${name}\n${joined(`${format(sql, { language: 'sqlite', expressionWidth: 100 })};\n`)}`;

/** Patterns for blocks that consist of one line: in parentheses, between `case` and `end`, or after a keyword. */
const BLOCKS = [
  /^( *)(.*\()\n\1 {2}(.*)\n\1(?=\))/gm,
  /^( *)(.*\bcase)\n\1 {2}(.*)\n\1(?=end\b)/gm,
  /^( *)([a-z][^\n(]*(?<!\bcase))\n\1 {2}(.*)(?=\n(?!\1 {2}))/gm,
];
/**
 * Joins each one-line block with the line before it if the result fits in 100 characters, because sql-formatter puts every block on a
 * separate line.
 */
function joined(sql: string): string {
  const next = BLOCKS.reduce(
    (text, block) =>
      text.replace(block, (whole, indent: string, opening: string, content: string) => {
        const [before, after] = [opening.endsWith('(') ? '' : ' ', opening.endsWith('case') ? ' ' : ''];
        const line = `${indent}${opening}${before}${content}${after}`;
        return line.length <= 100 ? line : whole;
      }),
    sql,
  );
  return next === sql ? sql : joined(next);
}
