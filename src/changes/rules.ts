// Rules of the list of changes.
import type { FieldErrors } from '../core/conflict.ts';

/** Returns the error of a range of days that ends before it starts. */
export const orderErrors = ({ from, to }: { from?: string | undefined; to?: string | undefined }): FieldErrors =>
  from && to && from > to ? { from: [`from must not be after to (${to})`] } : {};
