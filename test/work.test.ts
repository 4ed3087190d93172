// What one owner may take of a database: its time, the ids that lists store, and what changes store
// (docs/performance.md, "What one owner may take"). The allowance is the owner's, not a credential's, and only the database's clock counts.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { MAX_USES_PER_CALL, type WorkClass } from '../src/core/work.ts';
import { dailyUsage, ledger, work } from '../src/db/schema.ts';
import { newKey as addKey, type Business, type CallOptions, call, later, newBusiness, OPERATOR } from './support.ts';

const newKey = async (...of: Parameters<typeof addKey>) => (await addKey(...of)).key;
const CLASSES = ['reading', 'recording', 'changing'] as const;
const DAY_MS = 86_400_000;
type Taken = Partial<typeof work.$inferInsert>;
/** Stores that a user's calls have spent `ahead` milliseconds in advance. */
async function take({ db, user_id }: Business, kind: WorkClass, ahead: number, taken: Taken = {}) {
  const busy_until = Date.now() + ahead;
  const row = { user_id, class: kind, busy_until, day: Math.floor(Date.now() / DAY_MS), ids: 0, bytes: 0, ...taken };
  await db
    .insert(work)
    .values(row)
    .onConflictDoUpdate({ target: [work.user_id, work.class], set: row });
}
const taken = async ({ db, user_id }: Business, kind: WorkClass) =>
  (await db.select().from(work).where(eq(work.user_id, user_id))).find((row) => row.class === kind);
/** More than any price, and less than beyond the highest price. */
const SPENT = 10_240;

const uses = (count: number, prefix = 'u') => Array.from({ length: count }, (_, n) => ({ id: `${prefix}-${n}` }));
const COSTLY: Record<WorkClass, (business: Business, options?: CallOptions) => ReturnType<typeof call>> = {
  reading: ({ id, key }, options) => call('GET', `/api/v1/business/${id}/changes`, { as: key, ...options }),
  recording: ({ usage, key }, options) => call('POST', usage, { as: key, body: { uses: uses(2) }, ...options }),
  changing: ({ access, key }, options) =>
    call('POST', access, { as: key, body: { sites: ['https://new.example'] }, ...options }),
};
const TOO_MUCH = 'Too Many Attempts: the API keys of this user do more at once than the service allows.';
const refusalOf = ({ status, headers, body }: Awaited<ReturnType<typeof call>>) => ({
  status,
  code: headers.get('Error-Code'),
  wait: headers.get('Retry-After'),
  body,
});
const TIME = { status: 429, code: 'rate_limited', wait: '1', body: { message: TOO_MUCH } };

describe.each(CLASSES)('an owner who has used up the allowance for %s', (kind) => {
  test('is refused with every credential, at the cost of few rows, until a second has given some back', async () => {
    const business = await newBusiness();
    const other = await newKey(business);
    const { session_key } = (await call('POST', '/api/v1/session', { as: business.key })).body.data;
    for (const as of [business.key, other, session_key]) {
      await take(business, kind, SPENT);
      const before = await taken(business, kind);
      const answer = await COSTLY[kind](business, { as });
      expect(refusalOf(answer)).toEqual(TIME);
      expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
      expect(answer.cost.rows_read).toBeLessThanOrEqual(40);
      expect(answer.lines).toMatchObject([{ refusal: 'rate_limited', reason: 'spent_time' }]);
      expect(await taken(business, kind)).toEqual(before);
    }
    await take(business, kind, 9000);
    expect((await COSTLY[kind](business, { as: await newKey(business) })).status).toBe(200);
  });

  test('may do all else: use the other allowances, record single uses, and end a danger', async () => {
    const business = await newBusiness({ sites: ['https://shop.example', 'https://b.example'] });
    const { id, user_id, key, token, usage, access } = business;
    const leaked = await newKey(business, { role: kind === 'reading' ? 'read' : 'record' });
    await take(business, kind, SPENT, { ids: 2_000_000, bytes: 4_000_000 });
    const others = CLASSES.filter((other) => other !== kind);
    for (const other of others) expect((await COSTLY[other](business)).status).toBe(200);
    const done = async (method: string, path: string, body?: unknown, options: CallOptions = {}) => {
      const answer = await call(method, path, { as: key, body, ...options });
      expect(answer.status, `${method} ${path}`).toBe(200);
      return answer.body.data;
    };
    await done('POST', usage);
    await done('POST', usage, { quantity: 5, label: 'sms' });
    await done('POST', usage, undefined, { as: token, origin: 'https://shop.example' });
    await done('POST', usage, { at: later(-1000).toISOString() }, { headers: { 'Idempotency-Key': 'late' } });
    await done('GET', usage);
    await done('GET', `/api/v1/business/${id}`);
    await done('GET', `/api/v1/business/${id}/alerts`);
    const { keys } = await done('GET', `/api/v1/user/${user_id}/keys`);
    const { id: key_id } = keys.find(({ last_four }: { last_four: string }) => leaked.endsWith(last_four));
    await done('DELETE', `/api/v1/user/${user_id}/keys/${key_id}`);
    await done('POST', `/api/v1/business/${id}/token`, { keep_old: '1h' });
    await done('DELETE', `/api/v1/business/${id}/token/former`);
    const { access_list } = await done('GET', access);
    await done('DELETE', `${access}/${access_list[0].id}`);
    await done('DELETE', access);
    const { session_key } = await done('POST', '/api/v1/session');
    await done('DELETE', '/api/v1/session', undefined, { as: session_key });
  });

  test('does not affect another owner, or an operator who acts for the owner', async () => {
    const [business, other] = [await newBusiness(), await newBusiness()];
    await take(business, kind, SPENT, { ids: 2_000_000, bytes: 4_000_000 });
    expect((await COSTLY[kind](other)).status).toBe(200);
    expect((await COSTLY[kind](business, { as: OPERATOR.full })).status).toBe(200);
    expect(await taken(business, kind)).toMatchObject({ ids: 2_000_000, bytes: 4_000_000 });
  });

  test('has it back if a time is from the future, and no Worker’s clock counts', async () => {
    const business = await newBusiness();
    await take(business, kind, 60_000);
    expect((await COSTLY[kind](business)).status).toBe(200);
    expect((await taken(business, kind))?.busy_until).toBeLessThan(Date.now() + 1000);
    await take(business, kind, SPENT);
    for (const at of [later(600_000), later(-600_000)]) {
      const as = await newKey(business);
      await take(business, kind, SPENT);
      expect(refusalOf(await COSTLY[kind](business, { as, at }))).toEqual(TIME);
    }
  });
});

test('an owner whose leaked key has used up every class can end the danger, and then records with another key', async () => {
  const business = await newBusiness({ sites: ['https://shop.example', 'https://b.example'] });
  const { id, user_id, key: leaked, usage, access } = business;
  const { session_key: copied } = (await call('POST', '/api/v1/session', { as: leaked })).body.data;
  const [own, server] = [await newKey(business), await newKey(business, { role: 'record' })];
  for (const kind of CLASSES) {
    await take(business, kind, SPENT, { ids: 1_998_000, bytes: 3_900_000 });
    for (const as of [leaked, copied, own]) expect(refusalOf(await COSTLY[kind](business, { as }))).toEqual(TIME);
  }
  const done = async (method: string, path: string, body?: unknown, as = own) => {
    const answer = await call(method, path, { as, body });
    expect([answer.status, method, path]).toEqual([200, method, path]);
    return answer.body.data;
  };
  const { keys } = await done('GET', `/api/v1/user/${user_id}/keys`);
  const { id: key_id } = keys.find(({ last_four }: { last_four: string }) => leaked.endsWith(last_four));
  await done('DELETE', `/api/v1/user/${user_id}/keys/${key_id}`);
  for (const kind of CLASSES)
    for (const as of [leaked, copied]) {
      const { status, headers } = await COSTLY[kind](business, { as, at: later(1000) });
      // A refusal is remembered for at most a second. Then, the key is unknown.
      if (status !== 401) expect([status, headers.get('Retry-After')]).toEqual([429, '1']);
      await take(business, kind, SPENT, { ids: 1_998_000, bytes: 3_900_000 });
    }
  const { token } = await done('POST', `/api/v1/business/${id}/token`);
  expect(token).not.toBe(business.token);
  const { access_list } = await done('GET', access);
  await done('DELETE', `${access}/${access_list[0].id}`);
  await done('DELETE', access);
  await done('POST', usage, { quantity: 3 }, server);
  const { session_key } = await done('POST', '/api/v1/session');
  await done('DELETE', '/api/v1/session', undefined, session_key);
  // Nobody spends any more, so a second later there is room again, also of the day.
  for (const kind of CLASSES) {
    await take(business, kind, SPENT - 1000, { ids: 1_998_000, bytes: 3_900_000 });
    expect((await COSTLY[kind](business, { as: await newKey(business) })).status).toBe(200);
  }
});

test.each([
  ['ten minutes ahead', 600_000],
  ['ten minutes behind', -600_000],
])('a Worker whose clock is %s spends and refuses like the others', async (_, ahead) => {
  const at = later(ahead);
  for (const kind of CLASSES) {
    const business = await newBusiness();
    const began = Date.now();
    expect((await COSTLY[kind](business, { at })).status).toBe(200);
    const { busy_until = 0, day } = (await taken(business, kind)) ?? {};
    expect(busy_until).toBeGreaterThan(began);
    expect(busy_until).toBeLessThanOrEqual(Date.now() + 250);
    expect(day).toBe(Math.floor(began / DAY_MS));
    await take(business, kind, SPENT);
    expect(refusalOf(await COSTLY[kind](business, { at, as: await newKey(business) }))).toEqual(TIME);
    await take(business, kind, 9000);
    expect((await COSTLY[kind](business, { at, as: await newKey(business) })).status).toBe(200);
  }
});

test.each([10_251 + 1000, DAY_MS, 1e15])('a time that is %d ms in the future holds up nobody', async (ahead) => {
  const [business, other] = [await newBusiness(), await newBusiness()];
  for (const kind of CLASSES) {
    await take(business, kind, ahead);
    expect((await COSTLY[kind](other)).status).toBe(200);
    expect((await COSTLY[kind](business)).status).toBe(200);
    expect((await taken(business, kind))?.busy_until).toBeLessThanOrEqual(Date.now() + 250);
  }
});

test('a credential that was just refused is refused again without a query, by class, and never for a single use', async () => {
  const business = await newBusiness();
  const { key, usage } = business;
  await take(business, 'recording', SPENT);
  expect(refusalOf(await COSTLY.recording(business))).toEqual(TIME);
  await take(business, 'recording', 0);
  const again = await COSTLY.recording(business);
  expect([refusalOf(again), again.cost.round_trips]).toEqual([TIME, 0]);
  expect((await COSTLY.recording(business, { as: await newKey(business) })).status).toBe(200);
  expect((await call('POST', usage, { as: key })).status).toBe(200);
  expect((await COSTLY.reading(business)).status).toBe(200);
});

test('a long body of a credential that was just refused is not read', async () => {
  const business = await newBusiness();
  await take(business, 'recording', SPENT);
  const broken = 'x'.repeat(2000); // would be a 422
  expect(refusalOf(await COSTLY.recording(business))).toEqual(TIME);
  const answer = await COSTLY.recording(business, { body: broken, headers: { 'Content-Length': '2000' } });
  expect([refusalOf(answer), answer.cost.round_trips]).toEqual([TIME, 0]);
});

const reportOf =
  (query: string) =>
  ({ usage, key }: Business) =>
    call('GET', `${usage}?${query}`, { as: key });

describe('a call spends', () => {
  const spentBy = async (business: Business, kind: WorkClass, run: () => ReturnType<typeof call>) => {
    await take(business, kind, 5000);
    const before = (await taken(business, kind))?.busy_until ?? 0;
    const answer = await run();
    return { answer, ms: ((await taken(business, kind))?.busy_until ?? 0) - before };
  };
  test.each([
    ['a page of changes', 'reading', 250, (one: Business) => COSTLY.reading(one)],
    ['a page of 50 businesses', 'reading', 100, ({ key }: Business) => call('GET', '/api/v1/business?limit=50', { as: key })],
    ['a page of businesses without a limit', 'reading', 40, ({ key }: Business) => call('GET', '/api/v1/business', { as: key })],
    ['a page of one business', 'reading', 2, ({ key }: Business) => call('GET', '/api/v1/business?limit=1', { as: key })],
    ['a page of the months of 100 businesses', 'reading', 34, ({ key }: Business) => call('GET', '/api/v1/usage?ended=2026-02-28&limit=100', { as: key })],
    ['a page of months without a limit', 'reading', 250, ({ key }: Business) => call('GET', '/api/v1/usage?ended=2026-02-28', { as: key })],
    ['a report of 801 days', 'reading', 41, reportOf('from=2024-01-05')],
    ['a report of 800 days', 'reading', 0, reportOf('from=2024-01-06')],
    ['a report of 92 days by source', 'reading', 92, reportOf('by=source&from=2025-12-14')],
    ['a report of 1,830 days of one source', 'reading', 238, reportOf('source=https://a.example&from=2021-03-12')],
    ['a list of two uses', 'recording', 11, (one: Business) => COSTLY.recording(one)],
    ['a list of 1,000 uses', 'recording', 250, (one: Business) => COSTLY.recording(one, { body: { uses: uses(MAX_USES_PER_CALL) } })],
    ['an addition of a site', 'changing', 250, (one: Business) => COSTLY.changing(one)],
    ['a list that is invalid', 'recording', 0, (one: Business) => COSTLY.recording(one, { body: { uses: [{}] } })],
  ] as const)('its price: %s', async (_, kind, price, run) => {
    const business = await newBusiness({ sites: ['https://a.example'] });
    const { answer, ms } = await spentBy(business, kind, () => run(business));
    expect([answer.status, ms]).toEqual([price === 0 && kind === 'recording' ? 422 : 200, price]);
  }); // biome-ignore format: one row per line

  test('its price also for a report of a source that is unknown, because only the report tells', async () => {
    const business = await newBusiness();
    const { answer, ms } = await spentBy(business, 'reading', () => reportOf('source=unknown')(business));
    expect([answer.status, ms]).toEqual([422, 4]);
  });

  test('its price also for duplicates, for what a limit refuses, and for what would exceed the maximum count', async () => {
    const business = await newBusiness();
    const { db, id } = business;
    expect((await COSTLY.recording(business)).body.data).toEqual({ recorded: 2, duplicates: 0 });
    const repeated = await spentBy(business, 'recording', () => COSTLY.recording(business));
    expect([repeated.answer.body.data, repeated.ms]).toEqual([{ recorded: 0, duplicates: 2 }, 11]);
    await call('PATCH', `/api/v1/business/${id}`, { as: OPERATOR.full, body: { daily_limit: 3 } });
    const fresh = { body: { uses: uses(2, 'new') } };
    const limited = await spentBy(business, 'recording', () => COSTLY.recording(business, fresh));
    expect([limited.answer.headers.get('Error-Code'), limited.ms]).toEqual(['limit_reached', 11]);
    await call('PATCH', `/api/v1/business/${id}`, { as: OPERATOR.full, body: { daily_limit: null } });
    await db
      .update(dailyUsage)
      .set({ count: Number.MAX_SAFE_INTEGER - 1 })
      .where(eq(dailyUsage.business_id, id));
    const full = await spentBy(business, 'recording', () => COSTLY.recording(business, fresh));
    expect([full.answer.status, full.ms]).toEqual([422, 11]);
    expect(await db.$count(ledger, eq(ledger.business_id, id))).toBe(2);
    // What is known does not count again, so it may come with a use that fits.
    const known = { body: { uses: [...uses(2), { id: 'last' }] } };
    expect((await COSTLY.recording(business, known)).body.data).toEqual({ recorded: 1, duplicates: 2 });
    expect((await taken(business, 'recording'))?.ids).toBe(1);
  });
});

describe('the volume of a day', () => {
  const untilMidnight = () => Math.ceil((DAY_MS - (Date.now() % DAY_MS)) / 1000);
  const IDS =
    'The API keys of this user can record 2000000 new ids a day in lists, and a key for one business half of them. Record single uses, or wait until midnight (UTC).';
  const BYTES = 'The changes of this user can store 4 MB a day. Wait until midnight (UTC).';
  const expectSpent = (answer: Awaited<ReturnType<typeof call>>, message: string) => {
    expect([answer.status, answer.headers.get('Error-Code'), answer.body]).toEqual([429, 'rate_limited', { message }]);
    expect(Math.abs(Number(answer.headers.get('Retry-After')) - untilMidnight())).toBeLessThanOrEqual(2);
    expect(answer.cost.rows_written).toBe(0);
  };
  test('counts the new ids of lists, of which a key for one business can store half', async () => {
    const business = await newBusiness();
    const narrow = await newKey(business, { business_id: business.id, role: 'record' });
    await COSTLY.recording(business);
    await COSTLY.recording(business, { body: { uses: uses(3) } });
    expect((await taken(business, 'recording'))?.ids).toBe(3);
    await take(business, 'recording', 0, { ids: 999_000 });
    expect((await COSTLY.recording(business, { as: narrow, body: { uses: uses(1000, 'a') } })).status).toBe(200);
    expect((await taken(business, 'recording'))?.ids).toBe(1_000_000);
    expectSpent(await COSTLY.recording(business, { as: narrow }), IDS);
    await take(business, 'recording', 0, { ids: 1_999_000 });
    expect((await COSTLY.recording(business, { body: { uses: uses(1000, 'b') } })).status).toBe(200);
    expectSpent(await COSTLY.recording(business), IDS);
    expect((await call('POST', business.usage, { as: business.key })).status).toBe(200);
    await take(business, 'recording', 0, { ids: 2_000_000, day: Math.floor(Date.now() / DAY_MS) - 1 });
    const as = await newKey(business);
    expect((await COSTLY.recording(business, { as, body: { uses: uses(1, 'c') } })).status).toBe(200);
    expect((await taken(business, 'recording'))?.ids).toBe(1);
  });

  test('is never exceeded by concurrent calls: the call that uses it up is the last of the day, and is not charged for its time', async () => {
    const business = await newBusiness();
    const keys = await Promise.all([1, 2, 3].map(() => newKey(business)));
    await take(business, 'recording', 5000, { ids: 1_998_500 });
    const { busy_until } = (await taken(business, 'recording')) ?? {};
    const answers = await Promise.all(
      keys.map((as, n) => COSTLY.recording(business, { as, body: { uses: uses(1000, `${n}`) } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
    expect(await taken(business, 'recording')).toMatchObject({ ids: 1_999_500, busy_until });
  });

  test('counts what added sites store, and what their removal will', async () => {
    const business = await newBusiness();
    await COSTLY.changing(business);
    const stored = JSON.stringify({ sites: ['https://new.example'] }).length;
    expect((await taken(business, 'changing'))?.bytes).toBe(2 * (200 + stored));
    await COSTLY.changing(business); // changes nothing
    await call('DELETE', business.access, { as: business.key });
    expect((await taken(business, 'changing'))?.bytes).toBe(2 * (200 + stored));
    await take(business, 'changing', 0, { bytes: 3_999_000 });
    expectSpent(await COSTLY.changing(business), BYTES);
    const asOperator = await COSTLY.changing(business, { as: OPERATOR.full });
    expect([asOperator.status, (await taken(business, 'changing'))?.bytes]).toEqual([200, 3_999_000]);
  });

  test('leaves room for the largest addition', async () => {
    const business = await newBusiness();
    const sites = Array.from(
      { length: 100 },
      (_, n) =>
        `https://*.${`${n}`.padStart(3, 'a')}${'b'.repeat(60)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(54)}:65535`,
    );
    expect((await COSTLY.changing(business, { body: { sites } })).status).toBe(200);
    expect((await taken(business, 'changing'))?.bytes).toBeLessThan(60_000);
  });
});

test('calls of one owner at the same time spend as if they came one after the other', async () => {
  const business = await newBusiness();
  const keys = await Promise.all(Array.from({ length: 21 }, () => newKey(business)));
  await take(business, 'reading', 9000);
  const began = Date.now();
  const answers = await Promise.all(keys.map((as) => COSTLY.reading(business, { as })));
  const permitted = answers.filter(({ status }) => status === 200).length;
  const elapsed = Date.now() - began;
  // The calls that fit between 9 and 10 seconds in advance, one that begins before the end, and what the time that passed gave back.
  expect(permitted).toBeGreaterThanOrEqual(5);
  expect(permitted).toBeLessThanOrEqual(5 + Math.ceil(elapsed / 250));
});
