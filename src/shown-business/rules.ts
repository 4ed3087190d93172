// How many replaced tokens of a business can keep working.

/** Beyond it, the oldest tokens stop working. */
export const MAX_FORMER_TOKENS = 5;
