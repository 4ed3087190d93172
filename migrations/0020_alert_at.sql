-- Thresholds of alerts. alert_at: a list of percentages, or NULL for 80 and 100. The version that still runs need not know of it: its alerts
-- come at 80 and 100, as before.
ALTER TABLE businesses ADD COLUMN alert_at TEXT CHECK (json_type(alert_at) = 'array');

-- A threshold can be any percentage to 1,000. A CHECK cannot be changed, so the table is made anew. Its ids go on where they were, also
-- when it is empty: messages.last_id says up to which of them alerts were sent.
CREATE TABLE new_alerts (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  business_id INTEGER NOT NULL REFERENCES businesses (id) ON DELETE CASCADE,
  period      TEXT    NOT NULL CHECK (period IN ('day', 'month')),
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  ends_on     TEXT    NOT NULL CHECK (ends_on LIKE '____-__-__'),
  "limit"     INTEGER NOT NULL CHECK ("limit" > 0),
  threshold   INTEGER NOT NULL CHECK (threshold BETWEEN 1 AND 1000), -- percent of the limit
  used        INTEGER NOT NULL,                                      -- how many uses were counted when the row was written
  at          TEXT    NOT NULL CHECK (at LIKE '____-__-__T__:__:__.______Z'),
  UNIQUE (business_id, period, starts_on, "limit", threshold)
) STRICT;
INSERT INTO new_alerts (id, business_id, period, starts_on, ends_on, "limit", threshold, used, at)
  SELECT id, business_id, period, starts_on, ends_on, "limit", threshold, used, at FROM alerts;
DELETE FROM sqlite_sequence WHERE name = 'new_alerts';
INSERT INTO sqlite_sequence (name, seq) SELECT 'new_alerts', seq FROM sqlite_sequence WHERE name = 'alerts';
DROP TABLE alerts;
ALTER TABLE new_alerts RENAME TO alerts; -- its row of sqlite_sequence is renamed with it
CREATE INDEX alerts_business_id ON alerts (business_id);
CREATE INDEX alerts_at ON alerts (at);
