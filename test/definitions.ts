// What tests of all statements say about a statement: the place of its definition, and the table that it writes.
import type { DEFINITIONS } from '../src/db/statement.ts';

export type Definition = (typeof DEFINITIONS)[number];

/** The file and line of a definition. The steps of a change have those of the change. */
export function placeOf({ place }: Definition): string {
  const line = place.stack?.split('\n').find((frame) => /src\/(?!db\/(statement|change)\.)/.test(frame)) ?? '';
  return /src\/[\w./-]+:\d+/.exec(line)?.[0] ?? '';
}

/** The table that a statement writes. Null if it only reads. */
export const writtenBy = (sql: string): string | null =>
  /^(?:insert into|update|delete from) (\w+)/.exec(sql)?.[1] ?? null;
