// /api/v1/business/{business_id}/access
import { Hono } from 'hono';
import * as z from 'zod/mini';
import { canonicalSite } from '../core/site.ts';
import { accessList, addSites, business, MAX_SITES, refusalOf, type Scope, touchBusiness } from '../db/queries.ts';
import type { Env } from '../env.ts';
import { InvalidInput } from '../errors.ts';
import { guard } from '../guard.ts';
import { input, limitedBody, noInput } from '../input.ts';

const MAX_SITES_PER_CALL = 100;

const site = z.string('must be a string, such as https://example.com').check((payload) => {
  const { site, problem } = canonicalSite(payload.value);
  if (site === undefined) payload.issues.push({ code: 'custom', message: problem, input: payload.value });
  else payload.value = site;
});
const LIST = `must be a list of 1 to ${MAX_SITES_PER_CALL} URLs, such as ["https://example.com"]`;
// Its length first: a million wrong entries are one error, not a million.
const list = z.array(z.unknown(), LIST).check(z.minLength(1, LIST), z.maxLength(MAX_SITES_PER_CALL, LIST));
const sitesBody = z.object(
  { sites: z.pipe(list, z.array(site)) },
  'must be a JSON object, such as {"sites":["https://example.com"]}',
);

const onceEach = ({ sites }: z.output<typeof sitesBody>) => ({ sites: [...new Set(sites)] });

/** The business with its access_list, as every operation here answers. */
const shown = (scope: Scope) => [business(scope), accessList(scope)] as const;

export const access = new Hono<Env>()
  .get(
    '/:business_id/access',
    guard('read_access', noInput, (scope) => [refusalOf(scope), ...shown(scope)]),
    (c) => {
      const [, [found], access_list] = c.var.rows;
      return c.json({ status: true, data: { ...found, access_list } });
    },
  )
  .post(
    '/:business_id/access',
    limitedBody,
    guard('change_access', input('json', sitesBody, onceEach), (scope, valid) => {
      const { sites } = valid('json');
      return [refusalOf(scope), addSites(scope, sites), touchBusiness(scope, sites), ...shown(scope)];
    }),
    (c) => {
      const [, , , [found], access_list] = c.var.rows;
      const stored = new Set(access_list.map((entry) => entry.site));
      if (!c.req.valid('json').sites.every((site) => stored.has(site))) {
        throw new InvalidInput({ sites: [`sites must not bring the business to more than ${MAX_SITES} sites`] });
      }
      return c.json({ status: true, data: { ...found, access_list } });
    },
  );
