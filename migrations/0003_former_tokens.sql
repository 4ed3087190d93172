-- Tokens that were replaced and are still accepted for a while, because pages that hold them are redeployed later.
CREATE TABLE former_tokens (
  token       TEXT    NOT NULL PRIMARY KEY,
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  expires_at  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX former_tokens_business_id ON former_tokens (business_id);
