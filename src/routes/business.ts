// /api/v1/business: businesses and their tokens, history, changes and alerts.
import * as z from 'zod/mini';
import type { FieldErrors } from '../core/conflict.ts';
import { newCredential } from '../core/credential.ts';
import { databaseOfId } from '../core/database.ts';
import { parseDuration } from '../core/duration.ts';
import { historyErrors } from '../core/history.ts';
import { dayOf, formatTimestamp, rangeOf } from '../core/time.ts';
import { businessesAfter, businessesOfUserAfter, businessInFull, businessWithEntries } from '../db/business.ts';
import { changesOfBusiness } from '../db/changes.ts';
import { createBusiness } from '../db/creation.ts';
import { deleteBusiness } from '../db/deletion.ts';
import { eventsBefore } from '../db/events.ts';
import { importHistory } from '../db/history.ts';
import { findHome } from '../db/homes.ts';
import { parseJson } from '../db/json.ts';
import { originsRetainedFrom } from '../db/refused-origins.ts';
import { readVerdict } from '../db/statement.ts';
import { rotateToken, stopFormerTokens } from '../db/tokens.ts';
import { claimHomeIn, updateBusiness } from '../db/update.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { guard } from '../guard.ts';
import { inputError } from '../http/errors.ts';
import { idOf } from '../http/input.ts';
import {
  cursorErrors,
  DEFAULT_PER_PAGE,
  nextAfter,
  pageBefore,
  pageOfAlerts,
  readPage,
  shownAlerts,
  shownChanges,
} from '../http/pages.ts';
import { success } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import {
  alertsQuery,
  businessesQuery,
  businessUpdateBody,
  changesQuery,
  deletionQuery,
  historyBody,
  newBusinessBody,
  rotationBody,
} from '../wire/requests.ts';
import type { Alerts, Businesses, Changes, DeletedBusiness, ImportedHistory } from '../wire/responses.ts';
import { businessResponse, detailsResponse, listedBusiness } from './shown-business.ts';
import { canonicalSites, sitesErrors } from './sites.ts';

/** Reads a user's businesses from their database. Returns none for an unknown user. */
async function businessesOf(
  c: ContextOf<Guarded>,
  user_id: number,
  page: { limit: number; after: number; from: string; since: string },
) {
  const home = await findHome(c.get('databases'), user_id);
  return (await c.get('databases').askIn(home ?? 0)(businessesOfUserAfter({ ...page, user_id }))).row;
}

type Days = { days?: ({ date?: string | undefined } | undefined)[] | undefined };
/** Completes the errors of a history. Without other errors, the handler finds these together with the days that already have counts. */
const daysErrors = ({ days = [] }: Days, c: ContextOf<Guarded>, errors: FieldErrors): FieldErrors =>
  Object.keys(errors).length === 0 ? {} : historyErrors(days, dayOf(c.get('call').now), {});

/** Returns the error of a range of days that ends before it starts. */
const orderErrors = ({ from, to }: { from?: string | undefined; to?: string | undefined }): FieldErrors =>
  from && to && from > to ? { from: [`from must not be after to (${to})`] } : {};

const guardAlerts = guard('read_alerts', {
  query: alertsQuery,
  rules: (query, c) => cursorErrors(query, [c.get('database')]),
});

export const business = newRoutes()
  .get('/', guard('list_businesses', { query: businessesQuery }), async (c) => {
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
  })
  .post('/', guard('create_business', { body: newBusinessBody, rules: sitesErrors }), async (c) => {
    const { sites, id, ...fields } = c.req.valid('json');
    const { business, entries } = await createBusiness(
      c.get('databases'),
      { ...fields, sites: canonicalSites(sites ?? []) },
      { idempotencyKey: idOf(c), id },
    );
    return businessResponse(c, { role: null }, parseJson(business), parseJson(entries));
  })
  .get('/:business_id', guard('read_business'), async (c) => {
    const { row } = await c.get('ask')(businessInFull);
    return detailsResponse(c, row, parseJson(row.business), parseJson(row.former_tokens));
  })
  .patch('/:business_id', guard('update_business', { body: businessUpdateBody }), async (c) => {
    const fields = c.req.valid('json');
    const { business_id } = c.get('call');
    if (fields.user_id !== undefined) {
      await c.get('ask')(readVerdict); // a request for an unknown business must not claim a home
      await claimHomeIn(c.get('databases'), fields.user_id, databaseOfId(business_id));
    }
    const row = await updateBusiness(c.get('ask'), fields);
    return detailsResponse(c, row, parseJson(row.business), parseJson(row.former_tokens));
  })
  .delete('/:business_id', guard('delete_business', { query: deletionQuery }), async (c) => {
    const { name } = c.req.valid('query');
    await deleteBusiness(c.get('ask'), name);
    return success<DeletedBusiness>(c, { deleted: { id: c.get('call').business_id, name } });
  })
  .put('/:business_id/history', guard('import_history', { body: historyBody, rules: daysErrors }), async (c) => {
    const { days, replace = false } = c.req.valid('json');
    const errorsWith = (taken: Record<string, number>) => historyErrors(days, dayOf(c.get('call').now), taken);
    const isPossible = Object.keys(errorsWith({})).length === 0;
    const { read, steps, total } = importHistory(days, replace);
    const { row } = await c.get('ask')(read, isPossible ? steps : undefined);
    const errors = errorsWith(parseJson(row.taken));
    if (Object.keys(errors).length > 0) throw inputError(errors);
    return success<ImportedHistory>(c, total);
  })
  .post('/:business_id/token', guard('rotate_token', { body: z.optional(rotationBody) }), async (c) => {
    const { keep_old } = c.req.valid('json');
    const { business_id, now } = c.get('call');
    const keepUntil =
      keep_old === undefined ? null : formatTimestamp(new Date(now.getTime() + parseDuration(keep_old)));
    const token = newCredential('bua_pk_', databaseOfId(business_id));
    const { row, decided } = await c.get('ask')(businessWithEntries, rotateToken(token, keepUntil));
    const [business] = decided;
    if (business === undefined) throw new Error('a permitted rotation changed nothing');
    return businessResponse(c, row, { ...business, token }, parseJson(row.entries));
  })
  .delete('/:business_id/token/former', guard('stop_former_tokens'), async (c) => {
    const { row, decided } = await c.get('ask')(businessInFull, stopFormerTokens());
    return detailsResponse(c, row, decided[0] ?? parseJson(row.business), []);
  })
  .get('/:business_id/changes', guard('read_changes', { query: changesQuery, rules: orderErrors }), async (c) => {
    const { limit, before, ...filter } = c.req.valid('query');
    const page = pageBefore({ limit, before });
    const { row } = await c.get('ask')(changesOfBusiness(page, filter));
    return success<Changes>(c, shownChanges(row, page));
  })
  .get('/:business_id/alerts', guardAlerts, async (c) => {
    const database = c.get('database');
    const { number, page } = pageOfAlerts(c.req.valid('query'), database);
    const { row } = await c.get('ask')(eventsBefore(page));
    return success<Alerts>(c, shownAlerts(row, page, number, [database]));
  });
