-- Several databases: everything of one owner (a user) is in one of them. Only the rows in DB, the first database, count; the others
-- have these tables because all have the same migrations.

-- The database of a user, by number (DB_3 is 3). The first command that creates something for the user claims it.
CREATE TABLE homes (
  user_id  INTEGER PRIMARY KEY,
  database INTEGER NOT NULL CHECK (database BETWEEN 0 AND 61)
) STRICT;

-- The user who has a token of a previous system, by the SHA-256 (hex) of the token. Claimed before the business is created, so that
-- two users in two databases cannot get the same token, and never deleted.
CREATE TABLE imported_tokens (
  hash    TEXT    NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
  user_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
