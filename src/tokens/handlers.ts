// Replaces the token of a business, and stops former tokens.

import { newCredential } from '../core/credential.ts';
import { databaseOfId } from '../core/database.ts';
import { parseId } from '../core/request.ts';
import { formatTimestamp } from '../core/time.ts';
import { parseJson } from '../db/json.ts';
import { unknownId } from '../http/errors.ts';
import { serve } from '../serve.ts';
import { businessResponse, detailsResponse } from '../shown-business/responses.ts';
import { businessInFull, businessWithSites } from '../shown-business/statements.ts';
import { operations } from './operations.ts';
import { parseDuration } from './rules.ts';
import { rotateToken, stopFormerToken, stopFormerTokens } from './statements.ts';

export const routes = serve(operations, {
  async rotateToken(c) {
    const { keep_old } = c.req.valid('json');
    const { business_id, now } = c.get('call');
    const keepUntil =
      keep_old === undefined ? null : formatTimestamp(new Date(now.getTime() + parseDuration(keep_old)));
    const token = newCredential('bua_pk_', databaseOfId(business_id));
    const { row, decided } = await c.get('ask')(businessWithSites, rotateToken({ token, keep_until: keepUntil }));
    const [business] = decided;
    if (business === undefined) throw new Error('a permitted rotation changed nothing');
    return businessResponse(c, row, { ...business, token }, parseJson(row.sites));
  },

  async stopFormerTokens(c) {
    const { row, decided } = await c.get('ask')(businessInFull, stopFormerTokens({}));
    return detailsResponse(c, row, decided[0] ?? parseJson(row.business), []);
  },

  async stopFormerToken(c) {
    const former_id = parseId(c.req.param('former_id')); // a malformed id gets the same 404 as an unknown one
    const { row, decided } = await c.get('ask')(businessInFull, stopFormerToken({ former_id }));
    const [business] = decided;
    if (business === undefined) throw unknownId('Former id');
    const others = parseJson(row.former_tokens).filter(({ id }) => id !== former_id);
    return detailsResponse(c, row, business, others);
  },
});
