// /api/v1/business/{business_id}/access
import { Hono } from 'hono';
import * as z from 'zod/mini';
import { idOf } from '../core/request.ts';
import { canonicalSite } from '../core/site.ts';
import { addSites, businessWithList, MAX_SITES, removeAllSites, removeSite } from '../db/access.ts';
import type { access as accessTable } from '../db/schema.ts';
import type { RowsOf } from '../db/statement.ts';
import type { Env } from '../env.ts';
import { guard } from '../guard.ts';
import { wholeBody } from '../http/body.ts';
import { InvalidInput, UnknownEntry } from '../http/errors.ts';
import { input, noInput } from '../http/input.ts';
import { json } from '../http/response.ts';
import { isPublicSuffix } from '../public-suffix.ts';

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

type Entry = typeof accessTable.$inferSelect;
type Business = RowsOf<{ grant: ReturnType<typeof businessWithList> }>['grant'][number];

/** What every operation here answers with: the business, and its entries in the order of their ids. */
function businessWith({ refusal: _, ...found }: Omit<Business, 'access_list'>, entries: Entry[]) {
  return { status: true, data: { ...found, access_list: entries.sort((a, b) => a.id - b.id) } };
}

/** The business as it was before a change, and its entries. */
function before([row]: Business[]) {
  if (row === undefined) throw new Error('a granted call has no business');
  const { access_list, ...found } = row;
  return { found, entries: JSON.parse(access_list) as Entry[] };
}

/** The business as it is, where a change has touched it; else as it was. */
const after = <T>(found: T, [touched]: Omit<T, 'refusal'>[]) => ({ ...found, ...touched });

export const access = new Hono<Env>()
  .get(
    LIST,
    guard('read_access', noInput, (scope) => ({ grant: businessWithList(scope) })),
    (c) => {
      const { found, entries } = before(c.get('rows').grant);
      return json(c.env.known, businessWith(found, entries));
    },
  )
  .post(
    LIST,
    wholeBody,
    guard('change_access', input('json', sitesBody, canonicalSites), (scope, valid) => ({
      grant: businessWithList(scope),
      ...addSites(scope, valid('json').sites),
    })),
    (c) => {
      const { grant, touched, added } = c.get('rows');
      const { found, entries } = before(grant);
      const all = [...entries, ...added];
      const stored = new Set(all.map((entry) => entry.site));
      if (!c.req.valid('json').sites.every((site) => stored.has(site))) {
        throw new InvalidInput({ sites: [`sites must not bring the business to more than ${MAX_SITES} sites`] });
      }
      return json(c.env.known, businessWith(after(found, touched), all));
    },
  )
  .delete(
    LIST,
    wholeBody,
    guard('change_access', noInput, (scope) => ({ grant: businessWithList(scope), ...removeAllSites(scope) })),
    (c) => {
      const { grant, touched } = c.get('rows');
      return json(c.env.known, businessWith(after(before(grant).found, touched), []));
    },
  )
  .delete(
    ENTRY,
    wholeBody,
    guard('change_access', input('param', entryParam, entryId), (scope, valid) => ({
      grant: businessWithList(scope),
      ...removeSite(scope, valid('param').access_id),
    })),
    (c) => {
      const { grant, touched, removed } = c.get('rows');
      const { found, entries } = before(grant);
      const { access_id } = c.req.valid('param');
      if (!entries.some(({ id }) => id === access_id)) throw new UnknownEntry();
      if (removed.length === 0) throw new InvalidInput({ access_id: [`access_id ${LAST_RULE}`] });
      const rest = entries.filter(({ id }) => id !== access_id);
      return json(c.env.known, businessWith(after(found, touched), rest));
    },
  );
