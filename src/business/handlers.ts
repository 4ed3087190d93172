// Lists, creates, changes and deletes businesses.
import { canonicalSites } from '../access/rules.ts';
import { databaseOfId } from '../core/database.ts';
import { dayOf, rangeOf } from '../core/time.ts';
import { findHome } from '../db/homes.ts';
import { parseJson } from '../db/json.ts';
import { originsRetainedFrom } from '../db/refused-origins.ts';
import { readVerdict } from '../db/statement.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { idOf } from '../http/input.ts';
import { DEFAULT_PER_PAGE, nextAfter, readPage } from '../http/pages.ts';
import { success } from '../http/response.ts';
import { serve } from '../serve.ts';
import { createBusiness } from './creation.ts';
import { deleteBusiness } from './deletion.ts';
import type { Businesses, DeletedBusiness } from './description.ts';
import { business as operations } from './operations.ts';
import { businessResponse, detailsResponse, listedBusiness } from './shown-business.ts';
import { businessesAfter, businessesOfUserAfter, businessInFull } from './statements.ts';
import { claimHomeIn, updateBusiness } from './update.ts';

/** Reads a user's businesses from their database. Returns none for an unknown user. */
async function businessesOf(
  c: ContextOf<Guarded>,
  user_id: number,
  page: { limit: number; after: number; from: string; since: string },
) {
  const home = await findHome(c.get('databases'), user_id);
  return (await c.get('databases').askIn(home ?? 0)(businessesOfUserAfter({ ...page, user_id }))).row;
}

export const business = serve(operations, {
  async listBusinesses(c) {
    const query = c.req.valid('query');
    const { now } = c.get('call');
    const today = dayOf(now);
    const limit = Number(query.limit ?? DEFAULT_PER_PAGE);
    const after = Number(query.after ?? 0);
    const page = { limit, after, from: rangeOf({}, today).from, since: originsRetainedFrom(now) };
    const row =
      query.user_id === undefined
        ? await readPage(c, after, businessesAfter(page))
        : await businessesOf(c, Number(query.user_id), page);
    const examined = parseJson(row.businesses);
    const readable = examined.filter(({ denied }) => denied === null);
    return success<Businesses>(c, {
      businesses: readable.map((business) => listedBusiness(business, row, today)),
      next: nextAfter(c, { after, limit, ids: examined.map(({ id }) => id), isInOne: query.user_id !== undefined }),
      read_only: row.role === 'read',
    });
  },

  async createBusiness(c) {
    const { sites, id, ...fields } = c.req.valid('json');
    const { business, entries } = await createBusiness(
      c.get('databases'),
      { ...fields, sites: canonicalSites(sites ?? []) },
      { idempotencyKey: idOf(c), id },
    );
    return businessResponse(c, { role: null }, parseJson(business), parseJson(entries));
  },

  async readBusiness(c) {
    const { row } = await c.get('ask')(businessInFull);
    return detailsResponse(c, row, parseJson(row.business), parseJson(row.former_tokens));
  },

  async updateBusiness(c) {
    const fields = c.req.valid('json');
    const { business_id } = c.get('call');
    if (fields.user_id !== undefined) {
      await c.get('ask')(readVerdict); // a request for an unknown business must not claim a home
      await claimHomeIn(c.get('databases'), fields.user_id, databaseOfId(business_id));
    }
    const row = await updateBusiness(c.get('ask'), fields);
    return detailsResponse(c, row, parseJson(row.business), parseJson(row.former_tokens));
  },

  async deleteBusiness(c) {
    const { name } = c.req.valid('query');
    await deleteBusiness(c.get('ask'), name);
    return success<DeletedBusiness>(c, { deleted: { id: c.get('call').business_id, name } });
  },
});
