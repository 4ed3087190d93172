// Lists, creates, changes and deletes businesses.

import { databaseOfId } from '../core/database.ts';
import { DEFAULT_PER_PAGE } from '../core/request.ts';
import { addDays, dayOf, fillRange } from '../core/time.ts';
import { parseJson } from '../db/json.ts';
import type { Verdict } from '../db/permission.ts';
import { idOf, requiredIdOf } from '../http/input.ts';
import { nextAfter, pageAfter, readPage } from '../http/paging.ts';
import { success } from '../http/response.ts';
import { originsRetainedFrom } from '../origins/seen-origins.ts';
import { serve } from '../serve.ts';
import { businessResponse, detailsResponse, shownLimits, shownToken } from '../shown-business/responses.ts';
import { businessInFull } from '../shown-business/statements.ts';
import { canonicalSites } from '../sites/rules.ts';
import { createBusiness } from './creation.ts';
import { deleteBusiness } from './deletion.ts';
import type { Businesses, DeletedBusiness, Extra, ListedBusiness } from './description.ts';
import { addExtra } from './extra.ts';
import { businessesAfter, businessesOfUserAfter, type ExaminedBusiness } from './list.ts';
import { operations } from './operations.ts';
import { LISTED_DAYS } from './rules.ts';
import { claimHomeIn, requirePossibleUpdate, updateBusiness } from './update.ts';

/** Formats a business for a list, with its uses in the last days. */
function listedBusiness(
  { business, counts, refused_origins, refused_by_limit, ...limits }: ExaminedBusiness,
  verdict: Verdict,
  today: string,
): ListedBusiness {
  const { month_starts_on, month_ends_on } = limits;
  const inMonth = Object.entries(counts).filter(([day]) => month_starts_on <= day && day <= month_ends_on);
  const month = inMonth.reduce((sum, [, count]) => sum + count, 0);
  return {
    ...business,
    token: shownToken(business.token, verdict),
    used: fillRange({ from: addDays(today, 1 - LISTED_DAYS), to: today }, counts),
    limits: shownLimits({ ...limits, today: counts[today] ?? 0, month }, today),
    refused_origins,
    refused_by_limit,
  };
}

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
    const { business, sites: stored } = await createBusiness(
      c.get('databases'),
      { ...fields, sites: canonicalSites(sites ?? []) },
      { idempotencyKey: idOf(c), id },
    );
    return businessResponse(c, { role: 'full' }, parseJson(business), parseJson(stored));
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
    return success<Extra>(c, await addExtra(c.get('ask'), c.req.valid('json'), requiredIdOf(c)));
  },

  async deleteBusiness(c) {
    const { name } = c.req.valid('query');
    await deleteBusiness(c.get('ask'), name);
    return success<DeletedBusiness>(c, { deleted: { id: c.get('call').business_id, name } });
  },
});
