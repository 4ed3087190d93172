// Rules of the list of changes, and the search in it.
import { errorOf, type FieldErrors } from '../core/field-errors.ts';

export const KEEP_CHANGES_DAYS = 400;
/** Long enough for any host, which has at most 253 characters. */
export const MAX_SEARCH_LENGTH = 255;

/**
 * Returns the variants of a search string to look for in changes: lower case, upper case, and Punycode (RFC 3492), the form in which
 * domains are stored. The last two are null for ASCII text, because SQLite folds the case of A to Z. Punycode is also null if no host can
 * contain the text.
 */
export function searchVariants(search: string): [text: string, upperCase: string | null, domain: string | null] {
  if (!/[^\0-\x7f]/.test(search)) return [search, null, null];
  const [, scheme = '', host = ''] = /^(https?:\/\/)?(.*)$/s.exec(search) ?? [];
  const domain = URL.parse(`https://${host}`)?.hostname;
  return [search.toLowerCase(), search.toUpperCase(), domain ? scheme + domain : null];
}

/** Returns the error of a range of days that ends before it starts. */
export const orderErrors = ({ from, to }: { from?: string | undefined; to?: string | undefined }): FieldErrors =>
  from && to && from > to ? errorOf('from', `must not be after to (${to})`) : {};
