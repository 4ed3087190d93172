-- From here on, a row in homes is the only thing that says where an owner is. Owners who are older than the table, and have not claimed
-- a home since, are in DB: there was no other database. In the others, this writes nothing: their ids are higher, and the rows of homes
-- count in DB only.
INSERT INTO homes (user_id, database)
SELECT user_id, 0 FROM businesses WHERE id <= 1000000000
UNION
SELECT user_id, 0 FROM api_keys WHERE id <= 1000000000
ON CONFLICT (user_id) DO NOTHING;

-- A new owner goes to the database with the fewest, which are counted from this index.
CREATE INDEX homes_database ON homes (database);
