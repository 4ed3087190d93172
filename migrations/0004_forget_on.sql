-- A row of the ledger says when it is forgotten: so many days after it was recorded, 40 or, for what a page sent with a token, 2.
-- Rows that are stored already have the default. The column is computed, so no row is written, and the version that still runs
-- while this is applied need not know about it.
ALTER TABLE ledger ADD COLUMN keep_days INTEGER NOT NULL DEFAULT 40 CHECK (keep_days > 0);
ALTER TABLE ledger ADD COLUMN forget_on TEXT GENERATED ALWAYS AS (date(recorded_on, '+' || keep_days || ' days')) VIRTUAL;

DROP INDEX ledger_recorded_on;
CREATE INDEX ledger_forget_on ON ledger (forget_on);
