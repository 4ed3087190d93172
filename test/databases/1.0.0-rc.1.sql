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
  limits_since        TEXT    CHECK (limits_since LIKE '____-__-__'), -- since when these five hold. NULL: they never changed
  -- A pending change: the same five, from that day on. All are NULL without one.
  next_from           TEXT    CHECK (next_from LIKE '____-__-__'),
  next_daily_limit    INTEGER CHECK (next_daily_limit >= 0),
  next_monthly_limit  INTEGER CHECK (next_monthly_limit >= 0),
  next_overage        INTEGER CHECK (next_overage >= 0),
  next_page_overage   INTEGER CHECK (next_page_overage IN (0, 1) AND (next_page_overage = 0 OR next_overage IS NOT NULL)),
  next_alert_at       TEXT    CHECK (json_type(next_alert_at) = 'array'),
  extras_until        TEXT    CHECK (extras_until LIKE '____-__-__'), -- the first day of the last month with an extra. Saves looking for it
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
CREATE INDEX businesses_next_from ON businesses (next_from) WHERE next_from IS NOT NULL;
CREATE UNIQUE INDEX businesses_creation_key ON businesses (creation_key) WHERE creation_key IS NOT NULL;
CREATE TABLE sites (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  site        TEXT    NOT NULL CHECK (site LIKE '%://_%'),
  created_at  TEXT    NOT NULL,
  updated_at  TEXT    NOT NULL,
  -- 1 if visitors can reach the site.
  is_reachable INTEGER NOT NULL DEFAULT 0 CHECK (is_reachable IN (0, 1)),
  UNIQUE (business_id, site)
) STRICT;
CREATE INDEX sites_reachable ON sites (business_id) WHERE is_reachable = 1;
CREATE TABLE api_keys (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id      INTEGER NOT NULL,
  business_id  INTEGER REFERENCES businesses (id), -- NULL: every business of the user
  source       INTEGER CHECK (source IS NULL OR source > 0 AND business_id IS NOT NULL), -- the number of its label. NULL: none
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
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  changes_on  TEXT    NOT NULL CHECK (changes_on LIKE '____-__-__'),
  billing_day INTEGER NOT NULL CHECK (billing_day BETWEEN 1 AND 28),
  PRIMARY KEY (business_id, starts_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX billing_changes_billing_day ON billing_changes (billing_day, business_id);
CREATE TABLE former_limits (
  business_id   INTEGER NOT NULL REFERENCES businesses (id),
  ends_on       TEXT    NOT NULL CHECK (ends_on LIKE '____-__-__'),
  daily_limit   INTEGER,
  monthly_limit INTEGER,
  overage       INTEGER,
  page_overage  INTEGER NOT NULL,
  alert_at      TEXT,
  PRIMARY KEY (business_id, ends_on)
) STRICT, WITHOUT ROWID;
CREATE TABLE extras (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  uses        INTEGER NOT NULL CHECK (uses >= 0),
  PRIMARY KEY (business_id, starts_on)
) STRICT, WITHOUT ROWID;
CREATE TABLE extra_requests (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  digest      BLOB    NOT NULL CHECK (length(digest) = 16),
  request     BLOB    NOT NULL CHECK (length(request) = 16),
  starts_on   TEXT    NOT NULL CHECK (starts_on LIKE '____-__-__'),
  uses        INTEGER NOT NULL CHECK (uses >= 0),
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  PRIMARY KEY (business_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX extra_requests_day ON extra_requests (day);
CREATE TABLE daily_usage (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  count       INTEGER NOT NULL CHECK (count > 0),
  sources     TEXT    CHECK (json_type(sources) = 'object'), -- numbers of sources, each with its count. NULL: no use had a source
  PRIMARY KEY (business_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE sources (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  name        TEXT    NOT NULL,
  number      INTEGER NOT NULL CHECK (number <> 0),
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
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  day         TEXT    NOT NULL CHECK (day LIKE '____-__-__'),
  PRIMARY KEY (business_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE former_tokens (
  id             INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order in which tokens were replaced. If a business has too many, the first goes
  token          TEXT    NOT NULL UNIQUE,
  business_id    INTEGER NOT NULL REFERENCES businesses (id),
  expires_at     TEXT    NOT NULL,
  last_used_on   TEXT    CHECK (last_used_on LIKE '____-__-__'), -- the day of the last permitted call since it was replaced
  used_from      TEXT    CHECK (json_type(used_from) = 'object') -- the origins of such calls, each with its last day. NULL: never used
) STRICT;
CREATE INDEX former_tokens_business_id ON former_tokens (business_id);
CREATE INDEX former_tokens_expires_at ON former_tokens (expires_at);
CREATE TABLE seen_origins (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
  origin      TEXT    NOT NULL CHECK (origin LIKE '%://_%'),
  count       INTEGER NOT NULL CHECK (count > 0),
  first_seen  TEXT    NOT NULL,
  last_seen   TEXT    NOT NULL,
  let_in      INTEGER NOT NULL DEFAULT 0 CHECK (let_in IN (0, 1)), -- 0: it was refused
  candidates  TEXT    NOT NULL CHECK (json_type(candidates) = 'array'), -- the sites that would let it in
  PRIMARY KEY (business_id, origin)
) STRICT, WITHOUT ROWID;
CREATE TABLE limit_refusals (
  business_id INTEGER NOT NULL REFERENCES businesses (id),
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
CREATE TABLE alerts (
  id          TEXT    NOT NULL UNIQUE CHECK (length(id) = 36), -- a UUID, by which the receiver recognizes repetitions
  business_id INTEGER NOT NULL REFERENCES businesses (id),
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
CREATE INDEX alerts_at ON alerts (at, id);
CREATE INDEX alerts_due_at ON alerts (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE runs (
  name     TEXT NOT NULL PRIMARY KEY,
  ended_at TEXT NOT NULL CHECK (ended_at LIKE '____-__-__T__:__:__.______Z'),
  after_id INTEGER,
  last_id  INTEGER CHECK (last_id > after_id),
  after_digest BLOB CHECK (length(after_digest) = 16)
) STRICT, WITHOUT ROWID;
CREATE TABLE work (
  user_id    INTEGER NOT NULL,
  class      TEXT    NOT NULL CHECK (class IN ('reading', 'recording', 'changing')),
  busy_until INTEGER NOT NULL, -- in milliseconds since 1970
  day        INTEGER NOT NULL, -- counted from 1970-01-01
  ids        INTEGER NOT NULL CHECK (ids >= 0),   -- the ids of uses that lists stored
  bytes      INTEGER NOT NULL CHECK (bytes >= 0), -- what changes stored
  PRIMARY KEY (user_id, class)
) STRICT, WITHOUT ROWID;
INSERT INTO businesses VALUES
(1,7,'Bäckerei “O’Neill”','acme.example','https://acme.example',1,'small','bua_pk_03qvd9eLlZIJ1gZ8JtoioZkl4wonu8c4xR','active','2025-12-20T08:00:00.000000Z','2026-03-14T13:00:00.000000Z',NULL,4000,500,0,'[50,80,100]','2026-03-14','2026-03-15',NULL,5000,500,0,'[50,80,100]','2026-02-15',15,1,'a99f74db-eee8-4cfe-a452-068316b2faef',X'597B423A8908A74B8FF6875A6F1E9DAD',X'0D9E6632C55827FF58C3874781F07B9F'),
(2,7,'Museum 2026-01-20','acme.example','https://acme.example',20,'small','bua_pk_0sN8nGVapw7Me57dKQi7UE2gPcE1KUalmo','active','2025-12-20T08:00:00.000000Z','2026-01-20T10:00:00.000000Z',40,NULL,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,'d867f810-4f02-4d78-a236-e8801a5e61d0',NULL,NULL),
(3,9,'Garage','acme.example','https://acme.example',1,'small','garage-token-of-another-system','suspended','2025-12-20T08:00:00.000000Z','2026-03-14T11:00:00.000000Z',NULL,NULL,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,'95756b28-2ee4-4fc5-a453-d9a87168bb1e',NULL,NULL);
INSERT INTO sites VALUES
(1,1,'https://shop.example','2025-12-20T08:00:00.000000Z','2025-12-20T08:00:00.000000Z',1),
(2,1,'https://*.bakery.example','2025-12-20T08:00:00.000000Z','2025-12-20T08:00:00.000000Z',1),
(3,1,'https://xn--bckerei-5wa.example','2026-03-14T13:00:00.000000Z','2026-03-14T13:00:00.000000Z',1);
INSERT INTO api_keys VALUES
(1,7,NULL,NULL,'Back end','8fe17a02a4c6290b5bbb524f2b19f586003ed9ad85747e3ace5f8b4d544edf56','h8Gk','full','2025-12-20T08:00:00.000000Z',NULL,NULL,'2026-03-14',NULL,NULL,NULL,NULL,'operator (…ffff)',NULL,NULL),
(2,7,NULL,NULL,'Accountant','62f66cdb6053d7890c95450d90a612f86ff419250829abf27bc44dc639444351','aBB1','read','2025-12-20T08:00:00.000000Z','2026-12-31',NULL,NULL,NULL,NULL,NULL,NULL,'operator (…ffff)',NULL,NULL),
(3,7,1,1,'Shop server','6464565f4fe178f67e08e90e9aa09ee74b1e4b49deba402e3361084c053d34b6','mHyL','record','2025-12-20T08:00:00.000000Z',NULL,NULL,'2026-03-14',NULL,NULL,NULL,NULL,'operator (…ffff)',NULL,NULL),
(4,7,NULL,NULL,'API key','8d610e35e6ce4fe583d8e7602fb30ff8d44f0615ad67e16d160c4b6e32bb8b74','xyAT','full','2025-12-20T08:00:00.000000Z',NULL,'2026-03-14T11:00:00.000000Z',NULL,NULL,NULL,NULL,NULL,'operator (…ffff)',NULL,NULL),
(5,7,NULL,NULL,'console','9dc245a2cdc7b051a10ffcc492df867d2f67a29e2c500fa9e2e45996f76bc712','OB19','full','2026-03-14T13:00:00.000000Z',NULL,NULL,'2026-03-14','2026-03-15T13:00:00.000000Z',NULL,'Zoë',NULL,NULL,NULL,NULL);
INSERT INTO codes VALUES
('7ed0d6f36200f29d5f1362a45280e7d09ddc084a04b415507b657dd1f99cb9c2',7,1,'read',60,'2026-03-15T12:01:30.000000Z','https://product.example/',NULL,NULL);
INSERT INTO billing_changes VALUES
(1,'2026-03-15','2026-05-05',5);
INSERT INTO former_limits VALUES
(1,'2026-03-13',NULL,3000,500,0,'[50,80,100]');
INSERT INTO extras VALUES
(1,'2026-02-15',500);
INSERT INTO extra_requests VALUES
(1,X'6E808470FEF12DE964A8C9A446C1D60F',X'079A5FF200962834A1681E322E65726E','2026-02-15',500,'2026-03-14');
INSERT INTO daily_usage VALUES
(1,'2026-01-02',154,NULL),
(1,'2026-01-05',205,NULL),
(1,'2026-01-08',257,'{"-1":1}'),
(1,'2026-01-11',157,NULL),
(1,'2026-01-14',208,NULL),
(1,'2026-01-17',259,NULL),
(1,'2026-01-20',161,'{"-1":1}'),
(1,'2026-01-23',211,NULL),
(1,'2026-01-26',262,NULL),
(1,'2026-01-29',163,NULL),
(1,'2026-02-01',137,NULL),
(1,'2026-02-04',189,'{"-1":1}'),
(1,'2026-02-07',239,NULL),
(1,'2026-02-10',140,NULL),
(1,'2026-02-13',191,NULL),
(1,'2026-02-16',243,'{"-1":1}'),
(1,'2026-02-19',143,NULL),
(1,'2026-02-22',194,NULL),
(1,'2026-02-25',245,NULL),
(1,'2026-02-28',147,'{"-1":1}'),
(1,'2026-03-01',1,'{"1":1}'),
(1,'2026-03-03',171,NULL),
(1,'2026-03-06',222,NULL),
(1,'2026-03-09',123,NULL),
(1,'2026-03-12',175,'{"-1":1}'),
(1,'2026-03-14',31,'{"1":31}'),
(2,'2026-01-02',3,NULL),
(2,'2026-01-05',6,NULL),
(2,'2026-01-08',9,NULL),
(2,'2026-01-11',12,NULL),
(2,'2026-01-14',15,NULL),
(2,'2026-01-17',18,NULL),
(2,'2026-01-20',21,NULL),
(2,'2026-01-23',24,NULL),
(2,'2026-01-26',27,NULL),
(2,'2026-01-29',30,NULL),
(2,'2026-02-01',2,NULL),
(2,'2026-02-04',5,NULL),
(2,'2026-02-07',8,NULL),
(2,'2026-02-10',11,NULL),
(2,'2026-02-13',14,NULL),
(2,'2026-02-16',17,NULL),
(2,'2026-02-19',20,NULL),
(2,'2026-02-22',23,NULL),
(2,'2026-02-25',26,NULL),
(2,'2026-02-28',29,NULL),
(2,'2026-03-03',4,NULL),
(2,'2026-03-06',7,NULL),
(2,'2026-03-09',10,NULL),
(2,'2026-03-12',13,NULL),
(2,'2026-03-14',40,NULL),
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
(1,'https://xn--bckerei-5wa.example',-3),
(1,'https://*.bakery.example',-2),
(1,'https://shop.example',-1),
(1,'shop-1',1);
INSERT INTO ledger VALUES
(1,X'03A461B4EAB9FA197228A1EBBF94530C',20524,20527,1,NULL),
(1,X'0846A5C9BB3B942D289986502FA52C6B',20526,20567,1,1),
(1,X'1C1C416E758415967B4EB92626582CE3',20513,20567,1,1),
(1,X'8EDC31FF913B8E784C6430993B0DC311',20526,20567,30,1),
(2,X'0C8A8E75E4FBC47F13D9AB19F14800EC',20494,20535,11,NULL),
(2,X'2D45C0BA32C94EBE34431FCE5C76C73E',20521,20562,10,NULL),
(2,X'430030C9BCF0E047E33BFAF98FA4A7BF',20515,20556,4,NULL),
(2,X'459F2ABE98DE2970DBE734FE34B7EF07',20506,20547,23,NULL),
(2,X'51034A0A8A61D9488B438062CB4B115D',20497,20538,14,NULL),
(2,X'584E747F494C29DB23B266EE4A9FA493',20500,20541,17,NULL),
(2,X'85E7F979633AEE004A5AD15F99D76EB5',20488,20529,5,NULL),
(2,X'9B081EDF9E5D4EC528CCC6505554644C',20509,20550,26,NULL),
(2,X'A4BDEBBCCB8C3ECBE984EF01EA13D2D3',20512,20553,29,NULL),
(2,X'C776F5FBDE72F52A42BEDDA041CA8EB4',20503,20544,20,NULL),
(2,X'EB43E0C3AD16602B6CAEB38BB35ED18C',20524,20565,13,NULL),
(2,X'EFC690F14BFE229D2E897D4DF9A5DB55',20518,20559,7,NULL),
(2,X'FC7B8DB72BF06025774AC266BB459DCE',20491,20532,8,NULL),
(4,X'10BCF1510ADA4723609C4A471F95D6FA',20526,20567,1,NULL);
INSERT INTO imported_days VALUES
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
(1,'bua_pk_0qYiLdOUtOO7byS30MtrLeAnUjQ8dEpIjO',1,'2026-03-21T13:00:00.000000Z',NULL,NULL);
INSERT INTO seen_origins VALUES
(1,'https://copy.example',1,'2026-03-14T13:00:00.000000Z','2026-03-14T13:00:00.000000Z',0,'["https://copy.example"]');
INSERT INTO limit_refusals VALUES
(2,'2026-03-14',100);
INSERT INTO changes VALUES
('business',1,1,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_business',NULL,'{"user_id":7,"name":"Bäckerei “O’Neill”","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small","monthly_limit":3000,"billing_day":15,"overage":500,"alert_at":[50,80,100],"sites":["https://shop.example","https://*.bakery.example"],"token":"…pIjO","status":"active"}',NULL,NULL),
('business',1,2,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_key',NULL,'{"key":"…mHyL","name":"Shop server","expires_on":null,"business_id":1,"label":"shop-1","role":"record","id":3}',NULL,NULL),
('business',1,3,'2026-03-14T11:00:00.000000Z','operator (…ffff)','update_business','{"billing_day":15}','{"billing_day":5}',NULL,NULL),
('business',1,4,'2026-03-14T11:00:00.000000Z','operator (…ffff)','update_business','{"monthly_limit":3000}','{"monthly_limit":4000}',NULL,NULL),
('business',1,5,'2026-03-14T11:00:00.000000Z','operator (…ffff)','update_business','{"monthly_limit":4000,"limits_from":null}','{"monthly_limit":5000,"limits_from":"2026-03-15"}',NULL,NULL),
('business',1,6,'2026-03-14T11:00:00.000000Z','operator (…ffff)','add_extra','{"extra":0}','{"extra":500,"starts_on":"2026-02-15"}',NULL,NULL),
('business',1,7,'2026-03-14T13:00:00.000000Z','console link (…OB19)','add_sites',NULL,'{"sites":["https://xn--bckerei-5wa.example"]}','Zoë',7),
('business',1,8,'2026-03-14T13:00:00.000000Z','key 1 (…h8Gk)','rotate_token','{"token":"…pIjO"}','{"token":"…c4xR","former_works_until":"2026-03-21T13:00:00.000000Z"}',NULL,NULL),
('business',1,9,'2026-03-14T13:00:00.000000Z','operator (…ffff)','lower_uses','{"uses":90}','{"uses":30,"lowered":1,"ids":["job-1"]}',NULL,NULL),
('business',2,1,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_business',NULL,'{"user_id":7,"name":"Museum","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small","daily_limit":40,"token":"…almo","status":"active"}',NULL,NULL),
('business',2,2,'2026-01-20T10:00:00.000000Z','operator (…ffff)','update_business','{"name":"Museum","country_id":1}','{"name":"Museum 2026-01-20","country_id":20}',NULL,NULL),
('business',3,1,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_business',NULL,'{"user_id":8,"name":"Garage","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small","token":"…stem","status":"active"}',NULL,NULL),
('business',3,2,'2026-03-14T11:00:00.000000Z','operator (…ffff)','import_usage',NULL,'{"days":20,"uses":1330}',NULL,NULL),
('business',3,3,'2026-03-14T11:00:00.000000Z','operator (…ffff)','update_business','{"user_id":8,"status":"active"}','{"user_id":9,"status":"suspended"}',NULL,NULL),
('business',4,1,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_business',NULL,'{"user_id":8,"name":"Closed","main_domain":"acme.example","site":"https://acme.example","country_id":1,"business_size":"small","token":"…Ac6X","status":"active"}',NULL,NULL),
('business',4,2,'2026-03-14T14:28:00.000000Z','operator (…ffff)','delete_business','{"user_id":8,"name":"Closed","main_domain":"acme.example"}',NULL,NULL,NULL),
('user',7,1,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_key',NULL,'{"key":"…h8Gk","name":"Back end","expires_on":null,"business_id":null,"role":"full","id":1}',NULL,NULL),
('user',7,2,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_key',NULL,'{"key":"…aBB1","name":"Accountant","expires_on":"2026-12-31","business_id":null,"role":"read","id":2}',NULL,NULL),
('user',7,3,'2025-12-20T08:00:00.000000Z','operator (…ffff)','create_key',NULL,'{"key":"…xyAT","name":"API key","expires_on":null,"business_id":null,"role":"full","id":4}',NULL,NULL),
('user',7,4,'2026-03-14T11:00:00.000000Z','operator (…ffff)','revoke_key','{"id":4,"key":"…xyAT","name":"API key"}',NULL,NULL,NULL);
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
INSERT INTO alerts VALUES
('580dd774-5b7c-4212-a586-3d382dab9233',1,'month','2026-01-15','2026-02-14',3000,50,1621,'2026-02-07T10:00:00.000000Z',NULL,1,'2026-02-07T10:00:00.000000Z'),
('f851d007-23fc-4c71-a2e7-e4b433169023',1,'month','2026-02-15','2026-03-14',3000,50,1662,'2026-03-12T10:00:00.000000Z',NULL,1,'2026-03-12T10:00:00.000000Z'),
('66087f87-d46e-4673-ab55-0c87ecae2ae1',2,'day','2026-03-14','2026-03-14',40,100,40,'2026-03-14T13:00:00.000000Z','2026-03-14T13:01:00.000000Z',1,NULL);
INSERT INTO runs VALUES
('alerts','2026-03-14T13:00:00.000000Z',NULL,NULL,NULL),
('ledger','2026-03-14T14:10:00.000000Z',NULL,NULL,NULL),
('purge','2026-03-14T14:28:00.000000Z',NULL,NULL,NULL),
('seen_origins','2026-03-14T14:18:00.000000Z',0,NULL,NULL);
INSERT INTO work VALUES
(7,'changing',1773493200250,20526,0,490),
(7,'recording',1773493200011,20526,3,0);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES
('businesses',4),
('sites',3),
('api_keys',5),
('former_tokens',1);
