// Which form of a response the caller prefers.
import { parseAccept } from 'hono/utils/accept';

/**
 * Whether an `Accept` header prefers CSV to JSON (RFC 9110 §12.5.1): a higher weight, or an equal one and named first. What matches
 * both, such as a star, means JSON.
 */
export function prefersCsv(accept: string | undefined): boolean {
  const ranges = parseAccept(accept ?? '').filter(({ q }) => q > 0);
  const first = ranges
    .sort((a, b) => b.q - a.q)
    .find(({ type }) => /^(?:\*\/\*|application\/(?:\*|json)|text\/(?:\*|csv))$/i.test(type));
  return first !== undefined && /^text\//i.test(first.type);
}
