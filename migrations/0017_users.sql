-- A user can be exported and erased. What is added may be NULL, so the version that still runs need not know of it.

-- When something was last created for, or given to, the owner. A home is not erased while a batch for its owner may still be on its way.
ALTER TABLE homes ADD COLUMN claimed_at TEXT CHECK (claimed_at LIKE '____-__-__T__:__:__.______Z');

-- What names a user, by user: claims of tokens, codes, and the changes of businesses that were created for a user, given to or by one,
-- or deleted.
CREATE INDEX imported_tokens_user_id ON imported_tokens (user_id);
CREATE INDEX codes_user_id ON codes (user_id);
CREATE INDEX changes_before_user ON changes (before ->> 'user_id') WHERE before ->> 'user_id' IS NOT NULL;
CREATE INDEX changes_after_user ON changes (after ->> 'user_id') WHERE after ->> 'user_id' IS NOT NULL;
