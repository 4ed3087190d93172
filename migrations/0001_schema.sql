-- The tables of every database of the service. Timestamps are ISO 8601 text in UTC, with six fractional digits and Z. Days are text,
-- YYYY-MM-DD, in UTC. Ids that callers see are AUTOINCREMENT, so none is ever given twice.

CREATE TABLE businesses (
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id             INTEGER NOT NULL,
  name                TEXT    NOT NULL,
  main_domain         TEXT    NOT NULL,
  site                TEXT    NOT NULL,
  country_id          INTEGER NOT NULL,
  business_size       TEXT    NOT NULL,
  token               TEXT    NOT NULL UNIQUE CHECK (length(token) BETWEEN 24 AND 255),
  status              TEXT    NOT NULL,
  created_at          TEXT    NOT NULL,
  updated_at          TEXT    NOT NULL,
  -- The maximum numbers of uses in a day and in a billing month. NULL: unlimited. 0: no uses.
  daily_limit         INTEGER CHECK (daily_limit >= 0),
  monthly_limit       INTEGER CHECK (monthly_limit >= 0),
  overage             INTEGER DEFAULT 0 CHECK (overage >= 0),     -- the maximum number of uses beyond a limit. NULL: unlimited
  -- 1: uses with the token count beyond a limit, too, while a site is registered that others can reach.
  page_overage        INTEGER NOT NULL DEFAULT 0 CHECK (page_overage IN (0, 1) AND (page_overage = 0 OR overage IS NOT NULL)),
  alert_at            TEXT    CHECK (json_type(alert_at) = 'array'), -- percentages of a limit. NULL: the default thresholds
  limits_since        TEXT    CHECK (limits_since LIKE '____-__-__'), -- since when these five hold. NULL: they never changed
  -- A pending change: the same five, from that day on. All are NULL without one.
  next_from           TEXT    CHECK (next_from LIKE '____-__-__'),
  next_daily_limit    INTEGER CHECK (next_daily_limit >= 0),
  next_monthly_limit  INTEGER CHECK (next_monthly_limit >= 0),
  next_overage        INTEGER CHECK (next_overage >= 0),
  next_page_overage   INTEGER CHECK (next_page_overage IN (0, 1) AND (next_page_overage = 0 OR next_overage IS NOT NULL)),
  next_alert_at       TEXT    CHECK (json_type(next_alert_at) = 'array'),
  extras_until        TEXT    CHECK (extras_until LIKE '____-__-__'), -- the first day of the last month with an extra. Saves looking for it
  -- The day on which billing months begin, until the first row of billing_changes for the business.
  billing_day         INTEGER NOT NULL DEFAULT 1 CHECK (billing_day BETWEEN 1 AND 28),
  has_billing_changes INTEGER NOT NULL DEFAULT 0 CHECK (has_billing_changes IN (0, 1)), -- saves looking for rows of billing_changes
  -- The mark of the last decided change, random for each. The other statements of its batch look for it, so they do what was decided.
  decision            TEXT,
  -- The request that created the business: the first 16 bytes of the SHA-256 of its user and Idempotency-Key, and of its fields.
  -- NULL: it had no Idempotency-Key.
  creation_key        BLOB    CHECK (length(creation_key) = 16),
  creation_request    BLOB    CHECK (length(creation_request) = 16)
) STRICT;

CREATE INDEX businesses_user_id ON businesses (user_id);
-- Finds the businesses whose months can end on a day.
CREATE INDEX businesses_billing_day ON businesses (billing_day);
-- Finds the pending changes that are due.
CREATE INDEX businesses_next_from ON businesses (next_from) WHERE next_from IS NOT NULL;
CREATE UNIQUE INDEX businesses_creation_key ON businesses (creation_key) WHERE creation_key IS NOT NULL;

-- The sites of a business: canonical origins, compared byte for byte with the origin that a browser sends.
CREATE TABLE sites (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  site        TEXT    NOT NULL CHECK (site LIKE '%://_%'),
  created_at  TEXT    NOT NULL,
  updated_at  TEXT    NOT NULL,
  -- 1 if visitors can reach the site.
  is_reachable INTEGER NOT NULL DEFAULT 0 CHECK (is_reachable IN (0, 1)),
  UNIQUE (business_id, site)
) STRICT;

-- Tells whether a business has a site that visitors can reach, without reading its others.
CREATE INDEX sites_reachable ON sites (business_id) WHERE is_reachable = 1;

-- API keys, and sessions of the owners' console. Only the SHA-256 (hex) of a key is stored. Sessions are in the same table so that one rule
-- decides about both without reading another row.
CREATE TABLE api_keys (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id      INTEGER NOT NULL,
  business_id  INTEGER REFERENCES businesses (id), -- NULL: every business of the user
  source       INTEGER CHECK (source IS NULL OR source > 0 AND business_id IS NOT NULL), -- the number of its label. NULL: none
  name         TEXT    NOT NULL,
  hash         TEXT    NOT NULL UNIQUE CHECK (length(hash) = 64),
  last_four    TEXT    NOT NULL CHECK (length(last_four) = 4),
  role         TEXT    NOT NULL CHECK (role IN ('full', 'read', 'record')),
  created_at   TEXT    NOT NULL,
  expires_on   TEXT    CHECK (expires_on LIKE '____-__-__'), -- valid through that day. NULL: never expires
  revoked_at   TEXT,
  last_used_on TEXT    CHECK (last_used_on LIKE '____-__-__'), -- the day of the last call that was permitted
  ends_at      TEXT    CHECK (ends_at LIKE '____-__-__T__:__:__.______Z'), -- when a session ends. NULL: the row is a key
  session_of   INTEGER CHECK (session_of IS NULL OR ends_at IS NOT NULL),  -- the key that started a session. NULL: a console link did
  actor_name   TEXT    CHECK (length(actor_name) <= 64), -- the person whom a session's console link names. NULL: nobody
  can_create_keys INTEGER CHECK (can_create_keys IS NULL OR can_create_keys = 1 AND ends_at IS NOT NULL), -- 1: of a console link that said so
  created_by   TEXT    CHECK (created_by IS NOT NULL OR ends_at IS NOT NULL), -- who created a key, as changes.actor says it. NULL: a session
  created_by_name TEXT  CHECK (length(created_by_name) <= 64), -- the person whom the console link of that session names. NULL: nobody
  creator_id   INTEGER  CHECK (creator_id IS NULL OR role <> 'full') -- the key or the session that created a key. NULL: an operator key did, or the row is a session
) STRICT;

CREATE INDEX api_keys_user_id ON api_keys (user_id);
CREATE INDEX api_keys_business_id ON api_keys (business_id);
-- The keys that a user's keys and sessions created, to count them, and to revoke those of a key.
CREATE INDEX api_keys_user_id_creator_id ON api_keys (user_id, creator_id) WHERE creator_id IS NOT NULL;
-- A user's running sessions, to end those of a key and the oldest of too many.
CREATE INDEX api_keys_user_id_ends_at ON api_keys (user_id, ends_at) WHERE ends_at IS NOT NULL;
-- All sessions that have ended, to delete them.
CREATE INDEX api_keys_ends_at ON api_keys (ends_at) WHERE ends_at IS NOT NULL;

-- The codes of console links, by SHA-256 (hex). Each starts one session, which lasts for `minutes`, and is then deleted.
CREATE TABLE codes (
  hash        TEXT    NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
  user_id     INTEGER NOT NULL,
  business_id INTEGER REFERENCES businesses (id), -- NULL: every business of the user
  role        TEXT    NOT NULL CHECK (role IN ('full', 'read')), -- of the session
  minutes     INTEGER NOT NULL CHECK (minutes BETWEEN 1 AND 1440),
  expires_at  TEXT    NOT NULL,
  return_url  TEXT    CHECK (length(return_url) <= 2000), -- where the console links back to. NULL: nowhere
  actor_name  TEXT    CHECK (length(actor_name) <= 64),   -- the person whom the link names, for the list of changes. NULL: nobody
  can_create_keys INTEGER CHECK (can_create_keys IS NULL OR can_create_keys = 1 AND role = 'full' AND business_id IS NULL) -- for the session
) STRICT, WITHOUT ROWID;

CREATE INDEX codes_user_id ON codes (user_id);
CREATE INDEX codes_business_id ON codes (business_id);
CREATE INDEX codes_expires_at ON codes (expires_at);

-- Changes to a billing day. The month that begins on starts_on lasts to the day before changes_on. Later months begin on billing_day.
CREATE TABLE billing_changes (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  changes_on  TEXT    NOT NULL CHECK (changes_on LIKE '____-__-__'),
  billing_day INTEGER NOT NULL CHECK (billing_day BETWEEN 1 AND 28),
  PRIMARY KEY (business_id, starts_on)
) STRICT, WITHOUT ROWID;

-- Finds the businesses whose months can end on a day.
CREATE INDEX billing_changes_billing_day ON billing_changes (billing_day, business_id);

-- The limits of a business that held before limits_since: those of a row through ends_on, since the day after the row before it.
CREATE TABLE former_limits (
  business_id   INTEGER NOT NULL REFERENCES businesses (id),
  ends_on       TEXT    NOT NULL CHECK (ends_on LIKE '____-__-__'),
  daily_limit   INTEGER,
  monthly_limit INTEGER,
  overage       INTEGER,
  page_overage  INTEGER NOT NULL,
  alert_at      TEXT,
  PRIMARY KEY (business_id, ends_on)
) STRICT, WITHOUT ROWID;

-- What is added to the monthly limit in the billing month that begins on starts_on.
CREATE TABLE extras (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  uses        INTEGER NOT NULL CHECK (uses >= 0),
  PRIMARY KEY (business_id, starts_on)
) STRICT, WITHOUT ROWID;

-- The requests that changed an extra, by the first 16 bytes of the SHA-256 of their Idempotency-Key, so that none counts twice. `request` is
-- that of the body, and `uses` the extra afterwards. Kept for 400 days.
CREATE TABLE extra_requests (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  digest      BLOB    NOT NULL CHECK (length(digest) = 16),
  request     BLOB    NOT NULL CHECK (length(request) = 16),
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  uses        INTEGER NOT NULL CHECK (uses >= 0),
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  PRIMARY KEY (business_id, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX extra_requests_day ON extra_requests (day);

-- The number of uses of a business on a day. Clustered by its key: a report reads as many rows as it has days with uses, and a use writes
-- one. So that this stays one row, the counts of the day's sources are in it.
CREATE TABLE daily_usage (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  count       INTEGER NOT NULL CHECK (count > 0),
  sources     TEXT    CHECK (json_type(sources) = 'object'), -- numbers of sources, each with its count. NULL: no use had a source
  PRIMARY KEY (business_id, day)
) STRICT, WITHOUT ROWID;

-- The names of the sources of a business's uses, with a number for each, so that days can name many sources in few bytes. A label
-- is numbered when it first counts, or when a key with it is created: 1, 2 … A site is numbered when it is registered: -1, -2 … It keeps
-- its number after its removal, unless it never counted and another site needs the number.
CREATE TABLE sources (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  name        TEXT    NOT NULL,
  number      INTEGER NOT NULL CHECK (number <> 0),
  PRIMARY KEY (business_id, name)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX sources_number ON sources (business_id, number);

-- The ids of uses, by digest, so that a repeated use does not count again: the day on which the use counted, the first day on which the id
-- may be forgotten, and the quantity and source, so that it can be lowered. Days are numbers, counted from 1970-01-01. One tree of small
-- rows, without an index: a list of new ids writes to as few pages as possible, and the purge walks. It does not refer to businesses:
-- checking that would cost each use a row read, and daily_usage, which is written in the same batch, refers to them already.
CREATE TABLE ledger (
  business_id INTEGER NOT NULL,
  digest      BLOB    NOT NULL CHECK (length(digest) = 16),
  day         INTEGER NOT NULL,
  forget_on   INTEGER NOT NULL,
  quantity    INTEGER NOT NULL CHECK (quantity >= 0),
  source      INTEGER, -- the number of the source. NULL: none, or the id of a token, whose uses cannot be lowered
  PRIMARY KEY (business_id, digest)
) STRICT, WITHOUT ROWID;

-- The recent days whose counts were imported. Their uses cannot be lowered, because the count is no longer the sum of the uses.
CREATE TABLE imported_days (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  PRIMARY KEY (business_id, day)
) STRICT, WITHOUT ROWID;

-- Tokens that were replaced and still work for a while, because the pages that contain them are updated later.
CREATE TABLE former_tokens (
  id             INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order in which tokens were replaced. If a business has too many, the first goes
  token          TEXT    NOT NULL UNIQUE,
  business_id    INTEGER NOT NULL REFERENCES businesses (id),
  expires_at     TEXT    NOT NULL,
  last_used_on   TEXT    CHECK (last_used_on LIKE '____-__-__'), -- the day of the last permitted call since it was replaced
  used_from      TEXT    CHECK (json_type(used_from) = 'object') -- the origins of such calls, each with its last day. NULL: never used
) STRICT;

CREATE INDEX former_tokens_business_id ON former_tokens (business_id);
CREATE INDEX former_tokens_expires_at ON former_tokens (expires_at);

-- Origins that were refused although the credential was valid, or let in only because no site was registered: together at most 50 for each
-- business, for 90 days. A site that is registered deletes those that it lets in, so that lists only count rows. The actual count can be
-- higher, because not every call is stored. There is no index on last_seen, because a call must write few rows. The purge walks through the
-- table instead.
CREATE TABLE seen_origins (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  origin      TEXT    NOT NULL CHECK (origin LIKE '%://_%'),
  count       INTEGER NOT NULL CHECK (count > 0),
  first_seen  TEXT    NOT NULL,
  last_seen   TEXT    NOT NULL,
  let_in      INTEGER NOT NULL DEFAULT 0 CHECK (let_in IN (0, 1)), -- 0: it was refused
  candidates  TEXT    NOT NULL CHECK (json_type(candidates) = 'array'), -- the sites that would let it in
  PRIMARY KEY (business_id, origin)
) STRICT, WITHOUT ROWID;

-- The uses that limits refused, by day. Each retry counts, and not every refusal is stored. Kept as long as the counts of uses.
CREATE TABLE limit_refusals (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  count       INTEGER NOT NULL CHECK (count > 0),
  PRIMARY KEY (business_id, day)
) STRICT, WITHOUT ROWID;

-- Who changed what in a business, or in a user's keys for all businesses. `before` and `after` are JSON objects with only the changed
-- fields, and never contain a secret. Kept for 400 days. It does not refer to businesses, because a deletion is recorded here too.
CREATE TABLE changes (
  subject       TEXT    NOT NULL CHECK (subject IN ('business', 'user')),
  subject_id    INTEGER NOT NULL,
  id            INTEGER NOT NULL, -- 1, 2, 3 … for each subject
  at            TEXT    NOT NULL,
  actor         TEXT    NOT NULL,
  action        TEXT    NOT NULL,
  before        TEXT,
  after         TEXT,
  actor_name    TEXT    CHECK (length(actor_name) <= 64), -- the person whom the console link of the actor's session names. NULL: nobody
  -- The user of that session. No other user sees the name, and it is erased with this user.
  actor_user_id INTEGER CHECK ((actor_user_id IS NULL) = (actor_name IS NULL)),
  PRIMARY KEY (subject, subject_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX changes_at ON changes (at);
-- The changes that name a user: of businesses that were created for the user, transferred to or by the user, or deleted.
CREATE INDEX changes_before_user ON changes (before ->> 'user_id') WHERE before ->> 'user_id' IS NOT NULL;
CREATE INDEX changes_after_user ON changes (after ->> 'user_id') WHERE after ->> 'user_id' IS NOT NULL;
-- The changes that name a person for whom a user's console link was created.
CREATE INDEX changes_actor_user_id ON changes (actor_user_id) WHERE actor_user_id IS NOT NULL;

-- The SHA-256 (hex) of every imported token that a business has or had, also after its deletion, so that none is imported again.
CREATE TABLE retired_tokens (
  hash TEXT NOT NULL PRIMARY KEY CHECK (length(hash) = 64)
) STRICT, WITHOUT ROWID;

-- The number of each user's database (3 is DB_3). All data of a user is in one database. The first request that creates something for a
-- user assigns it. Only the rows in DB count. The other databases have this table because all have the same migrations.
CREATE TABLE homes (
  user_id    INTEGER PRIMARY KEY,
  database   INTEGER NOT NULL CHECK (database BETWEEN 0 AND 61),
  -- Numbers the users of a database: 1, 2, 3 …, so one search in each finds the database with the fewest. 0: put back after a restore, and
  -- not numbered yet.
  place      INTEGER NOT NULL CHECK (place >= 0),
  -- When something was last created for the user or transferred to the user. A home is not erased while a batch may still be on its way.
  claimed_at TEXT    NOT NULL CHECK (claimed_at LIKE '____-__-__T__:__:__.______Z')
) STRICT;

CREATE INDEX homes_database_place ON homes (database, place);

-- Deleted businesses that still have ids in the ledger, or changes. A scheduled run deletes these in steps.
CREATE TABLE deletions (
  business_id INTEGER PRIMARY KEY
) STRICT;

-- The user who imported a token of a previous system, by the SHA-256 (hex) of the token. Claimed before the business is created, so that
-- two users in two databases cannot import the same token, and never deleted. Only the rows in DB count.
CREATE TABLE imported_tokens (
  hash    TEXT    NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
  user_id INTEGER NOT NULL -- 0: the user was erased, and nobody may import the token
) STRICT, WITHOUT ROWID;

CREATE INDEX imported_tokens_user_id ON imported_tokens (user_id);

-- A business reached a threshold of a limit: one row for each period, limit and threshold, written by the transaction that reached it. A
-- run sends each to the receiver. An alert is deleted with its business.
CREATE TABLE alerts (
  id          TEXT    NOT NULL UNIQUE CHECK (length(id) = 36), -- a UUID, by which the receiver recognizes repetitions
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  period      TEXT    NOT NULL CHECK (period IN ('day', 'month')),
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  ends_on     TEXT    NOT NULL CHECK (ends_on LIKE '____-__-__'),
  "limit"     INTEGER NOT NULL CHECK ("limit" > 0),
  threshold   INTEGER NOT NULL CHECK (threshold BETWEEN 1 AND 1000), -- percent of the limit
  used        INTEGER NOT NULL,                                      -- the number of uses counted when the row was written
  at          TEXT    NOT NULL CHECK (at LIKE '____-__-__T__:__:__.______Z'),
  due_at      TEXT    CHECK (due_at LIKE '____-__-__T__:__:__.______Z'), -- when to send it next. NULL: it was sent or given up
  attempts    INTEGER NOT NULL DEFAULT 0,
  sent_at     TEXT    CHECK (sent_at IS NULL OR due_at IS NULL),
  PRIMARY KEY (business_id, period, starts_on, "limit", threshold)
) STRICT, WITHOUT ROWID;

CREATE INDEX alerts_at ON alerts (at, id);
CREATE INDEX alerts_due_at ON alerts (due_at) WHERE due_at IS NOT NULL;

-- When each scheduled run last ended: only the rows in DB count. And, in each database, how far the walks of the purge got. A walk of
-- businesses examined last those after after_id, up to last_id. The walk through the ledger continues after the id with after_digest of the
-- business after_id. NULL: the walk reached the end.
CREATE TABLE runs (
  name     TEXT NOT NULL PRIMARY KEY,
  ended_at TEXT NOT NULL CHECK (ended_at LIKE '____-__-__T__:__:__.______Z'),
  after_id INTEGER,
  last_id  INTEGER CHECK (last_id > after_id),
  after_digest BLOB CHECK (length(after_digest) = 16)
) STRICT, WITHOUT ROWID;

-- What the calls of a user's keys and sessions have taken of the database, by class of work: until when they have spent its time, and what
-- they have stored on a day, both by its own clock. Written only by costly calls.
CREATE TABLE work (
  user_id    INTEGER NOT NULL,
  class      TEXT    NOT NULL CHECK (class IN ('reading', 'recording', 'changing')),
  busy_until INTEGER NOT NULL, -- in milliseconds since 1970
  day        INTEGER NOT NULL, -- counted from 1970-01-01
  ids        INTEGER NOT NULL CHECK (ids >= 0),   -- the ids of uses that lists stored
  bytes      INTEGER NOT NULL CHECK (bytes >= 0), -- what changes stored
  PRIMARY KEY (user_id, class)
) STRICT, WITHOUT ROWID;
