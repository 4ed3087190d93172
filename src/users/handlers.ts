// Exports and erases users.
import type { TypedResponse } from 'hono';
import type { ContextOf, Guarded } from '../env.ts';
import { send, success } from '../http/response.ts';
import { userOf } from '../http/user.ts';
import { serve } from '../serve.ts';
import type { ErasedUser } from './description.ts';
import { exportPage } from './export.ts';
import { formatExportCursor, type PagePosition, parseExportCursor } from './export-cursor.ts';
import { users as operations } from './operations.ts';
import { eraseUser } from './statements.ts';

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

export const users = serve(operations, {
  async exportUser(c) {
    const user_id = userOf(c);
    const { cursor } = c.req.valid('query');
    const from = cursor === undefined ? null : parseExportCursor(cursor);
    const { lines, next } = await exportPage(c.get('databases'), user_id, from);
    return exportResponse(c, user_id, lines, next);
  },

  async eraseUser(c) {
    const user_id = userOf(c);
    await eraseUser(c.get('databases'), user_id, c.get('call').now);
    return success<ErasedUser>(c, { erased: { user_id } });
  },
});
