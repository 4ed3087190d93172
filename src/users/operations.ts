// Users, whom the operator numbers.
import * as z from 'zod/mini';
import { by, NOBODY } from '../core/policy.ts';
import { described, type Query } from '../input.ts';
import { define } from '../operation.ts';
import { parseExportCursor, SECTION_NAMES } from './export-cursor.ts';

const EXPORT_CURSOR_RULE = 'must be the cursor in the Link header of the previous page, and must appear only once';
export const exportQuery = {
  name: 'this operation',
  schema: z.object({
    cursor: z.optional(
      described(
        z.string(EXPORT_CURSOR_RULE).check(z.refine((text) => parseExportCursor(text) !== null, EXPORT_CURSOR_RULE)),
        { pattern: `^(?:${SECTION_NAMES.join('|')})(?:\\.\\d{1,16}(?:\\.[\\s\\S]*)?)?$` },
      ),
    ),
  }),
} satisfies Query;

export const users = define({
  exportUser: {
    ...by(NOBODY),
    route: 'GET /user/:user_id/export',
    name: 'export_user',
    does: 'export users',
    query: exportQuery,
  },
  eraseUser: { ...by(NOBODY), route: 'DELETE /user/:user_id', name: 'erase_user', does: 'erase users' },
});
