// What the operator sees when a command fails.

/** The command line is wrong: exit code 2. Any other error is a command that failed: exit code 1. */
export class UsageError extends Error {}

/**
 * Why it failed, in one line: the message of the innermost cause. Outer errors add SQL with its parameters, or stacks.
 */
export function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : {};
  return (cause ? reasonOf(cause) : '') || (message || String(error)).replace(/\n.*/s, '');
}
