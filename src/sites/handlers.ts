// Lists, registers and removes the sites on which a business token works.

import { Conflict, errorOf } from '../core/field-errors.ts';
import { parseId } from '../core/request.ts';
import { covers, isRegistrable, MAX_SITES, sitesCovering } from '../core/site.ts';
import { type Json, parseJson } from '../db/json.ts';
import { readVerdict } from '../db/statement.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { inputError, unknownId } from '../http/errors.ts';
import { success } from '../http/response.ts';
import { deleteSeenOrigins, originsRetainedFrom, originsSince } from '../origins/seen-origins.ts';
import { serve } from '../serve.ts';
import { businessResponse } from '../shown-business/responses.ts';
import { businessWithSites } from '../shown-business/statements.ts';
import type { RefusedOrigin, RefusedOrigins } from './description.ts';
import { operations } from './operations.ts';
import {
  ADMITTING_RULE,
  canonicalSites,
  FIRST_RULE,
  LAST_RULE,
  MOST_NAMES_RULE,
  MOST_RULE,
  UNREGISTRABLE_RULE,
} from './rules.ts';
import { addSites, removeAllSites, removeSite } from './statements.ts';

/** Lists the origins that are refused or, while no site is registered, those that are let in because of that. Most recent first. */
function refusedOriginsResponse(
  c: ContextOf<Guarded>,
  row: { has_site: 0 | 1; origins: Json<(RefusedOrigin & { let_in: number })[]> },
) {
  const origins = parseJson(row.origins)
    .toSorted((a, b) => (a.last_seen === b.last_seen ? 0 : a.last_seen < b.last_seen ? 1 : -1))
    .map(({ let_in, ...origin }) => ({ origin, isLetIn: let_in === 1 }));
  const ofKind = (letIn: boolean) => origins.flatMap(({ origin, isLetIn }) => (isLetIn === letIn ? origin : []));
  return success<RefusedOrigins>(c, {
    refused: row.has_site ? ofKind(false) : [],
    let_in: row.has_site ? [] : ofKind(true),
  });
}

/** The origin of the page that sent the request, if sites can restrict it. Null for a server, and for the service's own pages. */
function originOfSender(c: ContextOf<Guarded>) {
  const { origin, ownOrigin } = c.get('call');
  return origin === ownOrigin ? null : origin;
}

export const routes = serve(operations, {
  async readAccess(c) {
    const { row } = await c.get('ask')(businessWithSites);
    return businessResponse(c, row, parseJson(row.business), parseJson(row.sites));
  },

  async addAccess(c) {
    const canonical = canonicalSites(c.req.valid('json').sites);
    const origin = originOfSender(c);
    const coversSender = origin === null || covers(new Set(canonical), origin);
    const { row, decided, applied } = await c.get('ask')(businessWithSites, addSites(canonical, coversSender));
    const before = parseJson(row.sites);
    if (!coversSender && before.length === 0) {
      throw new Conflict('sites', isRegistrable(origin) ? FIRST_RULE : UNREGISTRABLE_RULE);
    }
    const sites = [...before, ...applied];
    const stored = new Set(sites.map(({ site }) => site));
    if (!canonical.every((site) => stored.has(site))) {
      const added = canonical.filter((site) => !before.some((stored) => stored.site === site));
      throw new Conflict('sites', before.length + added.length > MAX_SITES ? MOST_RULE : MOST_NAMES_RULE);
    }
    return businessResponse(c, row, decided[0] ?? parseJson(row.business), sites);
  },

  async removeAllAccess(c) {
    const { row, decided } = await c.get('ask')(businessWithSites, removeAllSites({}));
    return businessResponse(c, row, decided[0] ?? parseJson(row.business), []);
  },

  async readRefusedOrigins(c) {
    const { row } = await c.get('ask')(originsSince({ since: originsRetainedFrom(c.get('call').now) }));
    return refusedOriginsResponse(c, row);
  },

  async forgetRefusedOrigins(c) {
    await c.get('ask')(readVerdict, { forgotten: deleteSeenOrigins });
    return success<RefusedOrigins>(c, { refused: [], let_in: [] });
  },

  async removeAccess(c) {
    const access_id = parseId(c.req.param('access_id')); // a malformed id gets the same 404 as an unknown one
    const origin = originOfSender(c);
    const removal = removeSite(access_id, origin === null ? null : sitesCovering(origin));
    const { row, decided } = await c.get('ask')(businessWithSites, removal);
    const sites = parseJson(row.sites);
    if (!sites.some(({ id }) => id === access_id)) throw unknownId('Access id');
    const [business] = decided;
    const others = sites.filter(({ id }) => id !== access_id);
    if (business === undefined) {
      if (others.length === 0) throw inputError(errorOf('access_id', LAST_RULE), 'last_domain');
      throw new Conflict('access_id', ADMITTING_RULE);
    }
    return businessResponse(c, row, business, others);
  },
});
