-- Which database this is, in one row that its first deployment writes: so a database under the name of another is recognized.
CREATE TABLE identity (
  number INTEGER PRIMARY KEY CHECK (number BETWEEN 0 AND 61),
  mark   TEXT NOT NULL, -- random, and the same in all databases of a service
  worker TEXT NOT NULL  -- the name of the Worker
) STRICT;
