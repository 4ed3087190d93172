-- What the operator does over HTTP: he creates and deletes businesses. Columns that are added may be NULL, so the version that still
-- runs need not know of them.

-- Which of the owners of its database this one is: 1, 2, 3 … So a new owner finds the database with the fewest by one search in each,
-- however many there are. NULL: claimed by an older version while this migration ran; not counted.
ALTER TABLE homes ADD COLUMN place INTEGER;
UPDATE homes SET place = numbered.place
FROM (SELECT user_id, row_number() OVER (PARTITION BY database ORDER BY user_id) AS place FROM homes) AS numbered
WHERE numbered.user_id = homes.user_id;
DROP INDEX homes_database;
CREATE INDEX homes_database_place ON homes (database, place);

-- The request that created a business: the first 16 bytes of the SHA-256 of its user and Idempotency-Key, and of what it asked for.
-- NULL: it came without a key.
ALTER TABLE businesses ADD COLUMN creation_key BLOB CHECK (length(creation_key) = 16);
ALTER TABLE businesses ADD COLUMN creation_request BLOB CHECK (length(creation_request) = 16);
CREATE UNIQUE INDEX businesses_creation_key ON businesses (creation_key) WHERE creation_key IS NOT NULL;

-- Businesses that are deleted, as long as some of their ids and changes are still here. A scheduled run deletes those in steps.
CREATE TABLE deletions (
  business_id INTEGER PRIMARY KEY
) STRICT;
