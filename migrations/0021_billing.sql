-- Billing months. A business's months begin on businesses.billing_day until its first row here. A change waits: the month that begins on
-- starts_on lasts to the day before changes_on, and from then on months begin on billing_day. A version that does not know the table changes
-- businesses.billing_day, and so all months before the first row.
CREATE TABLE billing_changes (
  business_id INTEGER NOT NULL REFERENCES businesses (id) ON DELETE CASCADE,
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  changes_on  TEXT    NOT NULL CHECK (changes_on LIKE '____-__-__'),
  billing_day INTEGER NOT NULL CHECK (billing_day BETWEEN 1 AND 28),
  PRIMARY KEY (business_id, starts_on)
) STRICT, WITHOUT ROWID;

-- Whether there is a row, so that the months of all other businesses are found without looking for one.
ALTER TABLE businesses ADD COLUMN has_billing_changes INTEGER NOT NULL DEFAULT 0 CHECK (has_billing_changes IN (0, 1));

-- Whose months can end on a day.
CREATE INDEX billing_changes_billing_day ON billing_changes (billing_day, business_id);
CREATE INDEX businesses_billing_day ON businesses (billing_day);

-- The quantity with which a use counts, so that it can be lowered. NULL: recorded by a version that did not store it.
ALTER TABLE ledger ADD COLUMN quantity INTEGER CHECK (quantity >= 0);

-- The recent days whose counts were imported. Their uses cannot be lowered, because the count is no longer their sum.
CREATE TABLE imported_days (
  business_id INTEGER NOT NULL REFERENCES businesses (id) ON DELETE CASCADE,
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  PRIMARY KEY (business_id, day)
) STRICT, WITHOUT ROWID;
