// The cron expressions of the scheduled runs. wrangler.toml has the same ones.

export const SCHEDULES = { alerts: '* * * * *', purge: '*/2 * * * *' } as const;
export type RunName = keyof typeof SCHEDULES;
