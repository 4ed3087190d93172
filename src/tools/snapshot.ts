// Recognizes the databases of versions before 1.0.0-rc. Their tables are different, so the migrations cannot be applied to them.

/** Reads `is_snapshot`: 1 if a version before 1.0.0-rc created the database. Their first migration has had another name since. */
export const SNAPSHOT_SQL = "select exists (select 1 from d1_migrations where name = '0001_init.sql') as is_snapshot";
