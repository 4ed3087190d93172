// /api/v1/business: the token of a business, and who changed what.
import { zValidator } from '@hono/zod-validator';
import { type Context, Hono } from 'hono';
import * as z from 'zod/mini';
import { newCredential } from '../core/credential.ts';
import { databaseOfId } from '../core/database.ts';
import { DURATION_RULE, durationOf } from '../core/duration.ts';
import { timestampOf } from '../core/time.ts';
import { businessWithEntries } from '../db/business.ts';
import { changesBefore } from '../db/changes.ts';
import type { Verdict } from '../db/permission.ts';
import type { Business, Entry } from '../db/schema.ts';
import { rotateToken } from '../db/tokens.ts';
import type { Env } from '../env.ts';
import { guard } from '../guard.ts';
import { wholeBody } from '../http/body.ts';
import { methodNotAllowed } from '../http/errors.ts';
import { pageQuery, readJson, refuseInvalidQuery } from '../http/input.ts';
import { success } from '../http/response.ts';
import type { Business as BusinessWithList, Changes } from '../openapi/schemas.ts';

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

export const business = new Hono<Env>()
  .post('/:business_id/token', wholeBody, guard('rotate_token'), async (c) => {
    const { keep_old } = c.get('body') === '' ? {} : await readJson(c, rotationBody);
    const { business_id, now } = c.get('call');
    const keepUntil = keep_old && timestampOf(new Date(now.getTime() + (durationOf(keep_old) ?? 0)));
    const token = newCredential('bua_pk_', databaseOfId(business_id));
    const [row, [touched]] = await c.get('ask')(businessWithEntries, ...rotateToken(token, keepUntil ?? null));
    if (touched === undefined) throw new Error('a permitted rotation changed nothing');
    return businessResponse(c, row, { ...touched, token }, parsed(row).entries);
  })
  .get(
    '/:business_id/changes',
    guard('read_changes'),
    zValidator('query', changesQuery, refuseInvalidQuery('this list', changesQuery)),
    async (c) => {
      const query = c.req.valid('query');
      const limit = Number(query.limit ?? CHANGES_PER_PAGE.default);
      const before = Number(query.before ?? Number.MAX_SAFE_INTEGER);
      const [row] = await c.get('ask')(changesBefore({ limit: limit + 1, before }));
      const changes: Changes['changes'] = JSON.parse(row.changes);
      const page = changes.slice(0, limit);
      return success<Changes>(c, { changes: page, next: changes.length > limit ? (page.at(-1)?.id ?? null) : null });
    },
  );

business.all('/:business_id/token', methodNotAllowed('POST'));
business.all('/:business_id/changes', methodNotAllowed('GET, HEAD'));
