// A request that conflicts with what is stored.

/** What is wrong and what would be right, by field: its path with dots. */
export type FieldErrors = Record<string, string[]>;

/** `rule` completes a sentence that starts with the name of the field: it says what would be right. */
export class Conflict extends Error {
  readonly field: string;
  constructor(field: string, rule: string) {
    super(`${field} ${rule}`);
    this.field = field;
  }
}

/** Names the business, for a caller who lost the first response. */
export const usedKeyRule = (id: number): string =>
  `was already used for business ${id} with another body: GET /business/${id} shows it, and PATCH changes it`;
