// Stores the day on which an API key or a former token was last used, and the pages that used the token.
import { and, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { MAX_USED_FROM } from '../core/credential.ts';
import { apiKeys, formerTokens } from './schema.ts';

/** What is stored of a former token's use: the day of its last permitted call, and of those of its pages, by origin. */
export type FormerUse = { last_used_on: string | null; used_from: Record<string, string> | null };

/** Returns whether a call with a former token must be stored. `origin` is null unless it can be registered. */
export function isNewUse({ last_used_on, used_from }: FormerUse, day: string, origin: string | null): boolean {
  const pages = used_from ?? {}; // the latest first
  const isFull = Object.values(pages)[MAX_USED_FROM - 1] === day;
  return last_used_on !== day || (origin !== null && pages[origin] !== day && !isFull);
}

// Many calls can find the same use new, of which one writes. Around midnight, they can store different days, of which the later one stays.

const isEarlier = (last_used_on: SQLiteColumn, day: string) => sql`coalesce(${last_used_on}, '') < ${day}`;

export async function markKey(d1: D1Database, id: number, day: string): Promise<void> {
  await drizzle(d1)
    .update(apiKeys)
    .set({ last_used_on: day })
    .where(and(eq(apiKeys.id, id), isEarlier(apiKeys.last_used_on, day)));
}

export async function markFormerToken(d1: D1Database, token: string, day: string, origin: string | null) {
  const { last_used_on, used_from } = formerTokens;
  const pages = sql`(select json_group_object(origin, day) from (
    select key as origin, max(value) as day from (
      select key, value from json_each(coalesce(${used_from}, '{}')) union all select ${origin}, ${day} where ${origin} is not null
    ) group by key order by day desc, key limit ${sql.raw(`${MAX_USED_FROM}`)}))`;
  await drizzle(d1)
    .update(formerTokens)
    .set({ last_used_on: sql`max(coalesce(${last_used_on}, ''), ${day})`, used_from: pages })
    .where(and(eq(formerTokens.token, token), sql`(${isEarlier(last_used_on, day)} or ${pages} is not ${used_from})`));
}
