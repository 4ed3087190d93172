-- Quotas. billing_day: on which day a month of the monthly limit begins. limits_at: when a limit or the billing day was last set; a
-- period that had ended by then is not measured by them. The version that still runs need not know of either: the first has a default,
-- and without the second only the current period is measured.
ALTER TABLE businesses ADD COLUMN billing_day INTEGER NOT NULL DEFAULT 1 CHECK (billing_day BETWEEN 1 AND 28);
ALTER TABLE businesses ADD COLUMN limits_at TEXT CHECK (limits_at LIKE '____-__-__T__:__:__.______Z');
UPDATE businesses SET limits_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now') WHERE daily_limit IS NOT NULL OR monthly_limit IS NOT NULL;

-- The businesses that have a limit, in sixty turns: the scheduled look takes one of them each minute.
CREATE INDEX businesses_limited ON businesses (id % 60) WHERE daily_limit IS NOT NULL OR monthly_limit IS NOT NULL;

-- A business has used 80 % or all of a limit: one row for each limit and its value, period and threshold. It goes with its business by
-- itself: a version that does not know this table could delete no business that has alerts.
CREATE TABLE alerts (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  business_id INTEGER NOT NULL REFERENCES businesses (id) ON DELETE CASCADE,
  period      TEXT    NOT NULL CHECK (period IN ('day', 'month')),
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  ends_on     TEXT    NOT NULL CHECK (ends_on LIKE '____-__-__'),
  "limit"     INTEGER NOT NULL CHECK ("limit" > 0),
  threshold   INTEGER NOT NULL CHECK (threshold IN (80, 100)), -- percent of the limit
  used        INTEGER NOT NULL,                                -- how many uses were counted when the row was written
  at          TEXT    NOT NULL CHECK (at LIKE '____-__-__T__:__:__.______Z'),
  UNIQUE (business_id, period, starts_on, "limit", threshold)
) STRICT;

CREATE INDEX alerts_business_id ON alerts (business_id);
CREATE INDEX alerts_at ON alerts (at);

-- The messages in which alerts are sent. last_id: the id of the last alert in it; those before are in this message or in an earlier
-- one. id: how the receiver knows a repetition. body: what is sent, the same each time; NULL when it has been sent (sent_at), or given
-- up. leased_until: until then, a run is sending it.
CREATE TABLE messages (
  last_id      INTEGER PRIMARY KEY,
  id           TEXT NOT NULL,
  body         TEXT,
  created_at   TEXT NOT NULL,
  leased_until TEXT NOT NULL,
  sent_at      TEXT
) STRICT;

CREATE INDEX messages_open ON messages (last_id) WHERE body IS NOT NULL;
