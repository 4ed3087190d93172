// Lists, creates, changes and deletes businesses.

import { databaseOfId } from '../core/database.ts';
import { DEFAULT_PER_PAGE } from '../core/request.ts';
import { addDays, dayOf } from '../core/time.ts';
import { parseJson } from '../db/json.ts';
import { idOf } from '../http/input.ts';
import { nextAfter, pageAfter, readPage } from '../http/paging.ts';
import { success } from '../http/response.ts';
import { originsRetainedFrom } from '../origins/seen-origins.ts';
import { serve } from '../serve.ts';
import { canonicalSites } from '../sites/rules.ts';
import { createBusiness } from './creation.ts';
import { deleteBusiness } from './deletion.ts';
import type { Businesses, DeletedBusiness, Extra } from './description.ts';
import { addExtra } from './extra.ts';
import { operations } from './operations.ts';
import { LISTED_DAYS } from './rules.ts';
import { businessResponse, detailsResponse, listedBusiness } from './shown-business.ts';
import { businessesAfter, businessesOfUserAfter, businessInFull } from './statements.ts';
import { claimHomeIn, requirePossibleUpdate, updateBusiness } from './update.ts';

export const routes = serve(operations, {
  async listBusinesses(c) {
    const { now } = c.get('call');
    const today = dayOf(now);
    const page = pageAfter(c.req.valid('query'), DEFAULT_PER_PAGE);
    const { limit, after } = page;
    const values = { limit, after, from: addDays(today, 1 - LISTED_DAYS), since: originsRetainedFrom(now) };
    const row = await readPage(c, page, businessesAfter(values), (user_id) =>
      businessesOfUserAfter({ ...values, user_id }),
    );
    const { found, businesses: examined } = parseJson(row.list);
    const readable = examined.filter(({ denied }) => denied === null);
    return success<Businesses>(c, {
      businesses: readable.map((business) => listedBusiness(business, row, today)),
      next: nextAfter(
        c,
        page,
        examined.map(({ id }) => id),
        found,
      ),
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
    const { limits_from, ...others } = c.req.valid('json');
    const { business_id, now } = c.get('call');
    const isAtOnce = limits_from === undefined || limits_from === dayOf(now);
    const fields = isAtOnce ? others : { ...others, limits_from };
    if (fields.user_id !== undefined) {
      await requirePossibleUpdate(c.get('ask'), fields); // a refused request must not claim a home
      await claimHomeIn(c.get('databases'), fields.user_id, databaseOfId(business_id));
    }
    const row = await updateBusiness(c.get('ask'), fields);
    return detailsResponse(c, row, parseJson(row.business), parseJson(row.former_tokens));
  },

  async addExtra(c) {
    return success<Extra>(c, await addExtra(c.get('ask'), c.req.valid('json'), idOf(c) ?? ''));
  },

  async deleteBusiness(c) {
    const { name } = c.req.valid('query');
    await deleteBusiness(c.get('ask'), name);
    return success<DeletedBusiness>(c, { deleted: { id: c.get('call').business_id, name } });
  },
});
