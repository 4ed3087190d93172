// Recognizes the databases of versions before 1.0.0-rc. Their tables are different, so the migrations cannot be applied to them.

/** Whether the applied migrations are those of a version before 1.0.0-rc. Their first one has had another name since. */
export const isSnapshot = (applied: string[]): boolean => applied.includes('0001_init.sql');
