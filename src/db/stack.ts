// Formats errors for the log.
import { DrizzleQueryError } from 'drizzle-orm';

/** Returns the stacks of an error and its causes. Skips Drizzle's own error, which quotes the bound values. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return `${error}`;
  const { stack, cause } = error;
  if (error instanceof DrizzleQueryError) return stackOf(cause);
  const causes: unknown[] = error instanceof AggregateError ? error.errors : cause instanceof Error ? [cause] : [];
  return [stack, ...causes.map((cause) => `caused by ${stackOf(cause)}`)].join('\n');
}
