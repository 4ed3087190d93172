// Errors that name a field of the request, and the error for a request that conflicts with stored data.

/** Error messages by dotted field path. */
export type FieldErrors = Record<string, string[]>;

/** `rule` describes valid input. It completes a sentence that starts with the field's name. */
export const errorOf = (field: string, rule: string): FieldErrors => ({ [field]: [`${field} ${rule}`] });

/** The request's `field` conflicts with stored data. `rule` as for `errorOf`. */
export class Conflict extends Error {
  readonly field: string;
  constructor(field: string, rule: string) {
    super(`${field} ${rule}`);
    this.field = field;
  }
}
