-- Businesses and who may use their tokens where. AUTOINCREMENT: callers see these ids, so none is ever given twice.
-- Timestamps are text, ISO 8601 UTC with six fractional digits and Z; days are text, YYYY-MM-DD, UTC.

CREATE TABLE businesses (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id       INTEGER NOT NULL,
  name          TEXT    NOT NULL,
  main_domain   TEXT    NOT NULL,
  site          TEXT    NOT NULL,
  country_id    INTEGER NOT NULL,
  business_size TEXT    NOT NULL,
  token         TEXT    NOT NULL UNIQUE CHECK (length(token) BETWEEN 24 AND 255),
  status        TEXT    NOT NULL,
  created_at    TEXT    NOT NULL,
  updated_at    TEXT    NOT NULL
) STRICT;

CREATE INDEX businesses_user_id ON businesses (user_id);

-- The sites of a business: canonical origins, compared byte for byte with what a browser sends.
CREATE TABLE access (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  site        TEXT    NOT NULL CHECK (site LIKE 'http%://_%'),
  created_at  TEXT    NOT NULL,
  updated_at  TEXT    NOT NULL,
  UNIQUE (business_id, site)
) STRICT;

-- API keys: the SHA-256 (hex) and what is needed to recognise a key in a list, never the key.
CREATE TABLE api_keys (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id    INTEGER NOT NULL,
  name       TEXT    NOT NULL,
  hash       TEXT    NOT NULL UNIQUE CHECK (length(hash) = 64),
  last_four  TEXT    NOT NULL CHECK (length(last_four) = 4),
  created_at TEXT    NOT NULL,
  expires_on TEXT    CHECK (expires_on LIKE '____-__-__'), -- valid through that day; NULL: never expires
  revoked_at TEXT
) STRICT;

CREATE INDEX api_keys_user_id ON api_keys (user_id);

-- The count of uses per business and day. Clustered by its key: a report reads as many rows as it has days with a count,
-- a use writes one.
CREATE TABLE daily_usage (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  count       INTEGER NOT NULL CHECK (count > 0),
  PRIMARY KEY (business_id, day)
) STRICT, WITHOUT ROWID;
