// What the operator sees when a command fails.

/** The command line is wrong: exit code 2. Any other error is a command that failed: exit code 1. */
export class UsageError extends Error {}

/** A file is wrong, with a line for each mistake. */
export class InvalidFile extends Error {
  constructor(mistakes: string[]) {
    const shown = mistakes.slice(0, MAX_MISTAKES);
    const rest = mistakes.length - shown.length;
    super([...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n'));
  }
}
const MAX_MISTAKES = 20;

/**
 * Why it failed, in one line: the message of the innermost cause. Outer errors add SQL with its parameters, or stacks.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof InvalidFile) return error.message;
  const { message, cause } = error instanceof Error ? error : {};
  // wrangler also gives objects as causes, which say nothing.
  return (cause instanceof Error ? reasonOf(cause) : '') || (message || String(error)).replace(/\n.*/s, '');
}
