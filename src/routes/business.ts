// /api/v1/business: the businesses of a key, one of them, its token, and who changed what.
import * as z from 'zod/mini';
import { newCredential } from '../core/credential.ts';
import { databaseOfId } from '../core/database.ts';
import { durationOf } from '../core/duration.ts';
import { remainingOf, type Standing } from '../core/limits.ts';
import { dayOf, fillRange, monthOf, rangeOf, timestampOf } from '../core/time.ts';
import { businessesAfter, businessInFull, businessWithEntries, type ExaminedBusiness } from '../db/business.ts';
import { changesBefore } from '../db/changes.ts';
import { type Json, parseJson } from '../db/json.ts';
import type { Verdict } from '../db/permission.ts';
import type { BusinessRow, Entry } from '../db/schema.ts';
import { rotateToken, stopFormerTokens } from '../db/tokens.ts';
import type { ContextOf, Env } from '../env.ts';
import { guard } from '../guard.ts';
import { nextAfter } from '../http/pages.ts';
import { success } from '../http/response.ts';
import { newRoutes, refuseOtherMethods } from '../http/router.ts';
import { businessesQuery, changesQuery, rotationBody } from '../wire/requests.ts';
import type { Business, BusinessDetails, Businesses, Changes, Limits, ListedBusiness } from '../wire/responses.ts';

/** The token as it is shown to a key that can only read: with all of it, one could record uses. */
const shownToken = (token: string, { read_only }: Pick<Verdict, 'read_only'>): string =>
  read_only ? `bua_pk_…${token.slice(-4)}` : token;

/** A business with its entries by id. */
const shownBusiness = (verdict: Verdict, business: BusinessRow, entries: Entry[]): Business => ({
  ...business,
  token: shownToken(business.token, verdict),
  access_list: entries.sort((a, b) => a.id - b.id),
});

/** The response that shows a business, with its entries. */
export const businessResponse = (c: ContextOf<Env>, verdict: Verdict, business: BusinessRow, entries: Entry[]) =>
  success<Business>(c, shownBusiness(verdict, business, entries));

/** The limits of a business, and what is left of them. */
function shownLimits(standing: Standing): Limits {
  const remaining = remainingOf(standing);
  return remaining === null ? null : { daily: standing.daily_limit, monthly: standing.monthly_limit, remaining };
}

/** The response that shows all of a business, with the former tokens that it has now. */
const detailsResponse = (
  c: ContextOf<Env>,
  row: RowOfBusiness,
  business: BusinessRow,
  former_tokens: BusinessDetails['former_tokens'],
) =>
  success<BusinessDetails>(c, {
    ...shownBusiness(row, business, parseJson(row.entries)),
    limits: shownLimits(row),
    former_tokens,
  });
type RowOfBusiness = Verdict & Standing & { entries: Json<Entry[]> };

const PER_PAGE = 20;

/** A business as it is listed, with its uses of the last 30 days and what is left of its limits. */
function listedBusiness(
  { business, counts, ...limits }: ExaminedBusiness,
  verdict: Verdict,
  today: string,
): ListedBusiness {
  const { first_of_month } = monthOf(today);
  const inMonth = Object.entries(counts).filter(([day]) => day >= first_of_month);
  const month = inMonth.reduce((sum, [, count]) => sum + count, 0);
  return {
    ...business,
    token: shownToken(business.token, verdict),
    used: fillRange(rangeOf({}, today), counts),
    limits: shownLimits({ ...limits, today: counts[today] ?? 0, month }),
  };
}

export const business = newRoutes()
  .get('/', guard('list_businesses', { query: businessesQuery }), async (c) => {
    const query = c.req.valid('query');
    const today = dayOf(c.get('call').now);
    const limit = Number(query.limit ?? PER_PAGE);
    const [month, range] = [monthOf(today).first_of_month, rangeOf({}, today).from];
    const from = month < range ? month : range;
    const after = Number(query.after ?? 0);
    const { row } = await c.get('ask')(businessesAfter({ limit, after, from }));
    const examined = parseJson(row.businesses);
    const readable = examined.filter(({ denied }) => denied === null);
    return success<Businesses>(c, {
      businesses: readable.map((business) => listedBusiness(business, row, today)),
      next: nextAfter(c, { after, limit, ids: examined.map(({ id }) => id) }),
      read_only: row.read_only === 1,
    });
  })
  .get('/:business_id', guard('read_business'), async (c) => {
    const { row } = await c.get('ask')(businessInFull);
    return detailsResponse(c, row, parseJson(row.business), parseJson(row.former_tokens));
  })
  .post('/:business_id/token', guard('rotate_token', { body: z.optional(rotationBody) }), async (c) => {
    const { keep_old } = c.req.valid('json');
    const { business_id, now } = c.get('call');
    const keepUntil = keep_old && timestampOf(new Date(now.getTime() + (durationOf(keep_old) ?? 0)));
    const token = newCredential('bua_pk_', databaseOfId(business_id));
    const { row, decided } = await c.get('ask')(businessWithEntries, rotateToken(token, keepUntil ?? null));
    const [business] = decided;
    if (business === undefined) throw new Error('a permitted rotation changed nothing');
    return businessResponse(c, row, { ...business, token }, parseJson(row.entries));
  })
  .delete('/:business_id/token/former', guard('stop_former_tokens'), async (c) => {
    const { row, decided } = await c.get('ask')(businessInFull, stopFormerTokens());
    return detailsResponse(c, row, decided[0] ?? parseJson(row.business), []);
  })
  .get('/:business_id/changes', guard('read_changes', { query: changesQuery }), async (c) => {
    const query = c.req.valid('query');
    const limit = Number(query.limit ?? PER_PAGE);
    const before = Number(query.before ?? Number.MAX_SAFE_INTEGER);
    const { row } = await c.get('ask')(changesBefore({ limit: limit + 1, before }));
    const { found, changes } = parseJson(row.list);
    const page = changes.slice(0, limit);
    return success<Changes>(c, { changes: page, next: found > page.length ? (page.at(-1)?.id ?? null) : null });
  });

refuseOtherMethods(business);
