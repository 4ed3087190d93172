// Rules of the fields of businesses. Each completes an error message that starts with the field's name.
import type { FieldErrors } from '../core/conflict.ts';
import { MISLEADING } from '../core/fields.ts';
import { MAX_PERCENT, MAX_THRESHOLDS } from '../core/limits.ts';

/** Names the business, in case the caller lost the first response. */
export const usedKeyRule = (id: number): string =>
  `was already used for business ${id} with a different body: GET /business/${id} shows it, and PATCH changes it`;

export const MAX_URL_LENGTH = 2048;
export const URL_RULE = `must be an http or https URL of at most ${MAX_URL_LENGTH} characters`;
export const isUrl = (text: string): boolean =>
  text.length <= MAX_URL_LENGTH &&
  !MISLEADING.test(text) &&
  /^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) &&
  URL.canParse(text);

/** The list of businesses covers these days: 28, and the 28 before, with which the console compares them. */
export const LISTED_DAYS = 56;

export const STATUSES = ['active', 'suspended', 'closed'] as const;
export const STATUS_RULE = 'must be active, suspended or closed';

export const MAX_BILLING_DAY = 28;
export const BILLING_DAY_RULE = `must be a day of the month from 1 to ${MAX_BILLING_DAY}`;

export const PERCENT_RULE = `must be a whole percentage from 1 to ${MAX_PERCENT}, such as 80`;
export const ALERT_AT_RULE = `must be a list of 1 to ${MAX_THRESHOLDS} percentages in ascending order, such as [50,80,100]`;
export const isAscending = (list: number[]): boolean => list.every((value, index) => value > (list[index - 1] ?? 0));

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
  return sent.page_overage
    ? { page_overage: [`page_overage ${FINITE_RULE}`] }
    : { overage: [`overage ${NUMBER_RULE}`] };
}

/** The highest limit. The lowest is 0. */
export const MAX_LIMIT = 1e12;

export const TOKEN_RULE =
  'must be 24 to 255 characters from A-Z a-z 0-9 . _ ~ + / = - and must not start with bua_ in upper or lower case';
