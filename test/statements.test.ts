// The rows of a statement have the fields that its type promises. Types come from what Drizzle selects, rows from the names of the
// columns: tsc holds each list of fields here against the type, the test holds it against the row.
import { expect, test } from 'vitest';
import { hashOf } from '../src/core/credential.ts';
import { addSites, removeEntries, removeEntry } from '../src/db/access.ts';
import { noCost, runBatch } from '../src/db/batch.ts';
import { businessesAfter, businessWithEntries } from '../src/db/business.ts';
import { changesBefore } from '../src/db/changes.ts';
import { readVerdict } from '../src/db/permission.ts';
import { forgetRefused, refusedSince } from '../src/db/refused-origins.ts';
import type { Statement } from '../src/db/statement.ts';
import { rotateToken } from '../src/db/tokens.ts';
import { countManyOnce, countOnce, countUse, usageInRange, useBefore, usesBefore } from '../src/db/usage.ts';
import { NOW, newBusiness, TODAY } from './support.ts';

/** Every field of the rows, and no other. */
type Fields<Row> = { [Field in keyof Row]-?: true };

const digest = '00'.repeat(16);
const list = [{ digest: 'ff'.repeat(16), day: TODAY }];
const sites = ['https://a.example', 'https://b.example'];
const BUSINESS = {
  ...({ id: true, user_id: true, name: true, main_domain: true, site: true, country_id: true } as const),
  ...({ business_size: true, token: true, status: true, created_at: true, updated_at: true } as const),
};
const COUNT = { date: true, count: true } as const;

/** Runs statements in one batch, for the owner of a new business, and compares the first row of each with its fields. */
async function expectFields<S extends [Statement, ...Statement[]]>(
  statements: S,
  fields: { [I in keyof S]: S[I] extends Statement<infer Row> ? Fields<Row> | null : never },
  business?: Awaited<ReturnType<typeof newBusiness>>,
) {
  const { id, key, home } = business ?? (await newBusiness());
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
  const rows: unknown[][] = await runBatch(home.d1, call, first, rest, noCost());
  expect(rows.map(([row]) => (row ? Object.keys(row) : null))).toEqual(
    fields.map((names) => (names ? Object.keys(names) : null)),
  );
}
const LIMITS = { daily_limit: true, monthly_limit: true, today: true, month: true } as const;
const REFUSAL = { refusal: true, read_only: true, unmarked_key: true } as const;

test('of usage', async () => {
  await expectFields(
    [usageInRange({ from: TODAY, to: TODAY }), countUse, ...countOnce(digest)],
    [{ ...REFUSAL, days: true }, COUNT, COUNT, null],
  );
  await expectFields([useBefore({ digest }), ...countOnce(digest)], [{ ...REFUSAL, ...LIMITS, ...COUNT }, COUNT, null]);
  await expectFields([usesBefore, countUse], [{ ...REFUSAL, ...LIMITS }, COUNT]);
  await expectFields([readVerdict, ...countManyOnce(list)], [REFUSAL, COUNT, { day: true }]);
});

test('of access domains', async () => {
  const entry = { id: true, business_id: true, site: true, created_at: true, updated_at: true } as const;
  const read = { ...REFUSAL, business: true, entries: true } as const;
  await expectFields(
    [businessWithEntries, ...addSites(sites), ...removeEntries],
    [read, BUSINESS, null, entry, BUSINESS, null, null],
  );
  const business = await newBusiness();
  const last = business.home.d1.prepare(`select seq from sqlite_sequence where name = 'access'`);
  const next = Number(await last.first('seq')) + 1;
  await expectFields(
    [readVerdict, ...addSites(sites), ...removeEntry(next)],
    [REFUSAL, BUSINESS, null, entry, BUSINESS, null, null],
    business,
  );
});

test('of tokens', async () => {
  const read = { ...REFUSAL, business: true, entries: true } as const;
  const token = (letter: string) => `bua_pk_0${letter.repeat(33)}`;
  const business = await newBusiness();
  const rotations = [rotateToken(token('a'), null), rotateToken(token('b'), '2026-03-16T12:00:00.000000Z')] as const;
  await expectFields([businessWithEntries, ...rotations[0]], [read, BUSINESS, null, null, null], business);
  await expectFields([businessWithEntries, ...rotations[1]], [read, BUSINESS, null, null, null, null], business);
});

test('of lists', async () => {
  await expectFields(
    [changesBefore({ limit: 1, before: 2 }), refusedSince({ since: TODAY }), forgetRefused],
    [{ ...REFUSAL, list: true }, { ...REFUSAL, sites: true, refused: true }, null],
  );
  await expectFields([businessesAfter({ limit: 1, after: 0, from: TODAY })], [{ ...REFUSAL, businesses: true }]);
});
