// The rows of each statement have exactly the fields of the statement's type. The type is derived from the Drizzle selection, and the
// fields of a row from its column names. tsc compares each list of fields in this file with the type, and the test compares the same list
// with a row.
import { expect, test } from 'vitest';
import { addSites, removeEntries, removeEntry } from '../src/access/statements.ts';
import { allEventsBefore, eventsBefore } from '../src/alerts/statements.ts';
import { businessesAfter, businessInFull, businessWithEntries } from '../src/business/statements.ts';
import { changesOfBusiness } from '../src/changes/statements.ts';
import { sha256Hex } from '../src/core/credential.ts';
import { readDatabase } from '../src/databases/statements.ts';
import { noCost, runBatch } from '../src/db/batch.ts';
import { deleteRefusedOrigins, originsSince } from '../src/db/refused-origins.ts';
import { type BusinessRow, businessColumns } from '../src/db/schema.ts';
import { readVerdict, type Statement, type Steps } from '../src/db/statement.ts';
import { endSession, startSession } from '../src/sessions/statements.ts';
import { rotateToken, stopFormerTokens } from '../src/tokens/statements.ts';
import { importHistory } from '../src/usage/history.ts';
import { countManyOnce, countOnce, countUse, readKnownUse, readLimitUsage } from '../src/usage/recording.ts';
import { totalsAfter, usageInRange } from '../src/usage/statements.ts';
import { ruleNamed } from './ask.ts';
import { NOW, newBusiness, TODAY } from './support.ts';

/** Every field of a row type, including optional ones. */
type Fields<Row> = { [Field in keyof Row]-?: true };

const digest = '00'.repeat(16);
const USE = { quantity: 1, label: null };
const list = [{ digest: 'ff'.repeat(16), day: TODAY, ...USE, isDated: false }];
const sites = ['https://a.example', 'https://b.example'];
const BUSINESS = Object.fromEntries(Object.keys(businessColumns).map((name) => [name, true])) as Fields<BusinessRow>;
const COUNT = { date: true, count: true } as const;

/** Runs a read and steps in one batch as a business's owner, and compares each statement's first row with the expected fields. */
async function expectFields<Row, S extends Steps>(
  read: Statement<Row>,
  readFields: Fields<Row>,
  steps: S,
  fields: { [Step in keyof S]: S[Step] extends Statement<infer Row> ? Fields<Row> | null : never },
  business?: Awaited<ReturnType<typeof newBusiness>>,
  isOperator = false,
) {
  const { id, key, home } = business ?? (await newBusiness());
  const credential = isOperator
    ? ({ kind: 'operator', name: 'operator' } as const)
    : ({ kind: 'key', lookupValue: await sha256Hex(key) } as const);
  const call = {
    rule: ruleNamed('change_access'),
    credential,
    business_id: id,
    namesBusiness: true,
    user_id: 0,
    namesUser: false,
    origin: null,
    ownOrigin: '',
    now: NOW,
    deadline: Date.now() + 10_000,
  } as const;
  const namesOf = (row: unknown) => (row ? Object.keys(row) : null);
  const { row, rows } = await runBatch(home.d1, call, read, steps, noCost());
  expect(namesOf(row)).toEqual(Object.keys(readFields));
  const found = Object.entries<unknown[]>(rows).map(([step, [first]]) => [step, namesOf(first)]);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(fields).map(([step, names]) => [step, namesOf(names)])),
  );
}
const LIMITS = {
  daily_limit: true,
  monthly_limit: true,
  overage: true,
  today: true,
  month: true,
  month_starts_on: true,
  month_ends_on: true,
} as const;
const BILLING = { billing_day: true, next_billing_day: true, from: true } as const;
const REFUSAL = { refusal: true, role: true, unmarked: true, time_left: true } as const;

test('recording and reading usage return exactly the fields of the row types', async () => {
  const ofUse = { counted: COUNT, remembered: null, reached: null };
  await expectFields(
    usageInRange({ from: TODAY, to: TODAY }),
    { ...REFUSAL, counts: true },
    countOnce({ digest, ...USE }),
    ofUse,
  );
  await expectFields(
    readKnownUse({ digest }),
    { ...REFUSAL, ...LIMITS, ...COUNT },
    countOnce({ digest, ...USE }),
    ofUse,
  );
  await expectFields(readLimitUsage, { ...REFUSAL, ...LIMITS }, countUse(USE), { counted: COUNT, reached: null });
  await expectFields(readVerdict, REFUSAL, countManyOnce(list), {
    counted: COUNT,
    remembered: { day: true },
    refused: null,
    reached: null,
  });
});

test('changing access domains returns exactly the fields of the row types', async () => {
  const entry = { id: true, business_id: true, site: true, created_at: true, updated_at: true } as const;
  const read = { ...REFUSAL, business: true, entries: true } as const;
  const added = { decided: BUSINESS, recorded: null, applied: entry, named: null };
  const removed = { decided: BUSINESS, recorded: null, applied: null };
  const business = await newBusiness();
  await expectFields(businessWithEntries, read, addSites(sites, true), added, business);
  const stored = business.home.d1.prepare('select min(id) as id from access where business_id = ?').bind(business.id);
  await expectFields(readVerdict, REFUSAL, removeEntry(Number(await stored.first('id'))), removed, business);
  await expectFields(readVerdict, REFUSAL, removeEntries(), removed, business);
});

test('importing a history returns exactly the fields of the row types', async () => {
  const { read, steps } = importHistory([{ date: '2026-03-01', count: 5 }], false);
  const written = { recorded: null, forgotten: null, imported: null, applied: null, dropped: null, reached: null };
  const imported = { decided: BUSINESS, ...written };
  await expectFields(read, { ...REFUSAL, taken: true }, steps, imported);
});

test('reading a business in full returns exactly the fields of the row types', async () => {
  const read = {
    ...REFUSAL,
    business: true,
    entries: true,
    ...LIMITS,
    page_overage: true,
    refused_by_limit: true,
    alert_at: true,
    ...BILLING,
    former_tokens: true,
  } as const;
  await expectFields(businessInFull, read, {}, {});
});

test('rotating a token and stopping former tokens return exactly the fields of their row types', async () => {
  const token = (letter: string) => `bua_pk_0${letter.repeat(33)}`;
  const rotated = { decided: BUSINESS, recorded: null, kept: null, applied: null, dropped: null };
  const business = await newBusiness();
  await expectFields(readVerdict, REFUSAL, rotateToken(token('a'), null), rotated, business);
  const kept = rotateToken(token('b'), '2026-03-16T12:00:00.000000Z');
  await expectFields(readVerdict, REFUSAL, kept, rotated, business);
  const stopped = { decided: BUSINESS, recorded: null, applied: null };
  await expectFields(readVerdict, REFUSAL, stopFormerTokens(), stopped, business);
});

test('starting and ending sessions return exactly the fields of the row types', async () => {
  const started = startSession('a'.repeat(64), '2026-03-16T00:00:00.000000Z');
  await expectFields(readVerdict, REFUSAL, started, {
    started: { ends_at: true, user_id: true, role: true, can_create_keys: true },
    ended: null,
    dropped: null,
  });
  await expectFields(readVerdict, REFUSAL, { ended: endSession }, { ended: { id: true } });
});

test('reading lists returns exactly the fields of the row types', async () => {
  await expectFields(changesOfBusiness({ limit: 1, before: 2 }, {}), { ...REFUSAL, list: true }, {}, {});
  const matching = changesOfBusiness({ limit: 1, before: 2 }, { action: 'add_sites' });
  await expectFields(matching, { ...REFUSAL, list: true }, {}, {});
  const page = { limit: 1, since: '', before_at: '~', before_id: '' };
  await expectFields(eventsBefore(page), { ...REFUSAL, alerts: true }, {}, {});
  await expectFields(allEventsBefore(page), { ...REFUSAL, alerts: true }, {}, {}, undefined, true);
  const database = { ...REFUSAL, uses: true, alerts: true } as const;
  await expectFields(readDatabase({ day: TODAY }), database, {}, {}, undefined, true);
  const forgotten = { forgotten: deleteRefusedOrigins };
  const refused = { ...REFUSAL, sites: true, origins: true } as const;
  await expectFields(originsSince({ since: TODAY }), refused, forgotten, { forgotten: null });
  const businesses = businessesAfter({ limit: 1, after: 0, from: TODAY, since: TODAY });
  await expectFields(businesses, { ...REFUSAL, businesses: true }, {}, {});
  const totals = totalsAfter({ limit: 1, after: 0, from: TODAY, to: TODAY });
  await expectFields(totals, { ...REFUSAL, totals: true }, {}, {}, undefined, true);
});
