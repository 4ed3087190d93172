// The views of a business.

/** In their order. The first has no name in the address. */
export const ROOMS = ['usage', 'domains', 'token', 'changes'] as const;
export type Room = (typeof ROOMS)[number];
