// The operator's commands. Their arguments and options come from the path and the schema of an operation, so a new field becomes an option
// automatically.
import * as z from 'zod/mini';
import { operations as access } from '../access/operations.ts';
import { operations as alerts } from '../alerts/operations.ts';
import { operations as business, businessUpdateBody, newBusinessBody } from '../business/operations.ts';
import { operations as changes } from '../changes/operations.ts';
import { covers, sitesCovering } from '../core/site.ts';
import { dayOf } from '../core/time.ts';
import { operations as databases } from '../databases/operations.ts';
import { operations as keys } from '../keys/operations.ts';
import type { Method, Operation } from '../operation.ts';
import { operations as sessions } from '../sessions/operations.ts';
import { operations as tokens } from '../tokens/operations.ts';
import { operations as usage } from '../usage/operations.ts';
import { operations as users } from '../users/operations.ts';
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
  request?: `${Method} /${string}`;
  /** The query for GET and DELETE, otherwise the body. Each field is an argument or an option. */
  input?: z.ZodMiniType | undefined;
  /** Maps an argument or option to its field if their names differ. */
  as?: Record<string, string>;
  /** The operation accepts an idempotency key, so the request is retry-safe. */
  takesKey?: boolean;
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

/** The arguments and options that stand for parameters of paths. */
const PARAMETERS = { business_id: 'ID', key_id: 'ID', access_id: 'ENTRY_ID', user_id: 'user_id' };

/** Returns the part of a command that follows from its operation. `own` names the parameters of the path that this command calls otherwise. */
function requestOf({ method, path, query, rules }: Operation, own: Partial<typeof PARAMETERS> = {}) {
  const names: Record<string, string> = { ...PARAMETERS, ...own };
  return {
    request: `${method} ${path.replace(/:(\w+)/g, (_, name) => `{${names[name]}}`)}`,
    input: rules[0].body ?? query?.schema,
    takesKey: rules.some(({ retry }) => retry === 'with_key'),
  } as Pick<Command, 'request' | 'input' | 'takesKey'>;
}

/** The numeric suffixes of the secrets' names (core/operator.ts). */
const SLOTS = ['1', '2', '3', '4'] as const;

/** Keyed by words and arguments. Commands can share the same words if their arguments differ. */
export const COMMANDS: Record<string, Command> = {
  'business create': {
    ...requestOf(business.createBusiness),
    does: 'Creates a business with a new token, or with a token and an id from another system.',
    shownBy: 'business list --user {user_id}',
  },
  'business list': {
    ...requestOf(business.listBusinesses),
    does: 'Lists all businesses, or those of one user.',
  },
  'business show ID': {
    ...requestOf(business.readBusiness),
    does: 'Shows a business, its domains, its limits and its former tokens.',
  },
  'business update ID': {
    ...requestOf(business.updateBusiness),
    does: 'Changes the given fields.',
  },
  'business status ID STATUS': {
    ...requestOf(business.updateBusiness),
    does: 'Sets the status. The token works only while it is active.',
    input: z.pick(businessUpdateBody.def.out, { status: true }),
    as: { STATUS: 'status' },
  },
  'business delete ID': {
    ...requestOf(business.deleteBusiness),
    does: 'Permanently deletes a business and everything that belongs to it. --confirm repeats its name.',
    as: { '--confirm': 'name' },
  },
  'business rotate-token ID': {
    ...requestOf(tokens.rotateToken),
    does: 'Replaces the token. Without --keep-old, all old tokens stop working immediately. With it, the latest one keeps working for that long.',
  },
  'business stop-former-tokens ID': {
    ...requestOf(tokens.stopFormerTokens),
    does: 'Stops former tokens that still work. The current token keeps working.',
  },
  'access list ID': { ...requestOf(access.readAccess), does: 'Shows a business with its registered domains.' },
  'access add ID SITE…': {
    ...requestOf(access.addAccess),
    does: 'Registers domains. The token works everywhere until the first one is registered, and then only on registered domains.',
    as: { 'SITE…': 'sites' },
  },
  'access remove ID ENTRY_ID': {
    ...requestOf(access.removeAccess),
    does: 'Removes one registered domain, by the id of its entry.',
  },
  'access clear ID': {
    ...requestOf(access.removeAllAccess),
    does: 'Removes all registered domains. The token then works on every site.',
  },
  'access check ID ORIGIN': {
    ...requestOf(access.readAccess),
    does: 'Shows whether a page with this origin may use the token, and which entry allows it.',
    shown: ({ status, access_list }: AccessList, { ORIGIN }) => {
      const sites = access_list.map(({ site }) => site);
      const origin = `${ORIGIN}`;
      return {
        allowed: status === 'active' && (sites.length === 0 || covers(new Set(sites), origin)),
        site: sitesCovering(origin).find((site) => sites.includes(site)) ?? null,
      };
    },
  },
  'access refused ID': {
    ...requestOf(access.readRefusedOrigins),
    does: 'Lists the origins that were refused in the last 90 days and would still be refused, or that were let in without sites.',
  },
  'access forget-refused ID': {
    ...requestOf(access.forgetRefusedOrigins),
    does: 'Empties the lists of refused and let-in origins.',
    shownBy: 'access refused {ID}',
  },
  'changes list ID': {
    ...requestOf(changes.readChanges),
    does: 'Lists the changes to a business and who made them, newest first.',
  },
  'changes list': {
    ...requestOf(changes.readUserChanges),
    does: "Lists the changes to a user's keys for all businesses and who made them, newest first.",
  },
  'alerts list ID': {
    ...requestOf(alerts.readAlerts),
    does: 'Lists when a business reached a threshold of a limit, newest first.',
  },
  'alerts list': {
    ...requestOf(alerts.readAllAlerts),
    does: 'Lists the alerts of all businesses, newest first in each database.',
  },
  'usage show ID': {
    ...requestOf(usage.readUsage),
    does: 'Shows the uses of each day (UTC), by default for the last 30 days.',
  },
  'usage totals': {
    ...requestOf(usage.readAllUsage),
    does: 'Lists how many uses each business had, by default in the last 30 days (UTC). With --ended, in the billing month that ended on that day.',
    // Fixes the end of the range, because all pages must cover the same days even if they are read past midnight.
    prepare: async (given) => ({ sent: 'ended' in given ? given : { to: dayOf(new Date()), ...given } }),
  },
  'usage lower ID USE=QUANTITY…': {
    ...requestOf(usage.lowerUses),
    does: 'Lowers the quantities of uses, by id.',
    as: { 'USE=QUANTITY…': 'uses' },
    prepare: readLowered,
    shownBy: 'changes list {ID}',
  },
  'usage import ID FILE': {
    ...requestOf(usage.importHistory),
    does: 'Imports a CSV file of date,count lines for days before today: all lines or none. Semicolons or tabs can also separate the fields.',
    as: { FILE: 'days' },
    prepare: readDays,
    shownBy: 'changes list {ID}',
  },
  'key create': {
    ...requestOf(keys.createKey),
    does: 'Creates an API key and prints it. It is not shown again.',
    shownBy: 'key list --user {user_id}',
  },
  'key list': {
    ...requestOf(keys.listKeys),
    does: 'Lists the keys of a user, including revoked and expired ones.',
  },
  'key revoke ID': {
    ...requestOf(keys.revokeKey),
    does: 'Revokes a key of a user, effective immediately.',
    shownBy: 'key list --user {user_id}',
  },
  'console-link create': {
    ...requestOf(sessions.createConsoleLink),
    does: "Creates a link that opens a user's console. It works once, within two minutes.",
  },
  'user export ID': {
    does: 'Prints what the lists contain about a user, one JSON object per line.',
    input: z.pick(newBusinessBody, { user_id: true }),
    as: { ID: 'user_id' },
    lines: (service, { user_id }) => exportUser(service, Number(user_id)),
  },
  'user erase ID': {
    ...requestOf(users.eraseUser, { user_id: 'ID' }),
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
    ...requestOf(databases.readDatabases),
    does: "Lists the databases: letter in credentials, size, yesterday's uses (UTC) and backlog.",
  },
};

type AccessList = { status: string; access_list: { site: string }[] };
