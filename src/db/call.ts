// A call: its shape, which determines the SQL of its statements, and the values that they bind.
import { sql } from 'drizzle-orm';
import type { CallerKind } from '../core/credential.ts';
import type { OperatorRole, Rule } from '../core/policy.ts';
import { sitesCovering } from '../core/site.ts';
import { formatTimestamp } from '../core/time.ts';
import type { Spending, WorkClass } from '../core/work.ts';
import { type Bindable, placeholders } from './text.ts';

/** The caller, rule, origin and time of a request. Created by the guard. */
export type Call = {
  /** A random UUID: the mark that the call's change writes (change.ts), and all but the last digit of the ids of the alerts that it stores. */
  id: string;
  rule: Rule;
  /**
   * `lookupValue` is the hash of an API key or a code, or a business token in plain text. An operator key is not looked up. The list of
   * changes shows its `name`.
   */
  credential:
    | { kind: Exclude<CallerKind, 'operator'>; lookupValue: string }
    | { kind: 'operator'; name: string; role: OperatorRole };
  /**
   * The id in the path, or 0 if the path contains no valid id. No business has the id 0. It is never null. Otherwise, if the join found no
   * business, the rule would compare null with null and permit the call.
   */
  business_id: number;
  /**
   * True if the path names a business. In that case, the permission requires that the caller may access it. False for the statements of an
   * operator's call that do not concern this business.
   */
  namesBusiness: boolean;
  /** The id of the user in the path. 0, which no user has, if the path contains no valid id. */
  user_id: number;
  /** True if the path names a user. In that case, a key must be that user's, and be for all of the user's businesses. */
  namesUser: boolean;
  /** Null if the caller is a server. */
  origin: string | null;
  /** True if the request contained no `Origin`, and the browser only marked it as same-origin. `origin` is then the service's own. */
  isOriginDerived: boolean;
  /** The service's own origin, from which API keys are always accepted. */
  ownOrigin: string;
  now: Date;
  /** The time at which the request times out, in milliseconds since 1970. A batch that starts later writes nothing. */
  deadline: number;
  /** What the call spends of its owner's allowance. Absent if that is nothing, for operators, and before the input is checked. */
  work?: Spending;
};

export const CALL_VALUES = [
  'call_id',
  'business_id',
  'user_id',
  'lookup_value',
  'operator',
  'operator_role',
  'today',
  'now',
  'deadline',
] as const;
export type CallValue = (typeof CALL_VALUES)[number];
export const $call = placeholders(CALL_VALUES);

/** Tests whether a statement starts before the deadline, by the database's clock. Steps that depend on an earlier write skip the test. */
export const isBeforeDeadline = sql`unixepoch('subsec') < ${$call.deadline}`;

/** The parts of a call that determine the SQL of its statements. In practice, there are a few dozen shapes. */
export type CallShape = {
  caller: CallerKind;
  rule: Rule;
  namesBusiness: boolean;
  namesUser: boolean;
  /** Exempt: the origin is not checked. Missing: the request contains none. Sent: one of the business's sites, if any, must cover it. */
  origin: 'exempt' | 'missing' | 'sent';
  /** The number of sites that could cover the origin. */
  candidates: number;
  /** The allowance of the owner that the call needs. */
  work?: WorkClass;
};

/** The name of the placeholder for a site that could cover the origin. */
export const candidate = (index: number) => `site_${index}`;

const shapes = new Map<Rule, Map<string, CallShape>>();
/** Returns the one object that stands for this shape, so that statements can look up their SQL by it. */
function shared(shape: CallShape): CallShape {
  const { rule, ...others } = shape;
  const ofRule = shapes.get(rule) ?? new Map<string, CallShape>();
  const key = Object.values(others).join(' ');
  const known = ofRule.get(key) ?? shape;
  shapes.set(rule, ofRule.set(key, known));
  return known;
}

/** Splits a call into its shape and the values that its statements bind. */
export function splitCall(call: Call) {
  const { rule, credential, namesBusiness, namesUser, origin } = call;
  const { kind } = credential;
  const timestamp = formatTimestamp(call.now);
  const isExempt = kind !== 'token' && (origin === null || origin === call.ownOrigin);
  const sites = origin === null || isExempt ? [] : sitesCovering(origin);
  const shape = shared({
    caller: kind,
    rule,
    namesBusiness,
    namesUser,
    origin: isExempt ? 'exempt' : origin === null || call.isOriginDerived ? 'missing' : 'sent',
    candidates: sites.length,
    ...(call.work && { work: call.work.class }),
  });
  const values: Record<string, Bindable> = {
    call_id: call.id,
    business_id: call.business_id,
    user_id: call.user_id,
    lookup_value: kind === 'operator' ? null : credential.lookupValue,
    operator: kind === 'operator' ? credential.name : null,
    operator_role: kind === 'operator' ? credential.role : null,
    today: timestamp.slice(0, 10),
    now: timestamp,
    deadline: call.deadline / 1000,
  } satisfies Record<CallValue, Bindable>;
  for (const [index, site] of sites.entries()) values[candidate(index)] = site;
  return { shape, values };
}
