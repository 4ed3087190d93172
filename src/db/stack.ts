// Errors as the log shows them.
import { DrizzleQueryError } from 'drizzle-orm';

/**
 * The stack of an error and of its causes, for the log. Drizzle wraps D1's error in one that quotes the bound values, so this takes
 * D1's own.
 */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return `${error}`;
  const { stack, cause } = error;
  if (error instanceof DrizzleQueryError) return stackOf(cause);
  const causes: unknown[] = error instanceof AggregateError ? error.errors : cause instanceof Error ? [cause] : [];
  return [stack, ...causes.map((cause) => `caused by ${stackOf(cause)}`)].join('\n');
}
