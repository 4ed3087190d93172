// The operations of the service and who may use them (docs/api.md, "Credentials"). db/permission.ts binds a row of this table to
// the SQL rule that decides every call.

type Rule = {
  /** The kind of path. It decides how an unknown business is refused. */
  resource: 'usage' | 'access';
  /** The verb phrase for a refusal: "A business token cannot …". */
  does: string;
  /** Whether a business token may do this. */
  token: boolean;
  /** Whether an API key may do this while the business is not active. (Its token is then no valid credential.) */
  inactive: boolean;
  /** Whether doing this twice has the same effect as doing it once. */
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

/** Why a call is refused, in the order in which the reasons are checked. */
export type Refusal =
  | 'unknown_business'
  | 'token_not_allowed'
  | 'inactive_business'
  | 'origin_missing'
  | 'origin_not_authorized';
