// The scheduled runs, and when they start, as wrangler.toml has it.

export const SCHEDULES = { alerts: '* * * * *', purge: '*/2 * * * *' } as const;
export type RunName = keyof typeof SCHEDULES;
