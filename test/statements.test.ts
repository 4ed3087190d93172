// The rows of a statement have the fields that its type promises. Types come from what Drizzle selects, rows from the names of the
// columns: tsc holds each list of fields here against the type, the test holds it against the row.
import { expect, test } from 'vitest';
import { hashOf } from '../src/core/credential.ts';
import {
  businessWithEntries,
  deleteEntry,
  insertSites,
  touchIfEntries,
  touchIfNotLast,
  touchIfSitesFit,
} from '../src/db/access.ts';
import { noCost, runBatch } from '../src/db/batch.ts';
import { permission } from '../src/db/permission.ts';
import type { Statement } from '../src/db/statement.ts';
import {
  countNewUse,
  countNewUses,
  countUse,
  listOf,
  rememberUse,
  rememberUses,
  usageInRange,
  useBefore,
} from '../src/db/usage.ts';
import { env, NOW, newBusiness, TODAY } from './support.ts';

/** Every field of the rows, and no other. */
type Fields<Row> = { [Field in keyof Row]-?: true };

const use = { digest: '00'.repeat(16), day: TODAY };
const list = listOf([{ ...use, digest: 'ff'.repeat(16) }]);
const sites = { sites: '["https://a.example","https://b.example"]' };
const BUSINESS = {
  ...({ id: true, user_id: true, name: true, main_domain: true, site: true, country_id: true } as const),
  ...({ business_size: true, token: true, status: true, created_at: true, updated_at: true } as const),
};
const COUNT = { date: true, count: true } as const;

/** Runs statements in one batch, for the owner of a new business, and compares the first row of each with its fields. */
async function expectFields<S extends [Statement, ...Statement[]]>(
  statements: S,
  fields: { [I in keyof S]: S[I] extends Statement<infer Row> ? Fields<Row> | null : never },
) {
  const { id, key } = await newBusiness();
  const credential = { kind: 'key', stored: await hashOf(key) } as const;
  const call = {
    operation: 'change_access',
    credential,
    business_id: id,
    origin: null,
    ownOrigin: '',
    now: NOW,
  } as const;
  const [first, ...rest] = statements;
  const rows: unknown[][] = await runBatch(env.DB, call, first, rest, noCost());
  expect(rows.map(([row]) => (row ? Object.keys(row) : null))).toEqual(
    fields.map((names) => (names ? Object.keys(names) : null)),
  );
}
const REFUSAL = { refusal: true } as const;

test('of usage', async () => {
  await expectFields(
    [usageInRange({ from: TODAY, to: TODAY }), countUse({ day: TODAY }), countNewUse(use), rememberUse(use)],
    [{ ...REFUSAL, days: true }, COUNT, COUNT, null],
  );
  await expectFields([useBefore(use), countNewUse(use), rememberUse(use)], [{ ...REFUSAL, ...COUNT }, COUNT, null]);
  await expectFields([permission, countNewUses(list), rememberUses(list)], [REFUSAL, COUNT, { day: true }]);
});

test('of access domains', async () => {
  const entry = { id: true, business_id: true, site: true, created_at: true, updated_at: true } as const;
  const read = { ...REFUSAL, business: true, entries: true } as const;
  await expectFields(
    [businessWithEntries, touchIfSitesFit(sites), insertSites(sites), touchIfEntries],
    [read, BUSINESS, entry, BUSINESS],
  );
  const { results } = await env.DB.prepare('select seq from sqlite_sequence where name = ?').bind('access').all();
  const access_id = Number(results[0]?.seq) + 1; // the next
  await expectFields(
    [permission, touchIfSitesFit(sites), insertSites(sites), touchIfNotLast({ access_id }), deleteEntry({ access_id })],
    [REFUSAL, BUSINESS, entry, BUSINESS, { id: true }],
  );
});
