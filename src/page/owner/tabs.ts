// The tabs of a business, in order. The first needs no name in the address.
export const TABS = ['usage', 'domains', 'token', 'changes'] as const;
export type Tab = (typeof TABS)[number];
