// The operations of the service, and who may use them (docs/api.md, "Credentials"). The database applies it: db/permission.ts
// makes it the one rule by which calls are refused and by which every statement reads and writes.

type Rule = {
  /** What the path is about: it decides how an unknown business is refused. */
  resource: 'usage' | 'access';
  /** What the operation does, in the words of a refusal. */
  does: string;
  /** Whether a business token may. */
  token: boolean;
  /** Whether it may be done for a business that is not active. */
  inactive: boolean;
  /** Whether asking twice does no more than asking once. */
  repeatable: boolean;
};

export const POLICY = {
  read_usage: { resource: 'usage', does: 'read usage', token: true, inactive: true, repeatable: true },
  record_use: { resource: 'usage', does: 'record a use', token: true, inactive: false, repeatable: false },
  record_uses: { resource: 'usage', does: 'report past uses', token: false, inactive: false, repeatable: true },
  read_access: { resource: 'access', does: 'read access domains', token: false, inactive: true, repeatable: true },
  change_access: { resource: 'access', does: 'change access domains', token: false, inactive: true, repeatable: true },
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof POLICY;

/** Why a call is refused, in the order in which the reasons are looked at. */
export type Refusal =
  | 'unknown_business'
  | 'token_not_allowed'
  | 'inactive_business'
  | 'origin_missing'
  | 'origin_not_authorized';
