// What the operator is told when a command fails.

/** The operator asked for something that cannot be: exit code 2. Every other error: it was asked rightly and failed, 1. */
export class UsageError extends Error {}

/**
 * Why it failed, in one line: the words of the innermost cause. Around them Drizzle puts the statement with its parameters,
 * and others their stacks.
 */
export function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : {};
  return (cause ? reasonOf(cause) : '') || (message || String(error)).replace(/\n.*/s, '');
}
