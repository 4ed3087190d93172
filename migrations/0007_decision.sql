-- The mark that the deciding write of a change leaves, random for each change. The other statements of its batch look for it, so they
-- do what was decided, in whatever order they are.
ALTER TABLE businesses ADD COLUMN decision TEXT;
