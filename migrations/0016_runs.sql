-- When each run that is started by a schedule last ended. Only the rows in DB count.
CREATE TABLE runs (
  name     TEXT NOT NULL PRIMARY KEY,
  ended_at TEXT NOT NULL CHECK (ended_at LIKE '____-__-__T__:__:__.______Z')
) STRICT, WITHOUT ROWID;

-- When a use was last counted on the day, so that a sweep for alerts skips what nobody has used since. NULL: by a version without the
-- column, or by an import.
ALTER TABLE daily_usage ADD COLUMN counted_at TEXT CHECK (counted_at LIKE '____-__-__T__:__:__.______Z');

-- Until when a message that the receiver rejected is set aside. NULL: it is not. Others are sent meanwhile. The index has the message that
-- is not set aside first, and then the others as they come due.
ALTER TABLE messages ADD COLUMN retry_at TEXT CHECK (retry_at LIKE '____-__-__T__:__:__.______Z');
DROP INDEX messages_open;
CREATE INDEX messages_open ON messages (retry_at, last_id) WHERE body IS NOT NULL;
