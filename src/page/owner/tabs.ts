// The tabs of a business, in order. The URL omits the first tab's name.
export const TABS = ['usage', 'domains', 'token', 'changes'] as const;
export type Tab = (typeof TABS)[number];
