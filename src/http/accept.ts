// Which type of a response the caller prefers.
import { parseAccept } from 'hono/utils/accept';

/**
 * Whether an `Accept` header prefers CSV to JSON (RFC 9110 §12.5.1). A type's weight comes from the most specific range that matches
 * it. The higher weight wins, and of equal ones the type that is named first. The range of all types, with two stars, means JSON.
 */
export function prefersCsv(accept = ''): boolean {
  if (!/text/i.test(accept)) return false; // most callers send */*, which need not be parsed
  const ranges = parseAccept(accept).map(({ type, q }) => ({ type: type.toLowerCase(), q }));
  const rankOf = (...specificFirst: string[]) => {
    for (const type of specificFirst) {
      const position = ranges.findIndex((range) => range.type === type); // those with equal weights are in the order of the header
      if (position !== -1) return { q: ranges[position]?.q ?? 0, position };
    }
    return { q: 0, position: ranges.length };
  };
  const csv = rankOf('text/csv', 'text/*');
  const json = rankOf('application/json', 'application/*', '*/*');
  return csv.q > json.q || (csv.q > 0 && csv.q === json.q && csv.position < json.position);
}
