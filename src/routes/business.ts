// /api/v1/business: the businesses of a key, the token of one, and who changed what.
import { zValidator } from '@hono/zod-validator';
import { type Context, Hono } from 'hono';
import * as z from 'zod/mini';
import { newCredential } from '../core/credential.ts';
import { databaseOfId } from '../core/database.ts';
import { DURATION_RULE, durationOf } from '../core/duration.ts';
import { type Limits, remainingOf } from '../core/limits.ts';
import type { Refusal } from '../core/policy.ts';
import { dayOf, fillRange, monthOf, rangeOf, timestampOf } from '../core/time.ts';
import { businessesAfter, businessWithEntries } from '../db/business.ts';
import { changesBefore } from '../db/changes.ts';
import type { Verdict } from '../db/permission.ts';
import type { Business, Entry } from '../db/schema.ts';
import { rotateToken } from '../db/tokens.ts';
import type { Env } from '../env.ts';
import { guard } from '../guard.ts';
import { wholeBody } from '../http/body.ts';
import { methodNotAllowed } from '../http/errors.ts';
import { jsonInput, noQuery, pageQuery, refuseInvalidQuery } from '../http/input.ts';
import { success } from '../http/response.ts';
import type { Businesses, Business as BusinessWithList, Changes, ListedBusiness } from '../openapi/schemas.ts';

/** The token as it is shown to a key that can only read: with all of it, one could record uses. */
export const shownToken = (token: string, { read_only }: Pick<Verdict, 'read_only'>): string =>
  read_only ? `bua_pk_…${token.slice(-4)}` : token;

/** The business and its entries, before any change. */
export const parsed = (row: { business: string; entries: string }): { business: Business; entries: Entry[] } => ({
  business: JSON.parse(row.business),
  entries: JSON.parse(row.entries),
});

/** The response that shows a business, with its entries by id. */
export const businessResponse = (c: Context<Env>, verdict: Verdict, business: Business, entries: Entry[]) =>
  success<BusinessWithList>(c, {
    ...business,
    token: shownToken(business.token, verdict),
    access_list: entries.sort((a, b) => a.id - b.id),
  });

const KEEP_RULE = `${DURATION_RULE}, such as 24h`;
const ROTATION_RULE = 'must be empty, or a JSON object with keep_old only, such as {"keep_old":"24h"}';
/** Strict: a mistyped `keep_old` would stop the old token at once. */
export const rotationBody = z.strictObject(
  { keep_old: z.optional(z.string(KEEP_RULE).check(z.refine((text) => durationOf(text) !== null, KEEP_RULE))) },
  ROTATION_RULE,
);

const CHANGES_PER_PAGE = { most: 100, default: 20 };
export const changesQuery = pageQuery('before', CHANGES_PER_PAGE.most);

const BUSINESSES_PER_PAGE = { most: 50, default: 20 };
const listQuery = pageQuery('after', BUSINESSES_PER_PAGE.most);

/** A row of the list. `denied` is the refusal of its usage. */
type Examined = Limits & { id: number; denied: Refusal | null; business: Business; counts: Record<string, number> };

/** A business as it is listed, with its uses of the last 30 days and what is left of its limits. */
function listedBusiness({ business, counts, ...limits }: Examined, verdict: Verdict, now: Date): ListedBusiness {
  const { daily_limit: daily, monthly_limit: monthly } = limits;
  const { first_of_month } = monthOf(now);
  const inMonth = Object.entries(counts).filter(([day]) => day >= first_of_month);
  const month = inMonth.reduce((sum, [, count]) => sum + count, 0);
  const remaining = remainingOf({ ...limits, today: counts[dayOf(now)] ?? 0, month });
  return {
    ...business,
    token: shownToken(business.token, verdict),
    used: fillRange(rangeOf({}, dayOf(now)), counts),
    limits: remaining === null ? null : { daily, monthly, remaining },
  };
}

export const business = new Hono<Env>()
  .get(
    '/',
    guard('list_businesses'),
    zValidator('query', listQuery, refuseInvalidQuery('this list', listQuery)),
    async (c) => {
      const query = c.req.valid('query');
      const { now } = c.get('call');
      const limit = Number(query.limit ?? BUSINESSES_PER_PAGE.default);
      const from = [rangeOf({}, dayOf(now)).from, monthOf(now).first_of_month].sort()[0] ?? '';
      const [row] = await c.get('ask')(businessesAfter({ limit, after: Number(query.after ?? 0), from }));
      const examined: Examined[] = JSON.parse(row.businesses);
      const readable = examined.filter(({ denied }) => denied === null);
      return success<Businesses>(c, {
        businesses: readable.map((one) => listedBusiness(one, row, now)),
        next: examined.length === limit ? (examined.at(-1)?.id ?? null) : null,
        read_only: row.read_only === 1,
      });
    },
  )
  .post(
    '/:business_id/token',
    wholeBody,
    guard('rotate_token'),
    noQuery,
    jsonInput(rotationBody, { optional: true }),
    async (c) => {
      const { keep_old } = c.req.valid('json');
      const { business_id, now } = c.get('call');
      const keepUntil = keep_old && timestampOf(new Date(now.getTime() + (durationOf(keep_old) ?? 0)));
      const token = newCredential('bua_pk_', databaseOfId(business_id));
      const [row, [touched]] = await c.get('ask')(businessWithEntries, ...rotateToken(token, keepUntil ?? null));
      if (touched === undefined) throw new Error('a permitted rotation changed nothing');
      return businessResponse(c, row, { ...touched, token }, parsed(row).entries);
    },
  )
  .get(
    '/:business_id/changes',
    guard('read_changes'),
    zValidator('query', changesQuery, refuseInvalidQuery('this list', changesQuery)),
    async (c) => {
      const query = c.req.valid('query');
      const limit = Number(query.limit ?? CHANGES_PER_PAGE.default);
      const before = Number(query.before ?? Number.MAX_SAFE_INTEGER);
      const [row] = await c.get('ask')(changesBefore({ limit: limit + 1, before }));
      const { found, changes }: { found: number; changes: Changes['changes'] } = JSON.parse(row.list);
      const page = changes.slice(0, limit);
      return success<Changes>(c, { changes: page, next: found > page.length ? (page.at(-1)?.id ?? null) : null });
    },
  );

business.all('/', methodNotAllowed('GET, HEAD'));
business.all('/:business_id/token', methodNotAllowed('POST'));
business.all('/:business_id/changes', methodNotAllowed('GET, HEAD'));
