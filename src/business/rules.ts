// Rules of the fields of businesses. Each completes an error message that starts with the field's name.
import { errorOf, type FieldErrors } from '../core/field-errors.ts';

/** Names the business, in case the caller lost the first response. */
export const usedKeyRule = (id: number): string =>
  `was already used for business ${id} with a different body: GET /business/${id} shows it, and PATCH changes it`;

export const UNUSED_TOKEN_RULE = 'must not be a current or former token of any business';

/** Of the list of businesses. */
export const MAX_PER_PAGE = 50;
/** The list of businesses covers today, the 28 full days before it, and the 28 days with which the console compares them. */
export const LISTED_DAYS = 57;

export type Overage = { overage?: number | null | undefined; page_overage?: boolean | undefined };
export const FINITE_RULE =
  'must not be true while overage is null: pages are public, so what they can cost must be bounded';
export const NUMBER_RULE =
  'must not be null while page_overage is true: pages are public, so what they can cost must be bounded';

/** Returns the error if uses of pages could be counted without bound. */
export const overageErrors = ({ overage, page_overage }: Overage): FieldErrors =>
  page_overage && overage === null ? errorOf('page_overage', FINITE_RULE) : {};

export const NONE_PENDING_RULE = 'must not be null: no change of the limits is pending';
export const otherDateRule = (pending: string): string =>
  `must be ${pending}, the date of the pending change, or null, which cancels it`;

const NEXT_MONTH = 'next_month';
type Dated = { limits_from?: string | null | undefined };

/** Returns the errors of a change of limits from a later day on. Only the fields `dated` can be sent with `limits_from`. */
export function datedErrors({ limits_from, ...others }: Dated, dated: string[], today: string): FieldErrors {
  if (limits_from === undefined) return {};
  const names = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : name));
  const wrong = names.filter(
    (name) => !dated.includes(name) && !(name === 'billing_day' && limits_from === NEXT_MONTH),
  );
  if (limits_from === null)
    return names.length === 0
      ? {}
      : errorOf('limits_from', 'must be the only field if it is null, which cancels the pending change');
  if (limits_from !== NEXT_MONTH && limits_from < today)
    return errorOf('limits_from', `must be ${NEXT_MONTH}, or today or a later date: today is ${today}`);
  if (wrong.length > 0)
    return Object.assign(
      {},
      ...wrong.map((name) =>
        errorOf(
          name,
          `must not be sent with limits_from, which only limits can accompany, and billing_day if it is ${NEXT_MONTH}`,
        ),
      ),
    );
  return names.length === 0 ? errorOf('limits_from', 'must be sent with at least one limit') : {};
}

export const NO_MONTHLY_RULE = 'must be a month in which the business has a monthly limit';
export const USED_EXTRA_RULE = 'was already used for another extra of this business';
/** The extra of a month is never negative, and never higher than the highest limit. */
export const extraRule = (extra: number, most: number): string =>
  `must be a number from ${-extra} to ${most - extra}: ${extra} were added to this month`;
