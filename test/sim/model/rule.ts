// What the model knows of an operation. Written by hand after docs/api.md ("Basics").
import type { Answer, Call } from './call.ts';
import type { Check, Parameters } from './input.ts';

export type Rule = {
  who: string;
  /** Completes "A business token cannot …" and "Only the operator can …". */
  does: string;
  /** Whether the owner may do it while the business is not active. */
  inactive: boolean;
  /** When a retry is safe. `never` rejects an Idempotency-Key. Every operation says it, so that a forgotten answer does not compile. */
  retry: 'always' | 'with_key' | 'never';
  /** Its routes, and what each answers to a call that is permitted and whose input is right. */
  on: Record<string, (call: Call) => Answer>;
  /** The parameters of the query. None by default. */
  query?: Parameters;
  /** The body of POST, PUT and PATCH, and whether it may be empty. Without it, a body must be empty. */
  body?: [check: Check, mayBeEmpty?: true];
};
/** The operations of a resource, by their names in the log. */
export const rulesOf = <Name extends string>(rules: Record<Name, Rule>): Record<Name, Rule> => rules;
