-- How many uses are counted beyond a limit. NULL: any number. A version that does not know it stops at the limit.
ALTER TABLE businesses ADD COLUMN overage INTEGER DEFAULT 0 CHECK (overage >= 0);
