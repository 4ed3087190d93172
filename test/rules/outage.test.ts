// The classification of D1 errors by their text. Each text has a public source. Errors from the database begin with `D1_ERROR: `, but
// connection errors do not.
import { describe, expect, test } from 'vitest';
import { outageOf } from '../../src/db/outage.ts';

/** https://developers.cloudflare.com/d1/observability/debug-d1/#error-list */
const DOCS = 'the D1 error list';

const NOT_RUN = [
  ['D1 DB is overloaded. Requests queued for too long.', DOCS],
  ['D1 DB is overloaded. Too many requests queued.', DOCS],
  ['Currently processing a long-running export.', 'kentcdodds/kody#930'],
  ['Currently processing a long-running import.', 'like an export; seen by a public load script'],
  ['Exceeded maximum DB size.', DOCS],
  [
    "Your account has exceeded D1's maximum account storage limit, please contact Cloudflare to raise your limit.",
    DOCS,
  ],
  [
    "Your account has exceeded D1's free tier daily row read limit. Upgrade to a paid plan or wait until tomorrow (midnight UTC) to continue.",
    'cloudflare/cloudflare-docs#32641',
  ],
  [
    "Your account has exceeded D1's free tier daily row write limit. Upgrade to a paid plan or wait until tomorrow (midnight UTC) to continue.",
    'cloudflare/cloudflare-docs#32641',
  ],
  ['database is locked: SQLITE_BUSY', 'cloudflare/workerd#4818'],
  [
    'Failed to get session commit token: internal error; reference = 7b2v9k1dqg1',
    'cloudflare/workers-sdk#14916; local only',
  ],
  ['database or disk is full: SQLITE_FULL', 'cloudflare/workerd, src/workerd/api/sql-test.js'],
  ['database disk image is malformed: SQLITE_CORRUPT', 'sqlite.org/rescode.html; local only'],
  ['malformed database schema (access) - near "x": SQLITE_CORRUPT', 'sqlite/sqlite, src/prepare.c; local only'],
  ['file is not a database: SQLITE_NOTADB', 'sqlite.org/rescode.html; local only'],
];
const UNKNOWN = [
  ['Network connection lost.', DOCS],
  ['Cannot resolve D1 DB due to transient issue on remote node.', DOCS],
  ['Replica disconnected from primary.', 'cloudflare/cloudflare-docs#32597'],
  ["Can't read from request stream because client disconnected.", DOCS],
  ['D1 DB reset because its code was updated.', DOCS],
  ['Internal error while starting up D1 DB storage caused object to be reset.', DOCS],
  ['Internal error in D1 DB storage caused object to be reset.', DOCS],
  ['D1 DB storage operation exceeded timeout which caused object to be reset.', DOCS],
  ["D1 DB's isolate exceeded its memory limit and was reset.", DOCS],
  ['D1 DB exceeded its CPU time limit and was reset.', DOCS],
  ['internal error; reference = 7b2v9k1dqg1', 'cloudflare/workerd, src/workerd/jsg/util.c++'],
  ['Failed to parse body as JSON, got: error code: 1031', 'cloudflare/workers-sdk#10801'],
  [
    "The Durable Object's code has been updated, this version can no longer access storage.",
    'Durable Objects, troubleshooting; a D1 database is a Durable Object',
  ],
];
const OURS = [
  ['no such table: api_keys: SQLITE_ERROR', 'SQLite'],
  [
    'CHECK constraint failed: count > 0: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_CHECK)',
    'cloudflare/workerd, src/workerd/util/sqlite.c++',
  ],
  ['too many SQL variables at offset 400: SQLITE_ERROR', 'cloudflare/cloudflare-docs#31047'],
  ['Failed to parse body as JSON, got: ZodError: invalid', 'miniflare, for a value that it does not accept'],
  ['Too many API requests by single worker invocation.', 'Workers: the limit on subrequests'],
];

describe.each([
  ['did not run', 'not_run', NOT_RUN],
  ['may have run', 'unknown', UNKNOWN],
  ['failed because of an error in the service', null, OURS],
] as const)('a batch %s if D1 reports', (_, outage, texts) => {
  test.each(texts)('%s (%s)', (text) => {
    for (const message of [`D1_ERROR: ${text}`, text]) expect(outageOf(new Error(message ?? ''))).toBe(outage);
  });
});
