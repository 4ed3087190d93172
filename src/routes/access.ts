// /api/v1/business/{business_id}/access: the domains on which the token of a business works.
import { type Context, Hono } from 'hono';
import * as z from 'zod/mini';
import { idOf } from '../core/request.ts';
import { canonicalSite, sitesCovering } from '../core/site.ts';
import { addSites, MAX_SITES, removeEntries, removeEntry } from '../db/access.ts';
import { businessWithEntries } from '../db/business.ts';
import { readVerdict } from '../db/permission.ts';
import { forgetRefused, originsKeptFrom, refusedSince } from '../db/refused-origins.ts';
import type { Env } from '../env.ts';
import { guard } from '../guard.ts';
import { wholeBody } from '../http/body.ts';
import { InvalidInput, methodNotAllowed, UnknownEntry } from '../http/errors.ts';
import { invalidInput, jsonInput, noQuery } from '../http/input.ts';
import { success } from '../http/response.ts';
import type { RefusedOrigins } from '../openapi/schemas.ts';
import { isPublicSuffix } from '../public-suffix.ts';
import { businessResponse, parsed } from './business.ts';

const MAX_SITES_PER_CALL = 100;
export const SITES_RULE = `must be a list of 1 to ${MAX_SITES_PER_CALL} URLs, such as ["https://example.com"]`;
const site = z.string('must be a string, such as https://example.com').check((payload) => {
  const { problem } = canonicalSite(payload.value);
  if (problem !== undefined) payload.issues.push({ code: 'custom', message: problem, input: payload.value });
});
// The length is checked first: a million wrong entries are one error, not a million.
const list = z
  .array(z.unknown(), SITES_RULE)
  .check(z.minLength(1, SITES_RULE), z.maxLength(MAX_SITES_PER_CALL, SITES_RULE));
export const sitesBody = z.object(
  { sites: z.pipe(list, z.array(site)) },
  'must be a JSON object, such as {"sites":["https://example.com"]}',
);

/** The sites in canonical form, each once. */
async function canonicalSites(c: Context<Env>, texts: string[]): Promise<string[]> {
  const errors: Record<string, string[]> = {};
  const sites = new Set<string>();
  for (const [index, text] of texts.entries()) {
    const { site, below } = canonicalSite(text);
    if (below !== undefined && (await isPublicSuffix(below))) {
      const field = `sites.${index}`;
      errors[field] = [`${field} must not cover ${below}: others own domains below it`];
    }
    sites.add(site ?? '');
  }
  if (Object.keys(errors).length > 0) throw await invalidInput(c, errors);
  return [...sites];
}

export const LAST_RULE =
  'must not be the last entry: without any, the token works everywhere. DELETE the whole list to do that.';

/** The origins that would still be refused. */
function refusedOriginsResponse(c: Context<Env>, row: { sites: string; refused: string }) {
  const sites = new Set<string>(JSON.parse(row.sites));
  const refused: RefusedOrigins['refused'] = JSON.parse(row.refused);
  // Without a site, every origin passes.
  const isRefused = (origin: string) => sites.size > 0 && !sitesCovering(origin).some((site) => sites.has(site));
  const byLastSeen = refused.filter(({ origin }) => isRefused(origin));
  byLastSeen.sort((a, b) => (a.last_seen === b.last_seen ? 0 : a.last_seen < b.last_seen ? 1 : -1));
  return success<RefusedOrigins>(c, { refused: byLastSeen });
}

export const access = new Hono<Env>()
  .get('/:business_id/access', guard('read_access'), async (c) => {
    const [row] = await c.get('ask')(businessWithEntries);
    const { business, entries } = parsed(row);
    return businessResponse(c, row, business, entries);
  })
  .post('/:business_id/access', wholeBody, guard('change_access'), jsonInput(sitesBody), async (c) => {
    const canonical = await canonicalSites(c, c.req.valid('json').sites);
    const [row, [touched], , inserted] = await c.get('ask')(businessWithEntries, ...addSites(canonical));
    const { business, entries } = parsed(row);
    const all = [...entries, ...inserted];
    const stored = new Set(all.map(({ site }) => site));
    if (!canonical.every((site) => stored.has(site))) {
      throw new InvalidInput({ sites: [`sites must not bring the business to more than ${MAX_SITES} sites`] });
    }
    return businessResponse(c, row, touched ?? business, all);
  })
  .delete('/:business_id/access', wholeBody, guard('change_access'), noQuery, async (c) => {
    const [row, [touched]] = await c.get('ask')(businessWithEntries, ...removeEntries);
    return businessResponse(c, row, touched ?? parsed(row).business, []);
  })
  .get('/:business_id/access/refused', guard('read_refused_origins'), async (c) => {
    const [row] = await c.get('ask')(refusedSince({ since: originsKeptFrom(c.get('call').now) }));
    return refusedOriginsResponse(c, row);
  })
  .delete('/:business_id/access/refused', wholeBody, guard('change_refused_origins'), async (c) => {
    await c.get('ask')(readVerdict, forgetRefused);
    return success<RefusedOrigins>(c, { refused: [] });
  })
  .delete('/:business_id/access/:access_id', wholeBody, guard('change_access'), async (c) => {
    const access_id = idOf(c.req.param('access_id')) ?? 0; // an invalid id is unknown, like one that does not exist
    const [row, [touched]] = await c.get('ask')(businessWithEntries, ...removeEntry(access_id));
    const { entries } = parsed(row);
    if (!entries.some(({ id }) => id === access_id)) throw new UnknownEntry();
    if (touched === undefined) throw new InvalidInput({ access_id: [`access_id ${LAST_RULE}`] });
    return businessResponse(
      c,
      row,
      touched,
      entries.filter(({ id }) => id !== access_id),
    );
  });

access.all('/:business_id/access/refused', methodNotAllowed('GET, HEAD, DELETE'));
access.all('/:business_id/access', methodNotAllowed('GET, HEAD, POST, DELETE'));
access.all('/:business_id/access/:access_id', methodNotAllowed('DELETE'));
