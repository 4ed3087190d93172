// Requests that conflict with stored data.

/** Error messages by the dotted path of the field. */
export type FieldErrors = Record<string, string[]>;

/** `rule` says what would be valid. It completes a sentence that starts with the name of the field. */
export class Conflict extends Error {
  readonly field: string;
  constructor(field: string, rule: string) {
    super(`${field} ${rule}`);
    this.field = field;
  }
}

/** Names the business for a caller who lost the first response. */
export const usedKeyRule = (id: number): string =>
  `was already used for business ${id} with a different body: GET /business/${id} shows it, and PATCH changes it`;

/** Why a user cannot be erased. */
export const ownsRule = (business_id: number): string =>
  `must be a user without a business: delete business ${business_id} first, or transfer it to another user`;
export const RECENT_RULE = 'must be a user for whom nothing was created in the last minute: retry later';
