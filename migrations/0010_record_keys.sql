-- Keys that can only record: they read usage and record uses. No key can only read and only record. The column has a default, so the
-- version that still runs need not know of it.
ALTER TABLE api_keys ADD COLUMN record_only INTEGER NOT NULL DEFAULT 0
  CHECK (record_only IN (0, 1) AND record_only + read_only < 2);
