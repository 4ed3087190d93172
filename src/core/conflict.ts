// What the operator asks for and cannot have, because of what is stored.

/** `rule` completes a sentence that starts with the name of the field: it says what would be right. */
export class Conflict extends Error {
  readonly field: string;
  constructor(field: string, rule: string) {
    super(`${field} ${rule}`);
    this.field = field;
  }
}

/** Names the business to correct, for whoever lost the response that had its id. */
export const usedKeyRule = (id: number): string =>
  `was already used for business ${id} with another body: GET /business/${id} shows it, and PATCH changes it`;
