// Exports the data stored about a user (docs/operating.md, "Personal data"), page by page. One batch reads the sections of a page.
import { and, eq, sql } from 'drizzle-orm';
import type { BoundDatabases } from '../db/batch.ts';
import { boundHome, findHome, homeField } from '../db/homes.ts';
import { isPermitted } from '../db/permission.ts';
import { importedTokens } from '../db/schema.ts';
import { readVerdict, statement, withVerdict } from '../db/statement.ts';
import { type PagePosition, SECTION_NAMES } from './export-cursor.ts';
import { SECTIONS } from './export-sections.ts';

const readUser = statement(['user_id'], (permission, $) => {
  const isOwn = and(isPermitted(permission), eq(importedTokens.user_id, $.user_id));
  const tokens = sql<number>`(select count(*) from ${importedTokens} where ${isOwn})`;
  return withVerdict(permission, {
    home: homeField(permission, $),
    imported_tokens: tokens.as('imported_tokens'),
  });
});

/** Reads the user's own line, and the number of the user's database, from DB. */
async function userOf(databases: BoundDatabases, user_id: number) {
  const { row } = await databases.askIn(0)(readUser({ user_id }));
  const home = boundHome(databases, row.home);
  const line = { type: 'user', user_id, ...home, imported_tokens: row.imported_tokens };
  return { database: home.database, lines: [line] as object[] };
}

/**
 * Reads a page of a user's lines: as many sections as fit, or only one if the page starts within a section. `next` is the position of the
 * next page, or null after the last page. An unknown user's export is one line, in which `database` is null.
 */
export async function exportPage(
  databases: BoundDatabases,
  user_id: number,
  from: PagePosition | null,
): Promise<{ lines: object[]; next: PagePosition | null }> {
  const { database, lines } =
    from === null
      ? await userOf(databases, user_id)
      : { database: await findHome(databases, user_id), lines: [] as object[] };
  const { section: first, after } = from ?? FIRST;
  const rest = SECTION_NAMES.slice(SECTION_NAMES.indexOf(first));
  const names = after === null ? rest : rest.slice(0, 1);
  const reads = Object.fromEntries(names.map((name) => [name, SECTIONS[name].read(user_id, after)]));
  const found = await databases.askIn(database ?? 0)(readVerdict, reads);
  for (const name of names) {
    const page = SECTIONS[name].page(found[name] ?? []);
    lines.push(...page.lines);
    if (page.last !== null) return { lines, next: { section: name, after: page.last } };
  }
  const following = rest[names.length];
  return { lines, next: following === undefined ? null : { section: following, after: null } };
}
const FIRST: PagePosition = { section: 'businesses', after: null };
