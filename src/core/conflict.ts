// Errors for requests that conflict with stored data.

/** Error messages by dotted field path. */
export type FieldErrors = Record<string, string[]>;

/** `rule` describes valid input. It completes a sentence that starts with the field's name. */
export class Conflict extends Error {
  readonly field: string;
  constructor(field: string, rule: string) {
    super(`${field} ${rule}`);
    this.field = field;
  }
}

/** Names the business, in case the caller lost the first response. */
export const usedKeyRule = (id: number): string =>
  `was already used for business ${id} with a different body: GET /business/${id} shows it, and PATCH changes it`;

/** Explains why a user who still owns a business cannot be erased. */
export const ownsRule = (business_id: number): string =>
  `must be a user without a business: delete business ${business_id} first, or transfer it to another user`;
export const RECENT_RULE = 'must be a user for whom nothing was created in the last minute: retry later';
