-- The order in which the former tokens of a business were replaced: of more than a business keeps, the one that was replaced first goes.
ALTER TABLE former_tokens ADD COLUMN place INTEGER NOT NULL DEFAULT 0;

-- Whether the user may claim an imported token again: until a business has it, which is then written down in retired_tokens. Claims
-- from before that are taken for used.
ALTER TABLE imported_tokens ADD COLUMN retriable INTEGER NOT NULL DEFAULT 0 CHECK (retriable IN (0, 1));
