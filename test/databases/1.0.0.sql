CREATE TABLE businesses (
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id             INTEGER NOT NULL,
  name                TEXT    NOT NULL,
  main_domain         TEXT    NOT NULL,
  site                TEXT    NOT NULL,
  country_id          INTEGER NOT NULL,
  business_size       TEXT    NOT NULL,
  token               TEXT    NOT NULL UNIQUE CHECK (length(token) BETWEEN 24 AND 255),
  status              TEXT    NOT NULL,
  created_at          TEXT    NOT NULL,
  updated_at          TEXT    NOT NULL,
  -- The maximum numbers of uses in a day and in a billing month. NULL: unlimited. 0: no uses.
  daily_limit         INTEGER CHECK (daily_limit >= 0),
  monthly_limit       INTEGER CHECK (monthly_limit >= 0),
  overage             INTEGER DEFAULT 0 CHECK (overage >= 0),     -- the maximum number of uses beyond a limit. NULL: unlimited
  -- 1: uses with the token count beyond a limit, too, while a site is registered that others can reach.
  page_overage        INTEGER NOT NULL DEFAULT 0 CHECK (page_overage IN (0, 1) AND (page_overage = 0 OR overage IS NOT NULL)),
  alert_at            TEXT    CHECK (json_type(alert_at) = 'array'), -- percentages of a limit. NULL: the default thresholds
  -- The day on which billing months begin, until the first row of billing_changes for the business.
  billing_day         INTEGER NOT NULL DEFAULT 1 CHECK (billing_day BETWEEN 1 AND 28),
  has_billing_changes INTEGER NOT NULL DEFAULT 0 CHECK (has_billing_changes IN (0, 1)), -- saves looking for rows of billing_changes
  -- The mark of the last decided change, random for each. The other statements of its batch look for it, so they do what was decided.
  decision            TEXT,
  -- The request that created the business: the first 16 bytes of the SHA-256 of its user and Idempotency-Key, and of its fields.
  -- NULL: it had no Idempotency-Key.
  creation_key        BLOB    CHECK (length(creation_key) = 16),
  creation_request    BLOB    CHECK (length(creation_request) = 16)
) STRICT;
CREATE INDEX businesses_user_id ON businesses (user_id);
CREATE INDEX businesses_billing_day ON businesses (billing_day);
CREATE UNIQUE INDEX businesses_creation_key ON businesses (creation_key) WHERE creation_key IS NOT NULL;
CREATE TABLE access (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  site        TEXT    NOT NULL CHECK (site LIKE '%://_%'),
  created_at  TEXT    NOT NULL,
  updated_at  TEXT    NOT NULL,
  UNIQUE (business_id, site)
) STRICT;
CREATE TABLE api_keys (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id      INTEGER NOT NULL,
  business_id  INTEGER REFERENCES businesses (id), -- NULL: every business of the user
  name         TEXT    NOT NULL,
  hash         TEXT    NOT NULL UNIQUE CHECK (length(hash) = 64),
  last_four    TEXT    NOT NULL CHECK (length(last_four) = 4),
  role         TEXT    NOT NULL CHECK (role IN ('full', 'read', 'record')),
  created_at   TEXT    NOT NULL,
  expires_on   TEXT    CHECK (expires_on LIKE '____-__-__'), -- valid through that day. NULL: never expires
  revoked_at   TEXT,
  last_used_on TEXT    CHECK (last_used_on LIKE '____-__-__'), -- the day of the last call that was permitted
  ends_at      TEXT    CHECK (ends_at LIKE '____-__-__T__:__:__.______Z'), -- when a session ends. NULL: the row is a key
  session_of   INTEGER CHECK (session_of IS NULL OR ends_at IS NOT NULL),  -- the key that started a session. NULL: a console link did
  actor_name   TEXT    CHECK (length(actor_name) <= 64), -- the person whom a session's console link names. NULL: nobody
  can_create_keys INTEGER CHECK (can_create_keys IS NULL OR can_create_keys = 1 AND ends_at IS NOT NULL), -- 1: of a console link that said so
  created_by   TEXT    CHECK (created_by IS NOT NULL OR ends_at IS NOT NULL), -- who created a key, as changes.actor says it. NULL: a session
  created_by_name TEXT  CHECK (length(created_by_name) <= 64), -- the person whom the console link of that session names. NULL: nobody
  creator_id   INTEGER  CHECK (creator_id IS NULL OR role <> 'full') -- the key or the session that created a key. NULL: an operator key did, or the row is a session
) STRICT;
CREATE INDEX api_keys_user_id ON api_keys (user_id);
CREATE INDEX api_keys_business_id ON api_keys (business_id);
CREATE INDEX api_keys_user_id_creator_id ON api_keys (user_id, creator_id) WHERE creator_id IS NOT NULL;
CREATE INDEX api_keys_user_id_ends_at ON api_keys (user_id, ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX api_keys_ends_at ON api_keys (ends_at) WHERE ends_at IS NOT NULL;
CREATE TABLE codes (
  hash        TEXT    NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
  user_id     INTEGER NOT NULL,
  business_id INTEGER REFERENCES businesses (id), -- NULL: every business of the user
  role        TEXT    NOT NULL CHECK (role IN ('full', 'read')), -- of the session
  minutes     INTEGER NOT NULL CHECK (minutes BETWEEN 1 AND 1440),
  expires_at  TEXT    NOT NULL,
  return_url  TEXT    CHECK (length(return_url) <= 2000), -- where the console links back to. NULL: nowhere
  actor_name  TEXT    CHECK (length(actor_name) <= 64),   -- the person whom the link names, for the list of changes. NULL: nobody
  can_create_keys INTEGER CHECK (can_create_keys IS NULL OR can_create_keys = 1 AND role = 'full' AND business_id IS NULL) -- for the session
) STRICT, WITHOUT ROWID;
CREATE INDEX codes_user_id ON codes (user_id);
CREATE INDEX codes_business_id ON codes (business_id);
CREATE INDEX codes_expires_at ON codes (expires_at);
CREATE TABLE billing_changes (
  business_id INTEGER NOT NULL REFERENCES businesses (id) ON DELETE CASCADE,
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  changes_on  TEXT    NOT NULL CHECK (changes_on LIKE '____-__-__'),
  billing_day INTEGER NOT NULL CHECK (billing_day BETWEEN 1 AND 28),
  PRIMARY KEY (business_id, starts_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX billing_changes_billing_day ON billing_changes (billing_day, business_id);
CREATE TABLE daily_usage (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  count       INTEGER NOT NULL CHECK (count > 0),
  sources     TEXT    CHECK (json_type(sources) = 'object'), -- numbers of sources, each with its count. NULL: no use had a source
  PRIMARY KEY (business_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE sources (
  business_id INTEGER NOT NULL REFERENCES businesses (id) ON DELETE CASCADE,
  name        TEXT    NOT NULL,
  number      INTEGER NOT NULL CHECK (number > 0),
  PRIMARY KEY (business_id, name)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sources_number ON sources (business_id, number);
CREATE TABLE ledger (
  business_id INTEGER NOT NULL,
  digest      BLOB    NOT NULL CHECK (length(digest) = 16),
  day         INTEGER NOT NULL,
  forget_on   INTEGER NOT NULL,
  quantity    INTEGER NOT NULL CHECK (quantity >= 0),
  source      INTEGER, -- the number of the source. NULL: none, or the id of a token, whose uses cannot be lowered
  PRIMARY KEY (business_id, digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE imported_days (
  business_id INTEGER NOT NULL REFERENCES businesses (id) ON DELETE CASCADE,
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  PRIMARY KEY (business_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE former_tokens (
  token        TEXT    NOT NULL PRIMARY KEY,
  business_id  INTEGER NOT NULL REFERENCES businesses (id),
  expires_at   TEXT    NOT NULL,
  place        INTEGER NOT NULL, -- 1, 2, 3 …: the order in which a business's tokens were replaced. If there are too many, the first goes
  last_used_on TEXT    CHECK (last_used_on LIKE '____-__-__') -- the day of the last permitted call since it was replaced
) STRICT, WITHOUT ROWID;
CREATE INDEX former_tokens_business_id ON former_tokens (business_id);
CREATE INDEX former_tokens_expires_at ON former_tokens (expires_at);
CREATE TABLE refused_origins (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  origin      TEXT    NOT NULL CHECK (origin LIKE '%://_%'),
  count       INTEGER NOT NULL CHECK (count > 0),
  first_seen  TEXT    NOT NULL,
  last_seen   TEXT    NOT NULL,
  let_in      INTEGER NOT NULL DEFAULT 0 CHECK (let_in IN (0, 1)), -- 0: it was refused
  PRIMARY KEY (business_id, origin)
) STRICT, WITHOUT ROWID;
CREATE TABLE limit_refusals (
  business_id INTEGER NOT NULL REFERENCES businesses (id) ON DELETE CASCADE,
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  count       INTEGER NOT NULL CHECK (count > 0),
  PRIMARY KEY (business_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE changes (
  subject       TEXT    NOT NULL CHECK (subject IN ('business', 'user')),
  subject_id    INTEGER NOT NULL,
  id            INTEGER NOT NULL, -- 1, 2, 3 … for each subject
  at            TEXT    NOT NULL,
  actor         TEXT    NOT NULL,
  action        TEXT    NOT NULL,
  before        TEXT,
  after         TEXT,
  actor_name    TEXT    CHECK (length(actor_name) <= 64), -- the person whom the console link of the actor's session names. NULL: nobody
  -- The user of that session. No other user sees the name, and it is erased with this user.
  actor_user_id INTEGER CHECK ((actor_user_id IS NULL) = (actor_name IS NULL)),
  PRIMARY KEY (subject, subject_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_at ON changes (at);
CREATE INDEX changes_before_user ON changes (before ->> 'user_id') WHERE before ->> 'user_id' IS NOT NULL;
CREATE INDEX changes_after_user ON changes (after ->> 'user_id') WHERE after ->> 'user_id' IS NOT NULL;
CREATE INDEX changes_actor_user_id ON changes (actor_user_id) WHERE actor_user_id IS NOT NULL;
CREATE TABLE retired_tokens (
  hash TEXT NOT NULL PRIMARY KEY CHECK (length(hash) = 64)
) STRICT, WITHOUT ROWID;
CREATE TABLE homes (
  user_id    INTEGER PRIMARY KEY,
  database   INTEGER NOT NULL CHECK (database BETWEEN 0 AND 61),
  -- Numbers the users of a database: 1, 2, 3 …, so one search in each finds the database with the fewest. 0: put back after a restore, and
  -- not numbered yet.
  place      INTEGER NOT NULL CHECK (place >= 0),
  -- When something was last created for the user or transferred to the user. A home is not erased while a batch may still be on its way.
  claimed_at TEXT    NOT NULL CHECK (claimed_at LIKE '____-__-__T__:__:__.______Z')
) STRICT;
CREATE INDEX homes_database_place ON homes (database, place);
CREATE TABLE deletions (
  business_id INTEGER PRIMARY KEY
) STRICT;
CREATE TABLE imported_tokens (
  hash    TEXT    NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
  user_id INTEGER NOT NULL -- 0: the user was erased, and nobody may import the token
) STRICT, WITHOUT ROWID;
CREATE INDEX imported_tokens_user_id ON imported_tokens (user_id);
CREATE TABLE events (
  id          TEXT    NOT NULL UNIQUE CHECK (length(id) = 36), -- a UUID, by which the receiver recognizes repetitions
  business_id INTEGER NOT NULL REFERENCES businesses (id) ON DELETE CASCADE,
  period      TEXT    NOT NULL CHECK (period IN ('day', 'month')),
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  ends_on     TEXT    NOT NULL CHECK (ends_on LIKE '____-__-__'),
  "limit"     INTEGER NOT NULL CHECK ("limit" > 0),
  threshold   INTEGER NOT NULL CHECK (threshold BETWEEN 1 AND 1000), -- percent of the limit
  used        INTEGER NOT NULL,                                      -- the number of uses counted when the row was written
  at          TEXT    NOT NULL CHECK (at LIKE '____-__-__T__:__:__.______Z'),
  due_at      TEXT    CHECK (due_at LIKE '____-__-__T__:__:__.______Z'), -- when to send it next. NULL: it was sent or given up
  attempts    INTEGER NOT NULL DEFAULT 0,
  sent_at     TEXT    CHECK (sent_at IS NULL OR due_at IS NULL),
  PRIMARY KEY (business_id, period, starts_on, "limit", threshold)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_at ON events (at, id);
CREATE INDEX events_due_at ON events (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE runs (
  name     TEXT NOT NULL PRIMARY KEY,
  ended_at TEXT NOT NULL CHECK (ended_at LIKE '____-__-__T__:__:__.______Z'),
  after_id INTEGER,
  last_id  INTEGER CHECK (last_id > after_id),
  after_digest BLOB CHECK (length(after_digest) = 16)
) STRICT, WITHOUT ROWID;
INSERT INTO businesses VALUES
(1,7,'Bäckerei “O’Neill”','acme.example','https://acme.example',1,'small','bua_pk_00uR56QU7EMWGbIeFYpfumLBSvzdAZbdsB','active','2025-12-20T08:00:00.000000Z','2026-03-14T13:00:00.000000Z',NULL,3000,500,0,'[50,80,100]',15,1,'04b0d0ce-078a-4c6a-aa91-3c8d42f6f43b',X'597B423A8908A74B8FF6875A6F1E9DAD',X'0D9E6632C55827FF58C3874781F07B9F'),
(2,7,'Museum 2026-02-20','acme.example','https://acme.example',20,'small','bua_pk_095J9UZLtzujym1CosN8nGVapw7Me57dKQ','active','2025-12-20T08:00:00.000000Z','2026-02-20T10:00:00.000000Z',40,NULL,0,0,NULL,1,0,'56529546-80fe-4ad2-a549-05053fcb5f7f',NULL,NULL),
(3,9,'Garage','acme.example','https://acme.example',1,'small','garage-token-of-another-system','suspended','2025-12-20T08:00:00.000000Z','2026-03-14T11:00:00.000000Z',NULL,NULL,0,0,NULL,1,0,'cb4b21c4-2b4a-4b9f-aacb-ffaa8f092bc5',NULL,NULL);
INSERT INTO access VALUES
(1,1,'https://shop.example','2025-12-20T08:00:00.000000Z','2025-12-20T08:00:00.000000Z'),
(2,1,'https://*.bakery.example','2025-12-20T08:00:00.000000Z','2025-12-20T08:00:00.000000Z'),
(3,1,'https://xn--bckerei-5wa.example','2026-03-14T13:00:00.000000Z','2026-03-14T13:00:00.000000Z');
INSERT INTO api_keys VALUES
(1,7,NULL,'Back end','3afe846c1ad1ad48ec90fa47969f82f367d823412a7c4536dc79ee3770ec22ed','tK5d','full','2025-12-20T08:00:00.000000Z',NULL,NULL,'2026-03-14',NULL,NULL,NULL,NULL,'operator (…ffff)',NULL,NULL),
(2,7,NULL,'Accountant','52d4205597dca13417ad3ad6c36112e86b9e2ca2552a2a97b2dfc9f41b4ed038','g3XG','read','2025-12-20T08:00:00.000000Z','2026-12-31',NULL,NULL,NULL,NULL,NULL,NULL,'operator (…ffff)',NULL,NULL),
(3,7,1,'Shop server','9c5d53f88858c848dd08e82a6b5a70a40be67a95e534ed40a890181f9f7981f6','g7e0','record','2025-12-20T08:00:00.000000Z',NULL,NULL,'2026-03-14',NULL,NULL,NULL,NULL,'operator (…ffff)',NULL,NULL),
(4,7,NULL,'API key','2b5f52c54ca45bda88b2d90bda13d1c25d8f1c1159d75db30c77a89c72081343','ySky','full','2025-12-20T08:00:00.000000Z',NULL,'2026-03-14T11:00:00.000000Z',NULL,NULL,NULL,NULL,NULL,'operator (…ffff)',NULL,NULL),
(5,7,NULL,'console','070fb972da5766712746c68dfcda25bfcb7bbb873c0c7242c3cdc8d1f0a1859c','nBTT','full','2026-03-14T13:00:00.000000Z',NULL,NULL,'2026-03-14','2026-03-15T13:00:00.000000Z',NULL,'Zoë',NULL,NULL,NULL,NULL);
INSERT INTO codes VALUES
('0425a9c799b94b844d7bd97fe7f645f77a0f4b9e8058c81dcdc4b2f8c69a24e6',7,1,'read',60,'2026-03-15T12:01:30.000000Z','https://product.example/',NULL,NULL);
INSERT INTO billing_changes VALUES
(1,'2026-03-15','2026-05-05',5);
INSERT INTO daily_usage VALUES
(1,'2026-01-01',57,NULL),
(1,'2026-01-02',74,NULL),
(1,'2026-01-03',41,NULL),
(1,'2026-01-04',59,'{"1":1}'),
(1,'2026-01-05',75,NULL),
(1,'2026-01-06',42,NULL),
(1,'2026-01-07',59,NULL),
(1,'2026-01-08',77,'{"1":1}'),
(1,'2026-01-09',43,NULL),
(1,'2026-01-10',60,NULL),
(1,'2026-01-11',77,NULL),
(1,'2026-01-12',45,'{"1":1}'),
(1,'2026-01-13',61,NULL),
(1,'2026-01-14',78,NULL),
(1,'2026-01-15',45,NULL),
(1,'2026-01-16',63,'{"1":1}'),
(1,'2026-01-17',79,NULL),
(1,'2026-01-18',46,NULL),
(1,'2026-01-19',63,NULL),
(1,'2026-01-20',81,'{"1":1}'),
(1,'2026-01-21',47,NULL),
(1,'2026-01-22',64,NULL),
(1,'2026-01-23',81,NULL),
(1,'2026-01-24',49,'{"1":1}'),
(1,'2026-01-25',65,NULL),
(1,'2026-01-26',82,NULL),
(1,'2026-01-27',49,NULL),
(1,'2026-01-28',67,'{"1":1}'),
(1,'2026-01-29',83,NULL),
(1,'2026-01-30',50,NULL),
(1,'2026-01-31',67,NULL),
(1,'2026-02-01',57,NULL),
(1,'2026-02-02',74,NULL),
(1,'2026-02-03',41,NULL),
(1,'2026-02-04',59,'{"1":1}'),
(1,'2026-02-05',75,NULL),
(1,'2026-02-06',42,NULL),
(1,'2026-02-07',59,NULL),
(1,'2026-02-08',77,'{"1":1}'),
(1,'2026-02-09',43,NULL),
(1,'2026-02-10',60,NULL),
(1,'2026-02-11',77,NULL),
(1,'2026-02-12',45,'{"1":1}'),
(1,'2026-02-13',61,NULL),
(1,'2026-02-14',78,NULL),
(1,'2026-02-15',45,NULL),
(1,'2026-02-16',63,'{"1":1}'),
(1,'2026-02-17',79,NULL),
(1,'2026-02-18',46,NULL),
(1,'2026-02-19',63,NULL),
(1,'2026-02-20',81,'{"1":1}'),
(1,'2026-02-21',47,NULL),
(1,'2026-02-22',64,NULL),
(1,'2026-02-23',81,NULL),
(1,'2026-02-24',49,'{"1":1}'),
(1,'2026-02-25',65,NULL),
(1,'2026-02-26',82,NULL),
(1,'2026-02-27',49,NULL),
(1,'2026-02-28',67,'{"1":1}'),
(1,'2026-03-01',58,NULL),
(1,'2026-03-02',74,NULL),
(1,'2026-03-03',41,NULL),
(1,'2026-03-04',59,'{"1":1}'),
(1,'2026-03-05',75,NULL),
(1,'2026-03-06',42,NULL),
(1,'2026-03-07',59,NULL),
(1,'2026-03-08',77,'{"1":1}'),
(1,'2026-03-09',43,NULL),
(1,'2026-03-10',60,NULL),
(1,'2026-03-11',77,NULL),
(1,'2026-03-12',45,'{"1":1}'),
(1,'2026-03-13',61,NULL),
(1,'2026-03-14',109,NULL),
(2,'2026-01-01',2,NULL),
(2,'2026-01-02',3,NULL),
(2,'2026-01-03',4,NULL),
(2,'2026-01-04',5,NULL),
(2,'2026-01-05',6,NULL),
(2,'2026-01-06',7,NULL),
(2,'2026-01-07',8,NULL),
(2,'2026-01-08',9,NULL),
(2,'2026-01-09',10,NULL),
(2,'2026-01-10',11,NULL),
(2,'2026-01-11',12,NULL),
(2,'2026-01-12',13,NULL),
(2,'2026-01-13',14,NULL),
(2,'2026-01-14',15,NULL),
(2,'2026-01-15',16,NULL),
(2,'2026-01-16',17,NULL),
(2,'2026-01-17',18,NULL),
(2,'2026-01-18',19,NULL),
(2,'2026-01-19',20,NULL),
(2,'2026-01-20',21,NULL),
(2,'2026-01-21',22,NULL),
(2,'2026-01-22',23,NULL),
(2,'2026-01-23',24,NULL),
(2,'2026-01-24',25,NULL),
(2,'2026-01-25',26,NULL),
(2,'2026-01-26',27,NULL),
(2,'2026-01-27',28,NULL),
(2,'2026-01-28',29,NULL),
(2,'2026-01-29',30,NULL),
(2,'2026-01-30',1,NULL),
(2,'2026-01-31',2,NULL),
(2,'2026-02-01',2,NULL),
(2,'2026-02-02',3,NULL),
(2,'2026-02-03',4,NULL),
(2,'2026-02-04',5,NULL),
(2,'2026-02-05',6,NULL),
(2,'2026-02-06',7,NULL),
(2,'2026-02-07',8,NULL),
(2,'2026-02-08',9,NULL),
(2,'2026-02-09',10,NULL),
(2,'2026-02-10',11,NULL),
(2,'2026-02-11',12,NULL),
(2,'2026-02-12',13,NULL),
(2,'2026-02-13',14,NULL),
(2,'2026-02-14',15,NULL),
(2,'2026-02-15',16,NULL),
(2,'2026-02-16',17,NULL),
(2,'2026-02-17',18,NULL),
(2,'2026-02-18',19,NULL),
(2,'2026-02-19',20,NULL),
(2,'2026-02-20',21,NULL),
(2,'2026-02-21',22,NULL),
(2,'2026-02-22',23,NULL),
(2,'2026-02-23',24,NULL),
(2,'2026-02-24',25,NULL),
(2,'2026-02-25',26,NULL),
(2,'2026-02-26',27,NULL),
(2,'2026-02-27',28,NULL),
(2,'2026-02-28',29,NULL),
(2,'2026-03-01',2,NULL),
(2,'2026-03-02',3,NULL),
(2,'2026-03-03',4,NULL),
(2,'2026-03-04',5,NULL),
(2,'2026-03-05',6,NULL),
(2,'2026-03-06',7,NULL),
(2,'2026-03-07',8,NULL),
(2,'2026-03-08',9,NULL),
(2,'2026-03-09',10,NULL),
(2,'2026-03-10',11,NULL),
(2,'2026-03-11',12,NULL),
(2,'2026-03-12',13,NULL),
(2,'2026-03-13',14,NULL),
(2,'2026-03-14',40,NULL),
(3,'2026-01-09',413,NULL),
(3,'2026-01-10',406,NULL),
(3,'2026-01-11',399,NULL),
(3,'2026-01-12',392,NULL),
(3,'2026-01-13',385,NULL),
(3,'2026-01-14',378,NULL),
(3,'2026-01-15',371,NULL),
(3,'2026-01-16',364,NULL),
(3,'2026-01-17',357,NULL),
(3,'2026-01-18',350,NULL),
(3,'2026-01-19',343,NULL),
(3,'2026-01-20',336,NULL),
(3,'2026-01-21',329,NULL),
(3,'2026-01-22',322,NULL),
(3,'2026-01-23',315,NULL),
(3,'2026-01-24',308,NULL),
(3,'2026-01-25',301,NULL),
(3,'2026-01-26',294,NULL),
(3,'2026-01-27',287,NULL),
(3,'2026-01-28',280,NULL),
(3,'2026-01-29',273,NULL),
(3,'2026-01-30',266,NULL),
(3,'2026-01-31',259,NULL),
(3,'2026-02-01',252,NULL),
(3,'2026-02-02',245,NULL),
(3,'2026-02-03',238,NULL),
(3,'2026-02-04',231,NULL),
(3,'2026-02-05',224,NULL),
(3,'2026-02-06',217,NULL),
(3,'2026-02-07',210,NULL),
(3,'2026-02-08',203,NULL),
(3,'2026-02-09',196,NULL),
(3,'2026-02-10',189,NULL),
(3,'2026-02-11',182,NULL),
(3,'2026-02-12',175,NULL),
(3,'2026-02-13',168,NULL),
(3,'2026-02-14',161,NULL),
(3,'2026-02-15',154,NULL),
(3,'2026-02-16',147,NULL),
(3,'2026-02-17',140,NULL),
(3,'2026-02-18',133,NULL),
(3,'2026-02-19',126,NULL),
(3,'2026-02-20',119,NULL),
(3,'2026-02-21',112,NULL),
(3,'2026-02-22',105,NULL),
(3,'2026-02-23',98,NULL),
(3,'2026-02-24',91,NULL),
(3,'2026-02-25',84,NULL),
(3,'2026-02-26',77,NULL),
(3,'2026-02-27',70,NULL),
(3,'2026-02-28',63,NULL),
(3,'2026-03-01',56,NULL),
(3,'2026-03-02',49,NULL),
(3,'2026-03-03',42,NULL),
(3,'2026-03-04',35,NULL),
(3,'2026-03-05',28,NULL),
(3,'2026-03-06',21,NULL),
(3,'2026-03-07',14,NULL),
(3,'2026-03-08',7,NULL);
INSERT INTO sources VALUES
(1,'https://shop.example',1),
(1,'https://*.bakery.example',2),
(1,'https://xn--bckerei-5wa.example',3);
INSERT INTO ledger VALUES
(1,X'03A461B4EAB9FA197228A1EBBF94530C',20524,20527,1,NULL),
(1,X'0846A5C9BB3B942D289986502FA52C6B',20526,20567,1,NULL),
(1,X'1C1C416E758415967B4EB92626582CE3',20513,20567,1,NULL),
(1,X'8EDC31FF913B8E784C6430993B0DC311',20526,20567,30,NULL),
(2,X'08EEDE6E4A14962160089E2C7DB7C6B8',20514,20555,3,NULL),
(2,X'0C8A8E75E4FBC47F13D9AB19F14800EC',20494,20535,11,NULL),
(2,X'1632430E2BBE5294FA37291D3C34C816',20505,20546,22,NULL),
(2,X'1B3E8F74D40077D95B7E71639D2149C5',20507,20548,24,NULL),
(2,X'21617E82BA910445F145BDF92886280A',20522,20563,11,NULL),
(2,X'2D45C0BA32C94EBE34431FCE5C76C73E',20521,20562,10,NULL),
(2,X'39B38B1219C1C6632EC66B0CAE2247E8',20508,20549,25,NULL),
(2,X'41DBA0822D9F651D10282946775976BE',20501,20542,18,NULL),
(2,X'430030C9BCF0E047E33BFAF98FA4A7BF',20515,20556,4,NULL),
(2,X'459F2ABE98DE2970DBE734FE34B7EF07',20506,20547,23,NULL),
(2,X'45D1997FA3FFE5FD905671CE7A1280DD',20516,20557,5,NULL),
(2,X'471969C6D4CD9EC794D5DCF6D7FEDBBC',20510,20551,27,NULL),
(2,X'490E29DCB24A6C7D47B104A77389B7CC',20490,20531,7,NULL),
(2,X'51034A0A8A61D9488B438062CB4B115D',20497,20538,14,NULL),
(2,X'584E747F494C29DB23B266EE4A9FA493',20500,20541,17,NULL),
(2,X'5FF40C2D6AF474D08975031184062E4F',20496,20537,13,NULL),
(2,X'6047155B34184FBB63CD773EE068B949',20492,20533,9,NULL),
(2,X'62C47390484FEF6BA6211D6614A3632B',20495,20536,12,NULL),
(2,X'641456779A94B5CC8DCFBACECAB9AC56',20517,20558,6,NULL),
(2,X'70C2C45D53AA3947CB58C9D484778568',20499,20540,16,NULL),
(2,X'728AD916667AFA50D1C7B6B55557611F',20489,20530,6,NULL),
(2,X'73595A326C4D906C933C99B89BDD73B7',20486,20527,3,NULL),
(2,X'85E7F979633AEE004A5AD15F99D76EB5',20488,20529,5,NULL),
(2,X'8A0CC6B5D4489ECC8A5EB611433916A9',20513,20554,2,NULL),
(2,X'905CEF34E6DFB49C9670A5EBBB0BA5AE',20504,20545,21,NULL),
(2,X'97C79FC83F150626C82CB46F03779E76',20519,20560,8,NULL),
(2,X'9A4A3974C8671310AB3BDA05965B92C6',20520,20561,9,NULL),
(2,X'9B081EDF9E5D4EC528CCC6505554644C',20509,20550,26,NULL),
(2,X'9D63038D88EAB1CF346D8184925F25A6',20525,20566,14,NULL),
(2,X'9DB002E0319485C76BA9A5AF66567A97',20493,20534,10,NULL),
(2,X'A4BDEBBCCB8C3ECBE984EF01EA13D2D3',20512,20553,29,NULL),
(2,X'B522EC7C554597A220A3AB5C47800C52',20498,20539,15,NULL),
(2,X'BF18E0D3367A05CE166D6C96C8F4859A',20502,20543,19,NULL),
(2,X'C776F5FBDE72F52A42BEDDA041CA8EB4',20503,20544,20,NULL),
(2,X'DFCA673AEA890AE78578434E1BD8C836',20526,20567,15,NULL),
(2,X'E2BEC5A54634F59D35A993D1327A4427',20487,20528,4,NULL),
(2,X'EB43E0C3AD16602B6CAEB38BB35ED18C',20524,20565,13,NULL),
(2,X'ECA959213DC9D92FFE4D004388E59F95',20523,20564,12,NULL),
(2,X'EFC690F14BFE229D2E897D4DF9A5DB55',20518,20559,7,NULL),
(2,X'F6DF36DF3BCDACEF4717954FC97C5B31',20511,20552,28,NULL),
(2,X'FC7B8DB72BF06025774AC266BB459DCE',20491,20532,8,NULL),
(4,X'10BCF1510ADA4723609C4A471F95D6FA',20526,20567,1,NULL);
INSERT INTO imported_days VALUES
(3,'2026-02-01'),
(3,'2026-02-02'),
(3,'2026-02-03'),
(3,'2026-02-04'),
(3,'2026-02-05'),
(3,'2026-02-06'),
(3,'2026-02-07'),
(3,'2026-02-08'),
(3,'2026-02-09'),
(3,'2026-02-10'),
(3,'2026-02-11'),
(3,'2026-02-12'),
(3,'2026-02-13'),
(3,'2026-02-14'),
(3,'2026-02-15'),
(3,'2026-02-16'),
(3,'2026-02-17'),
(3,'2026-02-18'),
(3,'2026-02-19'),
(3,'2026-02-20'),
(3,'2026-02-21'),
(3,'2026-02-22'),
(3,'2026-02-23'),
(3,'2026-02-24'),
(3,'2026-02-25'),
(3,'2026-02-26'),
(3,'2026-02-27'),
(3,'2026-02-28'),
(3,'2026-03-01'),
(3,'2026-03-02'),
(3,'2026-03-03'),
(3,'2026-03-04'),
(3,'2026-03-05'),
(3,'2026-03-06'),
(3,'2026-03-07'),
(3,'2026-03-08');
INSERT INTO former_tokens VALUES
('bua_pk_028HVhl0pngW6crqlqYiLdOUtOO7byS30M',1,'2026-03-21T13:00:00.000000Z',1,NULL);
INSERT INTO refused_origins VALUES
(1,'https://copy.example',1,'2026-03-14T13:00:00.000000Z','2026-03-14T13:00:00.000000Z',0);
INSERT INTO limit_refusals VALUES
(2,'2026-03-14',100);
INSERT INTO changes VALUES
('business',1,1,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_business',NULL,'{"user_id":7,"name":"Bäckerei “O’Neill”","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small","monthly_limit":3000,"billing_day":15,"overage":500,"alert_at":[50,80,100],"sites":["https://shop.example","https://*.bakery.example"],"token":"…S30M","status":"active"}',NULL,NULL),
('business',1,2,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_key',NULL,'{"key":"…g7e0","name":"Shop server","expires_on":null,"business_id":1,"read_only":false,"role":"record","id":3}',NULL,NULL),
('business',1,3,'2026-03-14T11:00:00.000000Z','operator (…ffff)','update_business','{"billing_day":15}','{"billing_day":5}',NULL,NULL),
('business',1,4,'2026-03-14T13:00:00.000000Z','console link (…nBTT)','add_sites',NULL,'{"sites":["https://xn--bckerei-5wa.example"]}','Zoë',7),
('business',1,5,'2026-03-14T13:00:00.000000Z','key 1 (…tK5d)','rotate_token','{"token":"…S30M"}','{"token":"…bdsB","former_works_until":"2026-03-21T13:00:00.000000Z"}',NULL,NULL),
('business',1,6,'2026-03-14T13:00:00.000000Z','operator (…ffff)','lower_uses','{"uses":90}','{"uses":30}',NULL,NULL),
('business',2,1,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_business',NULL,'{"user_id":7,"name":"Museum","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small","daily_limit":40,"token":"…7dKQ","status":"active"}',NULL,NULL),
('business',2,2,'2026-01-20T10:00:00.000000Z','operator (…ffff)','update_business','{"name":"Museum","country_id":1}','{"name":"Museum 2026-01-20","country_id":20}',NULL,NULL),
('business',2,3,'2026-02-20T10:00:00.000000Z','operator (…ffff)','update_business','{"name":"Museum 2026-01-20"}','{"name":"Museum 2026-02-20"}',NULL,NULL),
('business',3,1,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_business',NULL,'{"user_id":8,"name":"Garage","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small","token":"…stem","status":"active"}',NULL,NULL),
('business',3,2,'2026-03-14T11:00:00.000000Z','operator (…ffff)','import_usage',NULL,'{"days":60,"uses":12390}',NULL,NULL),
('business',3,3,'2026-03-14T11:00:00.000000Z','operator (…ffff)','update_business','{"user_id":8,"status":"active"}','{"user_id":9,"status":"suspended"}',NULL,NULL),
('business',4,1,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_business',NULL,'{"user_id":8,"name":"Closed","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small","token":"…ifUo","status":"active"}',NULL,NULL),
('business',4,2,'2026-03-14T14:28:00.000000Z','operator (…ffff)','delete_business','{"user_id":8,"name":"Closed","main_domain":"acme.example"}',NULL,NULL,NULL),
('user',7,1,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_key',NULL,'{"key":"…tK5d","name":"Back end","expires_on":null,"business_id":null,"read_only":false,"role":"full","id":1}',NULL,NULL),
('user',7,2,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_key',NULL,'{"key":"…g3XG","name":"Accountant","expires_on":"2026-12-31","business_id":null,"read_only":true,"role":"read","id":2}',NULL,NULL),
('user',7,3,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_key',NULL,'{"key":"…ySky","name":"API key","expires_on":null,"business_id":null,"read_only":false,"role":"full","id":4}',NULL,NULL),
('user',7,4,'2026-03-14T11:00:00.000000Z','operator (…ffff)','revoke_key','{"id":4,"key":"…ySky","name":"API key"}',NULL,NULL,NULL);
INSERT INTO retired_tokens VALUES
('4b3c8b22620729f8035d80519c63bf22efd1e496569fd00d71fa54c6ee06c2de');
INSERT INTO homes VALUES
(7,0,1,'2025-12-20T08:00:00.000000Z'),
(8,0,2,'2025-12-20T08:00:00.000000Z'),
(9,0,3,'2026-03-14T11:00:00.000000Z');
INSERT INTO deletions VALUES
(4);
INSERT INTO imported_tokens VALUES
('4b3c8b22620729f8035d80519c63bf22efd1e496569fd00d71fa54c6ee06c2de',8);
INSERT INTO events VALUES
('6d504736-0ca2-4987-a278-03285dc3ce0b',1,'month','2026-01-15','2026-02-14',3000,50,1564,'2026-02-08T10:00:00.000000Z',NULL,1,'2026-02-08T10:00:00.000000Z'),
('35dcf428-1075-48e6-aed0-6ec58409e803',1,'month','2026-02-15','2026-03-14',3000,50,1545,'2026-03-11T10:00:00.000000Z',NULL,1,'2026-03-11T10:00:00.000000Z'),
('fa8ced55-3d0c-4f09-a4e6-8884ddeb845d',2,'day','2026-03-14','2026-03-14',40,100,40,'2026-03-14T13:00:00.000000Z','2026-03-14T13:01:00.000000Z',1,NULL);
INSERT INTO runs VALUES
('alerts','2026-03-14T13:00:00.000000Z',NULL,NULL,NULL),
('ledger','2026-03-14T14:10:00.000000Z',NULL,NULL,NULL),
('purge','2026-03-14T14:28:00.000000Z',NULL,NULL,NULL),
('refused_origins','2026-03-14T14:18:00.000000Z',0,NULL,NULL);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES
('businesses',4),
('access',3),
('api_keys',5);
