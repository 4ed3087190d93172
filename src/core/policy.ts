// What can be asked of the service, and by whom (contract, sections 1 and 2). The database applies it: `grantFor` in
// db/grant.ts makes a row of this table into the one predicate that both the refusals and every write go by.

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
  report_uses: { resource: 'usage', does: 'report past uses', token: false, inactive: false, repeatable: true },
  read_access: { resource: 'access', does: 'read access domains', token: false, inactive: true, repeatable: true },
  change_access: { resource: 'access', does: 'change access domains', token: false, inactive: true, repeatable: true },
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof POLICY;

/** Why a call is refused, in the order in which the reasons are looked at. */
export type Refusal =
  | 'unauthenticated'
  | 'unknown_business'
  | 'token_not_allowed'
  | 'inactive_business'
  | 'origin_missing'
  | 'origin_not_authorized';
