// The operator's commands. Their arguments and options come from the request's path and schema, so a new field becomes an option
// automatically.
import * as z from 'zod/mini';
import { sitesBody } from '../access/operations.ts';
import { alertsQuery } from '../alerts/operations.ts';
import { businessesQuery, businessUpdateBody, deletionQuery, newBusinessBody } from '../business/operations.ts';
import { changesQuery, userChangesQuery } from '../changes/operations.ts';
import { covers, sitesCovering } from '../core/site.ts';
import { dayOf } from '../core/time.ts';
import { newKeyBody } from '../keys/operations.ts';
import { consoleLinkBody } from '../sessions/operations.ts';
import { rotationBody } from '../tokens/operations.ts';
import { historyBody, loweringBody, rangeQuery, totalsQuery } from '../usage/operations.ts';
import type { Data, Service } from './client.ts';
import { readDays } from './days.ts';
import { exportUser } from './export.ts';
import { createOperatorKey } from './operator-keys.ts';
import { readLowered } from './uses.ts';

export type Given = Record<string, unknown>;

export type Command = {
  /** The help text: one sentence. */
  does: string;
  /** Method and path. `{ID}` is an argument, `{user_id}` a required option. Absent for commands that work offline. */
  request?: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  /** The query for GET and DELETE, otherwise the body. Each field is an argument or an option. */
  input?: z.ZodMiniType;
  /** Maps an argument or option to its field if their names differ. */
  as?: Record<string, string>;
  /** The operation accepts an idempotency key, so the request is retry-safe. */
  takesKey?: true;
  /**
   * The command that shows whether a request took effect if its response was lost. Default: `business show` if the path contains `{ID}`.
   */
  shownBy?: string;
  /** Converts the given values for the request. `inWords` rewords errors about them. */
  prepare?: (given: Given) => Promise<{ sent: Given; inWords?: (error: string) => string }>;
  /** Yields the output line by line, in place of the response to one request. */
  lines?: (service: Service, given: Given) => AsyncGenerator<string>;
  /** Converts the response's `data` to the output. Default: `data` unchanged. */
  shown?: (data: Data, given: Given) => unknown;
};

/** The numeric suffixes of the secrets' names (core/operator.ts). */
const SLOTS = ['1', '2', '3', '4'] as const;

/** Keyed by words and arguments. Commands can share the same words if their arguments differ. */
export const COMMANDS: Record<string, Command> = {
  'business create': {
    request: 'POST /business',
    does: 'Creates a business with a new token, or with a token and an id from another system.',
    input: newBusinessBody,
    takesKey: true,
    shownBy: 'business list --user {user_id}',
  },
  'business list': {
    request: 'GET /business',
    does: 'Lists all businesses, or those of one user.',
    input: businessesQuery.schema,
  },
  'business show ID': {
    request: 'GET /business/{ID}',
    does: 'Shows a business, its domains, its limits and its former tokens.',
  },
  'business update ID': {
    request: 'PATCH /business/{ID}',
    does: 'Changes the given fields. Use none to remove a limit.',
    input: businessUpdateBody,
  },
  'business status ID STATUS': {
    request: 'PATCH /business/{ID}',
    does: 'Sets the status. The token works only while it is active.',
    input: z.pick(businessUpdateBody.def.out, { status: true }),
    as: { STATUS: 'status' },
  },
  'business delete ID': {
    request: 'DELETE /business/{ID}',
    does: 'Permanently deletes a business and everything that belongs to it. --confirm repeats its name.',
    input: deletionQuery.schema,
    as: { '--confirm': 'name' },
  },
  'business rotate-token ID': {
    request: 'POST /business/{ID}/token',
    does: 'Replaces the token. Without --keep-old, all old tokens stop working immediately. With it, the latest one keeps working for that long.',
    input: rotationBody,
  },
  'business stop-former-tokens ID': {
    request: 'DELETE /business/{ID}/token/former',
    does: 'Stops former tokens that still work. The current token keeps working.',
  },
  'access list ID': { request: 'GET /business/{ID}/access', does: 'Shows a business with its registered domains.' },
  'access add ID SITE…': {
    request: 'POST /business/{ID}/access',
    does: 'Registers domains. The token works everywhere until the first one is registered, and then only on registered domains.',
    input: sitesBody,
    as: { 'SITE…': 'sites' },
  },
  'access remove ID ENTRY_ID': {
    request: 'DELETE /business/{ID}/access/{ENTRY_ID}',
    does: 'Removes one registered domain, by the id of its entry.',
  },
  'access clear ID': {
    request: 'DELETE /business/{ID}/access',
    does: 'Removes all registered domains. The token then works on every site.',
  },
  'access check ID ORIGIN': {
    request: 'GET /business/{ID}/access',
    does: 'Shows whether a page with this origin may use the token, and which entry allows it.',
    shown: ({ status, access_list }: AccessList, { ORIGIN }) => {
      const sites = access_list.map(({ site }) => site);
      const origin = `${ORIGIN}`;
      return {
        allowed: status === 'active' && (sites.length === 0 || covers(new Set(sites), origin)),
        site: sites.find((site) => sitesCovering(origin).includes(site)) ?? null,
      };
    },
  },
  'access refused ID': {
    request: 'GET /business/{ID}/access/refused',
    does: 'Lists the origins that were refused in the last 90 days and would still be refused.',
  },
  'access forget-refused ID': {
    request: 'DELETE /business/{ID}/access/refused',
    does: 'Empties the list of refused origins.',
    shownBy: 'access refused {ID}',
  },
  'changes list ID': {
    request: 'GET /business/{ID}/changes',
    does: 'Lists the changes to a business and who made them, newest first.',
    input: changesQuery.schema,
  },
  'changes list': {
    request: 'GET /user/{user_id}/changes',
    does: "Lists the changes to a user's keys for all businesses and who made them, newest first.",
    input: userChangesQuery.schema,
  },
  'alerts list ID': {
    request: 'GET /business/{ID}/alerts',
    does: 'Lists when a business reached a threshold of a limit, newest first.',
    input: alertsQuery.schema,
  },
  'alerts list': {
    request: 'GET /alerts',
    does: 'Lists the alerts of all businesses, newest first in each database.',
    input: alertsQuery.schema,
  },
  'usage show ID': {
    request: 'GET /business/usage/{ID}',
    does: 'Shows the uses of each day (UTC), by default for the last 30 days.',
    input: rangeQuery.schema,
  },
  'usage totals': {
    request: 'GET /usage',
    does: 'Lists how many uses each business had, by default in the last 30 days (UTC). With --ended, in the billing month that ended on that day.',
    input: totalsQuery.schema,
    // Fixes the end of the range, because all pages must cover the same days even if they are read past midnight.
    prepare: async (given) => ({ sent: 'ended' in given ? given : { to: dayOf(new Date()), ...given } }),
  },
  'usage lower ID USE=QUANTITY…': {
    request: 'PATCH /business/usage/{ID}',
    does: 'Lowers the quantities of uses, by id.',
    input: loweringBody,
    as: { 'USE=QUANTITY…': 'uses' },
    prepare: readLowered,
    shownBy: 'changes list {ID}',
  },
  'usage import ID FILE': {
    request: 'PUT /business/{ID}/history',
    does: 'Imports a CSV file of date,count lines for days before today: all lines or none. Semicolons or tabs can also separate the fields.',
    input: historyBody,
    as: { FILE: 'days' },
    prepare: readDays,
    shownBy: 'changes list {ID}',
  },
  'key create': {
    request: 'POST /user/{user_id}/keys',
    does: 'Creates an API key and prints it. It is not shown again.',
    input: newKeyBody,
    shownBy: 'key list --user {user_id}',
  },
  'key list': {
    request: 'GET /user/{user_id}/keys',
    does: 'Lists the keys of a user, including revoked and expired ones.',
  },
  'key revoke ID': {
    request: 'DELETE /user/{user_id}/keys/{ID}',
    does: 'Revokes a key of a user, effective immediately.',
    shownBy: 'key list --user {user_id}',
  },
  'console-link create': {
    request: 'POST /user/{user_id}/console-link',
    does: "Creates a link that opens a user's console. It works once, within two minutes.",
    input: consoleLinkBody,
  },
  'user export ID': {
    does: 'Prints what the lists contain about a user, one JSON object per line.',
    input: z.pick(newBusinessBody, { user_id: true }),
    as: { ID: 'user_id' },
    lines: (service, { user_id }) => exportUser(service, Number(user_id)),
  },
  'user erase ID': {
    request: 'DELETE /user/{ID}',
    does: 'Permanently deletes all data that names a user. The user must have no business.',
    shownBy: 'user export {ID}',
  },
  'operator-key create': {
    does: 'Creates an operator key and prints it, with the command that stores its hash. It is not shown again.',
    input: z.object({
      record: z.optional(z.boolean()),
      slot: z.optional(z.enum(SLOTS, 'must be a number from 1 to 4, such as 2')),
    }),
    shown: (_, { record, slot = '1' }) =>
      createOperatorKey(record ? 'record' : 'full', `OPERATOR_KEY_${slot as (typeof SLOTS)[number]}`),
  },
  'database list': {
    request: 'GET /database',
    does: "Lists the databases: letter in credentials, size, yesterday's uses (UTC) and backlog.",
  },
};

type AccessList = { status: string; access_list: { site: string }[] };
