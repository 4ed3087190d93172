// /api/v1/user: the operator's endpoints for one user, which cover API keys, console links, changes, export and erasure.
import type { TypedResponse } from 'hono';
import * as z from 'zod/mini';
import type { FieldErrors } from '../core/conflict.ts';
import { formatExportCursor, type PagePosition, parseExportCursor } from '../core/export.ts';
import { parseId } from '../core/request.ts';
import { consoleUrl } from '../core/session.ts';
import { dayOf } from '../core/time.ts';
import { changesOfUser } from '../db/changes.ts';
import { createConsoleLink } from '../db/console-links.ts';
import { eraseUser } from '../db/erasure.ts';
import { exportPage } from '../db/export.ts';
import { findHome } from '../db/homes.ts';
import { createKey, keysOf, revokeKey } from '../db/keys.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { guard } from '../guard.ts';
import { unknownEntry } from '../http/errors.ts';
import { pageBefore, shownChanges } from '../http/pages.ts';
import { send, success } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import { consoleLinkBody, EXPIRY_RULE, exportQuery, newKeyBody, userChangesQuery } from '../wire/requests.ts';
import type { Changes, ConsoleLink, ErasedUser, Keys, NewKey, RevokedKey } from '../wire/responses.ts';

function userOf(c: ContextOf<Guarded>): number {
  const user_id = parseId(c.req.param('user_id') ?? '');
  if (user_id !== null) return user_id;
  throw unknownEntry('User id');
}

/** Returns the user in the path, and the `ask` for that user's database. For an unknown user, `ask` queries DB and finds no rows. */
async function askForUser(c: ContextOf<Guarded>) {
  const user_id = userOf(c);
  const home = await findHome(c.get('databases'), user_id);
  return { user_id, ask: c.get('databases').askIn(home ?? 0) };
}

/** Builds a JSON Lines response with a link to the next page (RFC 8288). The last page ends with an `end` line. */
function exportResponse(c: ContextOf<Guarded>, user_id: number, lines: object[], next: PagePosition | null) {
  const text = [...lines, ...(next === null ? [{ type: 'end' }] : [])]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
  const url = `${c.get('call').ownOrigin}/api/v1/user/${user_id}/export`;
  const link = next && { Link: `<${url}?cursor=${encodeURIComponent(formatExportCursor(next))}>; rel="next"` };
  const headers = { 'Content-Type': 'application/x-ndjson', ...link };
  return send(c, text, 200, headers) as Response & TypedResponse<string, 200, 'text'>; // for Hono's client
}

const expiryErrors = ({ expires_on }: { expires_on?: string | undefined }, c: ContextOf<Guarded>): FieldErrors =>
  expires_on !== undefined && expires_on < dayOf(c.get('call').now)
    ? { expires_on: [`expires_on ${EXPIRY_RULE}`] }
    : {};

export const user = newRoutes()
  .delete('/:user_id', guard('erase_user'), async (c) => {
    const user_id = userOf(c);
    await eraseUser(c.get('databases'), user_id, c.get('call').now);
    return success<ErasedUser>(c, { erased: { user_id } });
  })
  .get('/:user_id/export', guard('export_user', { query: exportQuery }), async (c) => {
    const user_id = userOf(c);
    const { cursor } = c.req.valid('query');
    const from = cursor === undefined ? null : parseExportCursor(cursor);
    const { lines, next } = await exportPage(c.get('databases'), user_id, from);
    return exportResponse(c, user_id, lines, next);
  })
  .get('/:user_id/keys', guard('list_keys'), async (c) => {
    const { user_id, ask } = await askForUser(c);
    return success<Keys>(c, { keys: await keysOf(ask, user_id) });
  })
  .post('/:user_id/keys', guard('create_key', { body: z.optional(newKeyBody), rules: expiryErrors }), async (c) => {
    const user_id = userOf(c);
    const { name = 'API key', ...key } = c.req.valid('json');
    return success<NewKey>(c, await createKey(c.get('databases'), { user_id, name, ...key }));
  })
  .delete('/:user_id/keys/:key_id', guard('revoke_key'), async (c) => {
    const { user_id, ask } = await askForUser(c);
    const key = await revokeKey(ask, parseId(c.req.param('key_id')), user_id);
    if (key === null) throw unknownEntry('Key id');
    return success<RevokedKey>(c, { key });
  })
  .post('/:user_id/console-link', guard('create_console_link', { body: z.optional(consoleLinkBody) }), async (c) => {
    const user_id = userOf(c);
    const { now, ownOrigin } = c.get('call');
    const link = await createConsoleLink(c.get('databases'), { user_id, ...c.req.valid('json') }, now);
    if (link === null) throw unknownEntry('User id');
    return success<ConsoleLink>(c, { url: consoleUrl(ownOrigin, link.code), expires_at: link.expires_at });
  })
  .get('/:user_id/changes', guard('read_user_changes', { query: userChangesQuery }), async (c) => {
    const { user_id, ask } = await askForUser(c);
    const page = pageBefore(c.req.valid('query'));
    const { row } = await ask(changesOfUser(page, user_id));
    return success<Changes>(c, shownChanges(row, page));
  });
