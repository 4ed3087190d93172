// The operator's commands. Most follow from an operation and the words of its description. Their arguments and options come from its path
// and schema, so a new field becomes an option automatically.
import * as z from 'zod/mini';
import { businessUpdateBody, newBusinessBody } from '../business/operations.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../core/policy.ts';
import { covers, sitesCovering } from '../core/site.ts';
import { dayOf } from '../core/time.ts';
import type { CommandWords } from '../description/paths.ts';
import { DESCRIPTIONS } from '../descriptions.ts';
import { choices } from '../input.ts';
import type { Method, Operation, PathParameter } from '../operation.ts';
import { OPERATIONS } from '../operations.ts';
import type { Data, Service } from './client.ts';
import { readDays } from './days.ts';
import { exportUser } from './export.ts';
import { createOperatorKey } from './operator-keys.ts';
import { readLowered } from './uses.ts';

export type Given = Record<string, unknown>;

export type Command = Omit<CommandWords, 'usage'> & {
  /** The help text: one sentence. */
  summary: string;
  /** Method and path. `{ID}` is an argument, `{user_id}` a required option. Absent for commands that work offline. */
  request?: `${Method} /${string}`;
  /** The query for GET and DELETE, otherwise the body. Each field is an argument or an option. */
  input?: z.ZodMiniType | undefined;
  /** The operation accepts an idempotency key, so the request is retry-safe. */
  takesKey?: boolean;
  /** Converts the given values for the request. `inWords` rewords errors about them. */
  prepare?: (given: Given) => Promise<{ sent: Given; inWords?: (error: string) => string }>;
  /** Yields the output line by line, in place of the response to one request. */
  lines?: (service: Service, given: Given) => AsyncGenerator<string>;
  /** Converts the response's `data` to the output. Default: `data` unchanged. */
  shown?: (data: Data, given: Given) => unknown;
};

/** The arguments and options that stand for parameters of paths. */
const PARAMETERS: Record<PathParameter, string> = {
  business_id: 'ID',
  key_id: 'ID',
  access_id: 'SITE_ID',
  former_id: 'FORMER_ID',
  user_id: 'user_id',
};

/** Returns the part of a command that follows from its operation. */
function requestOf({ method, path, query, rules }: Operation) {
  return {
    request: `${method} ${path.replace(/:(\w+)/g, (_, name: PathParameter) => `{${PARAMETERS[name]}}`)}`,
    input: rules[0].body ?? query?.schema,
    takesKey: rules.some(({ retry }) => retry === 'with_key'),
  } as Pick<Command, 'request' | 'input' | 'takesKey'>;
}

/** The operations whose input is not what is given. */
const PREPARED: { readonly [Id in keyof typeof OPERATIONS]?: NonNullable<Command['prepare']> } = {
  // Fixes the end of the range, because all pages must cover the same days even if they are read past midnight.
  readAllUsage: async (given) => ({ sent: 'ended' in given ? given : { to: dayOf(new Date()), ...given } }),
  lowerUses: readLowered,
  importHistory: readDays,
};

/** Those that send the request of one operation. */
const OF_OPERATIONS = Object.values<Operation>(OPERATIONS).flatMap((operation): [usage: string, Command][] => {
  const id = operation.id as keyof typeof OPERATIONS;
  const { summary, command } = DESCRIPTIONS[id];
  if (command === undefined) return [];
  const { usage, ...words } = command;
  const prepare = PREPARED[id];
  return [[usage, { ...requestOf(operation), summary, ...words, ...(prepare && { prepare }) }]];
});

/** The numeric suffixes of the secrets' names (core/operator.ts). */
const SLOTS = ['1', '2', '3', '4'] as const;

/** Those that send no request, a part of one, or several. */
const OTHERS: Record<string, Command> = {
  'access check ID ORIGIN': {
    ...requestOf(OPERATIONS.readAccess),
    summary: 'Show whether a page with this origin may use the token, and which site allows it',
    shown: ({ status, access_list }: AccessList, { ORIGIN }) => {
      const sites = access_list.map(({ site }) => site);
      const origin = `${ORIGIN}`;
      return {
        allowed: status === 'active' && (sites.length === 0 || covers(new Set(sites), origin)),
        site: sitesCovering(origin).find((site) => sites.includes(site)) ?? null,
      };
    },
  },
  'business status ID STATUS': {
    ...requestOf(OPERATIONS.updateBusiness),
    summary: 'Set the status: the token works only while it is active',
    input: z.pick(businessUpdateBody.def.out, { status: true }),
    as: { STATUS: 'status' },
  },
  'user export ID': {
    summary: 'Print what the lists contain about a user, one JSON object per line',
    input: z.pick(newBusinessBody, { user_id: true }),
    as: { ID: 'user_id' },
    lines: (service, { user_id }) => exportUser(service, Number(user_id)),
  },
  'operator-key create': {
    summary: 'Create an operator key, and print it this once with the command that stores its hash',
    input: z.object({
      role: z.optional(z.enum(OPERATOR_ROLES, `must be ${choices.format(OPERATOR_ROLES)}`)),
      slot: z.optional(z.enum(SLOTS, 'must be a number from 1 to 4, such as 2')),
    }),
    shown: (_, { role = 'full', slot = '1' }) =>
      createOperatorKey(role as OperatorRole, `OPERATOR_KEY_${slot as (typeof SLOTS)[number]}`),
  },
};

/** By words and arguments, in alphabetical order. Commands can share the same words if their arguments differ. */
export const COMMANDS: Record<string, Command> = Object.fromEntries(
  [...OF_OPERATIONS, ...Object.entries(OTHERS)].toSorted(([one], [other]) => (one < other ? -1 : 1)),
);

type AccessList = { status: string; access_list: { site: string }[] };
