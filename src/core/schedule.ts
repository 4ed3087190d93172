// When the scheduled runs start, and what the plan allows an invocation of them.

export const PURGE_MINUTES = 2;
/** The cron expressions. They must match wrangler.toml. */
export const SCHEDULES = { alerts: '* * * * *', purge: `*/${PURGE_MINUTES} * * * *` } as const;
/** The free plan allows ten databases, and 50 statements or requests in an invocation. With more databases, an invocation may make 1,000. */
export const FREE_DATABASES = 10;
/** What a run may make with this many databases. The last of them stores its end. */
export const subrequestsWith = (databases: number): number => (databases > FREE_DATABASES ? 999 : 49);
export type RunName = keyof typeof SCHEDULES;
