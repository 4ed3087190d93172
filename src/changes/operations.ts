// Who changed what.
import * as z from 'zod/mini';
import { ACTIONS } from '../core/change.ts';
import { FULL_OPERATOR, READERS, reading } from '../core/policy.ts';
import { PAGE_OF_CHANGES } from '../core/work.ts';
import { choices, day, pageQuery, type Query } from '../input.ts';
import { define } from '../operation.ts';
import { MAX_SEARCH_LENGTH, orderErrors } from './rules.ts';

const ACTION_RULE = `must be ${choices.format(ACTIONS)}`;
const SEARCH_RULE = `must have 1 to ${MAX_SEARCH_LENGTH} characters`;
const userChangesQuery = pageQuery('before', 100);
export const changesQuery = {
  name: 'this list',
  schema: z.extend(userChangesQuery.schema, {
    action: z.optional(z.enum(ACTIONS, ACTION_RULE)),
    search: z.optional(
      z
        .string(SEARCH_RULE)
        .check(
          z.minLength(1, SEARCH_RULE),
          z.maxLength(MAX_SEARCH_LENGTH, { error: SEARCH_RULE, abort: true }),
          z.normalize('NFC'),
        ),
    ),
    from: day,
    to: day,
  }),
} satisfies Query;

export const operations = define({
  readChanges: {
    ...reading(READERS),
    route: 'GET /business/:business_id/changes',
    name: 'read_changes',
    does: 'read changes',
    isDear: true,
    work: PAGE_OF_CHANGES,
    query: changesQuery,
    check: orderErrors,
  },
  readUserChanges: {
    ...reading(FULL_OPERATOR),
    route: 'GET /user/:user_id/changes',
    name: 'read_user_changes',
    does: 'read the changes of users',
    isDear: true,
    query: userChangesQuery,
  },
});
