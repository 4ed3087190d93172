// Content negotiation between JSON and CSV.
import { parseAccept } from 'hono/utils/accept';

/**
 * Returns whether an `Accept` header prefers CSV to JSON (RFC 9110 §12.5.1). The most specific matching range sets a type's weight. Ties go
 * to the type listed first. A full wildcard means JSON.
 */
export function prefersCsv(accept = ''): boolean {
  if (!/text/i.test(accept)) return false; // most callers send */*, which need not be parsed
  const ranges = parseAccept(accept).map(({ type, q }) => ({ type: type.toLowerCase(), q }));
  const rankOf = (...specificFirst: string[]) => {
    for (const type of specificFirst) {
      const position = ranges.findIndex((range) => range.type === type); // ranges with equal weights are in header order
      if (position !== -1) return { q: ranges[position]?.q ?? 0, position };
    }
    return { q: 0, position: ranges.length };
  };
  const csv = rankOf('text/csv', 'text/*');
  const json = rankOf('application/json', 'application/*', '*/*');
  return csv.q > json.q || (csv.q > 0 && csv.q === json.q && csv.position < json.position);
}
