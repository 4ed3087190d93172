// /api/v1/business/{business_id}/access
import { Hono } from 'hono';
import * as z from 'zod/mini';
import { json } from '../answer.ts';
import { idOf } from '../core/request.ts';
import { canonicalSite } from '../core/site.ts';
import { accessList, addSites, business, entryOf, MAX_SITES, removeAllSites, removeSite } from '../db/access.ts';
import type { Scope } from '../db/grant.ts';
import type { RowsOf } from '../db/statement.ts';
import type { Env } from '../env.ts';
import { InvalidInput, UnknownEntry } from '../errors.ts';
import { guard } from '../guard.ts';
import { input, limitedBody, noInput } from '../input.ts';
import { isPublicSuffix } from '../suffix.ts';

// `usage` is never an id: paths under /business/usage/ are usage operations. \x2f is /, at which Hono splits the pattern.
const LIST = '/:business_id{(?!usage\\x2f)[^\\x2f]+}/access';
const ENTRY = `${LIST}/:access_id` as const;

const MAX_SITES_PER_CALL = 100;
export const SITES_RULE = `must be a list of 1 to ${MAX_SITES_PER_CALL} URLs, such as ["https://example.com"]`;
const site = z.string('must be a string, such as https://example.com').check((payload) => {
  const { problem } = canonicalSite(payload.value);
  if (problem !== undefined) payload.issues.push({ code: 'custom', message: problem, input: payload.value });
});
// Its length first: a million wrong entries are one error, not a million.
const list = z
  .array(z.unknown(), SITES_RULE)
  .check(z.minLength(1, SITES_RULE), z.maxLength(MAX_SITES_PER_CALL, SITES_RULE));
export const sitesBody = z.object(
  { sites: z.pipe(list, z.array(site)) },
  'must be a JSON object, such as {"sites":["https://example.com"]}',
);

/** The sites in canonical form, each once. */
async function canonicalSites(body: z.output<typeof sitesBody>): Promise<{ sites: string[] }> {
  const errors: Record<string, string[]> = {};
  const sites = new Set<string>();
  for (const [index, text] of body.sites.entries()) {
    const { site, below } = canonicalSite(text);
    if (below !== undefined && (await isPublicSuffix(below))) {
      const field = `sites.${index}`;
      errors[field] = [`${field} must not cover ${below}, below which strangers have domains of their own`];
    }
    sites.add(site ?? '');
  }
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
  return { sites: [...sites] };
}

export const LAST_RULE =
  'must not be the last entry: without any, the token works everywhere. DELETE the whole list to do that.';

// An access_id that is no id is unknown, like one that nobody has.
const entryParam = z.object({ access_id: z.string() });
const entryId = ({ access_id }: z.output<typeof entryParam>) => ({ access_id: idOf(access_id) ?? 0 });

/** What every operation here answers with: read behind what it changes. */
const shown = (scope: Scope) => ({ business: business(scope), access_list: accessList(scope) });
const businessWithList = ({ business: [found], access_list }: RowsOf<ReturnType<typeof shown>>) => ({
  status: true,
  data: { ...found, access_list },
});

export const access = new Hono<Env>()
  .get(LIST, guard('read_access', noInput, shown), (c) => json(c.env.known, businessWithList(c.get('rows'))))
  .post(
    LIST,
    limitedBody,
    guard('change_access', input('json', sitesBody, canonicalSites), (scope, valid) => ({
      ...addSites(scope, valid('json').sites),
      ...shown(scope),
    })),
    (c) => {
      const rows = c.get('rows');
      const stored = new Set(rows.access_list.map((entry) => entry.site));
      if (!c.req.valid('json').sites.every((site) => stored.has(site))) {
        throw new InvalidInput({ sites: [`sites must not bring the business to more than ${MAX_SITES} sites`] });
      }
      return json(c.env.known, businessWithList(rows));
    },
  )
  .delete(
    LIST,
    limitedBody,
    guard('change_access', noInput, (scope) => ({
      ...removeAllSites(scope),
      ...shown(scope),
    })),
    (c) => json(c.env.known, businessWithList(c.get('rows'))),
  )
  .delete(
    ENTRY,
    limitedBody,
    guard('change_access', input('param', entryParam, entryId), (scope, valid) => {
      const { access_id } = valid('param');
      return { grant: entryOf(scope, access_id), ...removeSite(scope, access_id), ...shown(scope) };
    }),
    (c) => {
      const rows = c.get('rows');
      const access_id = rows.grant[0]?.access_id;
      if (!access_id) throw new UnknownEntry();
      if (rows.access_list.some(({ id }) => id === access_id)) {
        throw new InvalidInput({ access_id: [`access_id ${LAST_RULE}`] });
      }
      return json(c.env.known, businessWithList(rows));
    },
  );
