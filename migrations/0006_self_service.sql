-- What owners need to help themselves. Columns that are added have defaults, so the version that still runs need not know of them.

-- Narrow keys: for one business, or only for reading, or both. NULL: every business of the user. last_used_on is the day (UTC) of the
-- last call that was permitted.
ALTER TABLE api_keys ADD COLUMN business_id INTEGER REFERENCES businesses (id);
ALTER TABLE api_keys ADD COLUMN read_only INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1));
ALTER TABLE api_keys ADD COLUMN last_used_on TEXT CHECK (last_used_on LIKE '____-__-__');
CREATE INDEX api_keys_business_id ON api_keys (business_id);

-- The most uses of a day and of a month (UTC). NULL: no limit; 0: none at all.
ALTER TABLE businesses ADD COLUMN daily_limit INTEGER CHECK (daily_limit >= 0);
ALTER TABLE businesses ADD COLUMN monthly_limit INTEGER CHECK (monthly_limit >= 0);

-- Origins that were refused although the credential was valid: at most 50 for each business, for 90 days. `count` is at least how
-- often; not every refusal is written. There is no index on last_seen: a refusal must cost few rows, and the purge looks at some
-- businesses in each minute of the day.
CREATE TABLE refused_origins (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  origin      TEXT    NOT NULL CHECK (origin LIKE 'http%://_%'),
  count       INTEGER NOT NULL CHECK (count > 0),
  first_seen  TEXT    NOT NULL,
  last_seen   TEXT    NOT NULL,
  PRIMARY KEY (business_id, origin)
) STRICT, WITHOUT ROWID;

-- Who changed what: of a business, or of a user (his keys for all businesses). `before` and `after` are JSON objects with only what
-- changed, never a secret. Kept for 400 days. It refers to no business: one row says that a business was deleted.
CREATE TABLE changes (
  subject    TEXT    NOT NULL CHECK (subject IN ('business', 'user')),
  subject_id INTEGER NOT NULL,
  id         INTEGER NOT NULL, -- 1, 2, 3 … for each subject
  at         TEXT    NOT NULL,
  actor      TEXT    NOT NULL,
  action     TEXT    NOT NULL,
  before     TEXT,
  after      TEXT,
  PRIMARY KEY (subject, subject_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_at ON changes (at);

-- The tokens of deleted businesses, by SHA-256 (hex), so that none is imported again.
CREATE TABLE retired_tokens (
  hash TEXT NOT NULL PRIMARY KEY CHECK (length(hash) = 64)
) STRICT, WITHOUT ROWID;
