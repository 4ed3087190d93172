-- The uses that came with an id, so that each counts once: a digest of the id and not its text, the day on which it was
-- counted, and the day on which it was recorded, by which it is purged. It refers to no business: daily_usage, which is written
-- with it, does, and each use would pay a row read to be told again.
CREATE TABLE ledger (
  business_id INTEGER NOT NULL,
  digest      BLOB    NOT NULL CHECK (length(digest) = 16),
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  recorded_on TEXT    NOT NULL CHECK (recorded_on LIKE '____-__-__'),
  PRIMARY KEY (business_id, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX ledger_recorded_on ON ledger (recorded_on);
