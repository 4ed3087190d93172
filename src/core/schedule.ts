// The cron expressions of the scheduled runs. They must match wrangler.toml.

export const SCHEDULES = { alerts: '* * * * *', purge: '*/2 * * * *' } as const;
export type RunName = keyof typeof SCHEDULES;
