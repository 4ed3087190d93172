// Rules of the fields of businesses. Each completes an error message that starts with the field's name.
import { errorOf, type FieldErrors } from '../core/conflict.ts';

/** Names the business, in case the caller lost the first response. */
export const usedKeyRule = (id: number): string =>
  `was already used for business ${id} with a different body: GET /business/${id} shows it, and PATCH changes it`;

/** The list of businesses covers these days: 28, and the 28 before, with which the console compares them. */
export const LISTED_DAYS = 56;

export type Overage = { overage?: number | null | undefined; page_overage?: boolean | undefined };
const FINITE_RULE = 'must not be true while overage is null: pages are public, so what they can cost must be bounded';
const NUMBER_RULE =
  'must not be null while page_overage is true: pages are public, so what they can cost must be bounded';

/** Returns the error if uses of pages could be counted without bound. */
export const overageErrors = (sent: Overage): FieldErrors =>
  changedOverageErrors(sent, { overage: 0, page_overage: false });
/** Like `overageErrors`, for a request that does not change what is `stored`. */
export function changedOverageErrors(sent: Overage, stored: Required<Overage>): FieldErrors {
  const { overage = stored.overage, page_overage = stored.page_overage } = sent;
  if (!page_overage || overage !== null) return {};
  return sent.page_overage ? errorOf('page_overage', FINITE_RULE) : errorOf('overage', NUMBER_RULE);
}
