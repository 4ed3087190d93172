// Lists who changed what.

import { DEFAULT_PER_PAGE } from '../core/request.ts';
import { type Json, parseJson } from '../db/json.ts';
import { success } from '../http/response.ts';
import { askForUser } from '../http/user.ts';
import { serve } from '../serve.ts';
import type { Changes } from './description.ts';
import { operations } from './operations.ts';
import { changesOfBusiness, changesOfUser } from './statements.ts';

/** Returns which rows to read for a newest-first page. One extra row shows whether there are more. */
const pageBefore = (query: { limit?: string | undefined; before?: string | number | undefined }) => ({
  limit: Number(query.limit ?? DEFAULT_PER_PAGE) + 1,
  before: Number(query.before ?? Number.MAX_SAFE_INTEGER),
});

/** Drops the extra entry. The next page starts after the last entry, or at `next`, where the search stopped. */
function shownChanges(row: { list: Json<Changes & { found: number }> }, { limit }: { limit: number }): Changes {
  const { found, changes: entries, next } = parseJson(row.list);
  const changes = entries.slice(0, limit - 1);
  return { changes, next: found > changes.length ? (changes.at(-1)?.id ?? null) : next };
}

export const routes = serve(operations, {
  async readChanges(c) {
    const { limit, before, ...filter } = c.req.valid('query');
    const page = pageBefore({ limit, before });
    const { row } = await c.get('ask')(changesOfBusiness(page, filter));
    return success<Changes>(c, shownChanges(row, page));
  },

  async readUserChanges(c) {
    const { ask } = await askForUser(c);
    const page = pageBefore(c.req.valid('query'));
    const { row } = await ask(changesOfUser(page));
    return success<Changes>(c, shownChanges(row, page));
  },
});
