-- Where the console leads back to, for whom a link signs in: an address of the product. NULL: nowhere. The version that still runs need not
-- know of it.
ALTER TABLE codes ADD COLUMN return_url TEXT CHECK (length(return_url) <= 2000);
