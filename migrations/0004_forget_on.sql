-- A row of the ledger says when it is forgotten: so many days after it was recorded, 40 or, for what a page sent with a token, 2.
-- What is stored already has the default. The column is computed, so nothing has to be rewritten here, and the version that still
-- runs while this is applied need not know of it.
ALTER TABLE ledger ADD COLUMN keep_days INTEGER NOT NULL DEFAULT 40 CHECK (keep_days > 0);
ALTER TABLE ledger ADD COLUMN forget_on TEXT GENERATED ALWAYS AS (date(recorded_on, '+' || keep_days || ' days')) VIRTUAL;

DROP INDEX ledger_recorded_on;
CREATE INDEX ledger_forget_on ON ledger (forget_on);
