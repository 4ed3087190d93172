-- Sessions of the owner's console. A session is a row of api_keys, so the rule that decides about a key decides about a session, and
-- reads no row more. ends_at: from that instant on, the session is no credential; NULL: a key, not a session. session_of: the id of the
-- key that it came from; NULL: a console link. The columns may be NULL, so the version that still runs need not know of them.
ALTER TABLE api_keys ADD COLUMN ends_at TEXT CHECK (ends_at LIKE '____-__-__T__:__:__.______Z');
ALTER TABLE api_keys ADD COLUMN session_of INTEGER CHECK (session_of IS NULL OR ends_at IS NOT NULL);

-- The sessions of a user that still run, to end those of a key and those that are too many; and all that ended, to delete them.
CREATE INDEX api_keys_user_id_ends_at ON api_keys (user_id, ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX api_keys_ends_at ON api_keys (ends_at) WHERE ends_at IS NOT NULL;

-- The codes of console links, by SHA-256 (hex). Each starts one session, which lasts for `minutes`, and is deleted then.
CREATE TABLE codes (
  hash        TEXT    NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
  user_id     INTEGER NOT NULL,
  business_id INTEGER REFERENCES businesses (id), -- NULL: every business of the user
  read_only   INTEGER NOT NULL CHECK (read_only IN (0, 1)),
  minutes     INTEGER NOT NULL CHECK (minutes BETWEEN 1 AND 1440),
  expires_at  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX codes_business_id ON codes (business_id);
CREATE INDEX codes_expires_at ON codes (expires_at);
