// Lowering the quantities of recorded uses (docs/api.md, "Lowering uses").
import { describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { purge } from '../src/purge.ts';
import { answerOf, granted, invalid, UNAUTHENTICATED } from './answers.ts';
import { type Business, call, countsByDay, inBatches, NOW, newBusiness, OPERATOR, TODAY } from './support.ts';

type Use = { id: string; quantity: number; at?: string };
const record = (business: Business, uses: Use[], options: { as?: string; at?: Date } = {}) =>
  call('POST', business.usage, { as: OPERATOR.full, body: { uses }, ...options });
const lower = (
  business: Business,
  uses: { id: string; quantity: number }[],
  options: { as?: string; at?: Date } = {},
) => call('PATCH', business.usage, { as: OPERATOR.record, body: { uses }, ...options });
const counts = (lowered: number, unchanged: number, unknown: number, imported = 0) =>
  granted({ lowered, unchanged, imported, unknown });
const noonOf = (day: string) => new Date(`${day}T12:00:00Z`);
const changesOf = async (business: Business) =>
  (await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key })).body.data.changes;
const YESTERDAY = addDays(TODAY, -1);

describe('a lowered use', () => {
  test('counts less on its own day, and the change contains the quantities before and after', async () => {
    const business = await newBusiness();
    await record(business, [
      { id: 'a', quantity: 500 },
      { id: 'b', quantity: 30, at: `${YESTERDAY}T12:00:00Z` },
      { id: 'c', quantity: 7 },
    ]);
    const answer = await lower(business, [
      { id: 'a', quantity: 120 },
      { id: 'b', quantity: 29 },
      { id: 'c', quantity: 7 },
      { id: 'd', quantity: 0 },
    ]);
    expect(answerOf(answer)).toEqual(counts(2, 1, 1));
    expect(await countsByDay(business)).toEqual({ [TODAY]: 127, [YESTERDAY]: 29 });
    expect(await changesOf(business)).toMatchObject([
      { action: 'lower_uses', actor: 'operator (…rrrr)', before: { uses: 530 }, after: { uses: 149 } },
    ]);
  });

  test('with quantity 0 leaves no count and no row for an empty day, but keeps its id', async () => {
    const business = await newBusiness();
    await record(business, [{ id: 'a', quantity: 500 }]);
    expect(answerOf(await lower(business, [{ id: 'a', quantity: 0 }]))).toEqual(counts(1, 0, 0));
    expect(await countsByDay(business)).toEqual({});
    expect(answerOf(await record(business, [{ id: 'a', quantity: 500 }]))).toEqual(
      granted({ recorded: 0, duplicates: 1 }),
    );
    expect(await countsByDay(business)).toEqual({});
  });

  test('is unchanged by the same or a higher quantity, which stores no change', async () => {
    const business = await newBusiness();
    await record(business, [{ id: 'a', quantity: 500 }]);
    await lower(business, [{ id: 'a', quantity: 100 }]);
    for (const quantity of [100, 101, 1_000_000_000]) {
      const answer = await lower(business, [{ id: 'a', quantity }]);
      expect(answerOf(answer)).toEqual(counts(0, 1, 0));
      expect(answer.cost.rows_written).toBe(0);
      expect(answer.cost.rows_read).toBeLessThanOrEqual(20);
    }
    expect(await countsByDay(business)).toEqual({ [TODAY]: 100 });
    expect(await changesOf(business)).toHaveLength(1);
  });

  test.each(['full', 'record'] as const)(
    'may have been recorded alone or in a list, with any key, and can be lowered with a %s operator key',
    async (role) => {
      const business = await newBusiness();
      for (const [as, id] of [
        [business.key, 'by-key'],
        [OPERATOR.full, 'by-operator'],
      ] as const)
        await call('POST', business.usage, { as, headers: { 'Idempotency-Key': id }, body: { quantity: 9 } });
      await record(business, [{ id: 'listed', quantity: 9 }], { as: business.key });
      const uses = ['by-key', 'by-operator', 'listed'].map((id) => ({ id, quantity: 1 }));
      expect(answerOf(await lower(business, uses, { as: OPERATOR[role] }))).toEqual(counts(3, 0, 0));
      expect(await countsByDay(business)).toEqual({ [TODAY]: 3 });
    },
  );

  test('makes room in the limit for other uses', async () => {
    const business = await newBusiness();
    await call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: { daily_limit: 500 } });
    await record(business, [{ id: 'a', quantity: 500 }]);
    expect((await call('POST', business.usage, { as: business.key })).status).toBe(429);
    await lower(business, [{ id: 'a', quantity: 400 }]);
    expect((await call('POST', business.usage, { as: business.key })).body.data).toEqual({
      ...{ date: TODAY, count: 401, remaining: 99 },
    });
  });

  test('does not change updated_at', async () => {
    const business = await newBusiness();
    const path = `/api/v1/business/${business.id}`;
    await record(business, [{ id: 'a', quantity: 500 }]);
    const before = (await call('GET', path, { as: business.key })).body.data.updated_at;
    await lower(business, [{ id: 'a', quantity: 0 }], { at: noonOf(addDays(TODAY, 1)) });
    expect((await call('GET', path, { as: business.key })).body.data.updated_at).toBe(before);
  });
});

describe('a use cannot be lowered', () => {
  test('if it was recorded with a token or belongs to another business', async () => {
    const [business, other] = [await newBusiness(), await newBusiness()];
    await call('POST', business.usage, { as: business.token, headers: { 'Idempotency-Key': 'visit' } });
    await record(other, [{ id: 'theirs', quantity: 5 }]);
    const uses = ['visit', 'theirs'].map((id) => ({ id, quantity: 0 }));
    expect(answerOf(await lower(business, uses))).toEqual(counts(0, 0, 2));
    expect([await countsByDay(business), await countsByDay(other)]).toEqual([{ [TODAY]: 1 }, { [TODAY]: 5 }]);
  });

  test('from 41 days after its day, even if the ledger still contains its id', async () => {
    const business = await newBusiness();
    const day = addDays(TODAY, -35);
    await record(business, [{ id: 'a', quantity: 500, at: `${day}T23:59:59Z` }]);
    const on = (days: number, quantity: number) =>
      lower(business, [{ id: 'a', quantity }], { at: new Date(`${addDays(day, days)}T23:59:59Z`) });
    expect(answerOf(await on(40, 400))).toEqual(counts(1, 0, 0));
    expect(answerOf(await on(41, 300))).toEqual(counts(0, 0, 1));
    expect(await countsByDay(business)).toEqual({ [day]: 400 });
  });

  test.each([0, 3, 9000])(
    'on a day whose count an imported history has replaced with %i, even if the use is recorded later',
    async (count) => {
      const business = await newBusiness();
      const at = `${YESTERDAY}T12:00:00Z`;
      await record(business, [{ id: 'a', quantity: 500, at }]);
      const body = { days: [{ date: YESTERDAY, count }], replace: true };
      await call('PUT', `/api/v1/business/${business.id}/history`, { as: OPERATOR.full, body });
      await record(business, [{ id: 'b', quantity: 20, at }]);
      const uses = ['a', 'b', 'never-recorded'].map((id) => ({ id, quantity: 0 }));
      expect(answerOf(await lower(business, uses))).toEqual(counts(0, 0, 1, 2));
      expect(await countsByDay(business)).toEqual({ [YESTERDAY]: count + 20 });
    },
  );

  test('on a day whose count an imported history has replaced, even if the day is 40 days old', async () => {
    const business = await newBusiness();
    const day = addDays(TODAY, -40);
    await record(business, [{ id: 'a', quantity: 500, at: `${day}T12:00:00Z` }], { at: noonOf(addDays(day, 30)) });
    const body = { days: [{ date: day, count: 600 }], replace: true };
    await call('PUT', `/api/v1/business/${business.id}/history`, { as: OPERATOR.full, body });
    expect(answerOf(await lower(business, [{ id: 'a', quantity: 0 }]))).toEqual(counts(0, 0, 0, 1));
    const next = noonOf(addDays(TODAY, 1)); // is now too old in any case
    expect(answerOf(await lower(business, [{ id: 'a', quantity: 0 }], { at: next }))).toEqual(counts(0, 0, 1));
    expect(await countsByDay(business)).toEqual({ [day]: 600 });
  });

  test('on a day whose count was imported just after midnight, by a request from before midnight', async () => {
    const business = await newBusiness();
    const day = addDays(TODAY, -41);
    await record(business, [{ id: 'a', quantity: 500, at: `${day}T12:00:00Z` }], { at: noonOf(addDays(day, 30)) });
    const at = new Date(`${TODAY}T00:00:00.100Z`);
    const importOf = (date: string, count: number) =>
      call('PUT', `/api/v1/business/${business.id}/history`, {
        ...{ as: OPERATOR.full, body: { days: [{ date, count }], replace: true }, at },
      });
    await importOf(day, 600);
    await importOf(YESTERDAY, 1); // forgets only older days
    const before = new Date(`${YESTERDAY}T23:59:59.900Z`);
    expect(answerOf(await lower(business, [{ id: 'a', quantity: 0 }], { at: before }))).toEqual(counts(0, 0, 0, 1));
    expect(await countsByDay(business)).toEqual({ [day]: 600, [YESTERDAY]: 1 });
  });

  test('after an import of its day’s count, unless the imported count equals the existing one', async () => {
    const business = await newBusiness();
    await record(business, [
      { id: 'a', quantity: 500, at: `${YESTERDAY}T12:00:00Z` },
      { id: 'b', quantity: 5, at: `${addDays(TODAY, -2)}T12:00:00Z` },
    ]);
    const days = [
      { date: YESTERDAY, count: 500 },
      { date: addDays(TODAY, -2), count: 6 },
    ];
    await call('PUT', `/api/v1/business/${business.id}/history`, { as: OPERATOR.full, body: { days, replace: true } });
    const uses = ['a', 'b'].map((id) => ({ id, quantity: 0 }));
    expect(answerOf(await lower(business, uses))).toEqual(counts(1, 0, 0, 1));
    expect(await countsByDay(business)).toEqual({ [addDays(TODAY, -2)]: 6 });
  });
});

describe('under concurrency', () => {
  test('the lowest quantity wins if a hundred requests lower one use', async () => {
    const business = await newBusiness();
    await record(business, [
      { id: 'a', quantity: 1000 },
      { id: 'b', quantity: 1000 },
    ]);
    const quantities = Array.from({ length: 100 }, (_, index) => 100 + ((index * 37) % 100));
    const answers = await Promise.all(quantities.map((quantity) => lower(business, [{ id: 'a', quantity }])));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await countsByDay(business)).toEqual({ [TODAY]: 1100 });
    const changes: { before: { uses: number }; after: { uses: number } }[] = await changesOf(business);
    expect([changes[0]?.after, changes.at(-1)?.before]).toEqual([{ uses: 100 }, { uses: 1000 }]);
  });

  test('the counts equal the remaining quantities while uses are recorded, retried, lowered and purged', {
    tags: 'slow',
  }, async () => {
    const business = await newBusiness();
    const old = Array.from({ length: 50 }, (_, index) => ({ id: `old-${index}`, quantity: 5 }));
    await record(business, old, { at: noonOf(addDays(TODAY, -41)) });
    const ids = Array.from({ length: 60 }, (_, index) => index);
    const at = (index: number) => `${addDays(TODAY, -(index % 7))}T12:00:00Z`;
    await inBatches(
      ids.flatMap((index) => [
        () => record(business, [{ id: `${index}`, quantity: 100 + index, at: at(index) }]),
        () => lower(business, [{ id: `${index}`, quantity: index }]),
        () => record(business, [{ id: `${index}`, quantity: 999, at: at(index + 1) }]),
        () => lower(business, [{ id: `${index}`, quantity: index + 50 }]),
        ...(index % 10 === 0 ? [() => purge(business.db as never, NOW).then(() => undefined as never)] : []),
      ]),
      (run) => run(),
    );
    const { results } = await business.home.d1
      .prepare(
        "select date(day * 86400, 'unixepoch') as day, sum(quantity) as count from ledger where business_id = ? group by 1 having count > 0",
      )
      .bind(business.id)
      .all<{ day: string; count: number }>();
    const { [addDays(TODAY, -41)]: ofPurged, ...counted } = await countsByDay(business);
    const left = await business.home.d1
      .prepare('select count(*) as n from ledger where business_id = ?')
      .bind(business.id)
      .first();
    expect([ofPurged, left]).toEqual([250, { n: ids.length }]);
    expect(counted).toEqual(Object.fromEntries(results.map(({ day, count }) => [day, count])));
    // Each use has been recorded by now, so a last list lowers it to its lowest quantity.
    await lower(
      business,
      ids.map((index) => ({ id: `${index}`, quantity: index })),
    );
    const { [addDays(TODAY, -41)]: _, ...lowered } = await countsByDay(business);
    expect(Object.values(lowered).reduce((sum, count) => sum + count, 0)).toBe((60 * 59) / 2);
  });
});

test.each(['suspended', 'closed'])('a %s business’s uses can be lowered', async (status) => {
  const business = await newBusiness();
  await record(business, [{ id: 'a', quantity: 5 }]);
  await call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: { status } });
  expect(answerOf(await lower(business, [{ id: 'a', quantity: 1 }]))).toEqual(counts(1, 0, 0));
});

test('a deleted business’s uses cannot be lowered', async () => {
  const business = await newBusiness();
  await record(business, [{ id: 'a', quantity: 5 }]);
  await call('DELETE', `/api/v1/business/${business.id}?name=${encodeURIComponent(business.name)}`, {
    as: OPERATOR.full,
  });
  const answer = await lower(business, [{ id: 'a', quantity: 1 }]);
  expect(answerOf(answer)).toEqual({
    status: 422,
    body: { status: false, message: 'business id is not valid' },
  });
});

describe('input is rejected and changes nothing if it contains', () => {
  const ID = 'must be 1 to 255 printable ASCII characters without spaces';
  const QUANTITY = 'must be a whole number from 0 to 1000000000';
  const LIST = 'must be a list of 1 to 1000 uses, such as [{"id":"order-1","quantity":0}]';
  test.each<[string, unknown, string, string]>([
    ['no quantity', { uses: [{ id: 'a' }] }, 'uses.0.quantity', `is required, and ${QUANTITY}`],
    ['a negative quantity', { uses: [{ id: 'a', quantity: -1 }] }, 'uses.0.quantity', QUANTITY],
    ['a fractional quantity', { uses: [{ id: 'a', quantity: 0.5 }] }, 'uses.0.quantity', QUANTITY],
    ['a quantity as text', { uses: [{ id: 'a', quantity: '0' }] }, 'uses.0.quantity', QUANTITY],
    ['a quantity above the maximum', { uses: [{ id: 'a', quantity: 1_000_000_001 }] }, 'uses.0.quantity', QUANTITY],
    ['an empty id', { uses: [{ id: '', quantity: 0 }] }, 'uses.0.id', ID],
    ['an empty list', { uses: [] }, 'uses', LIST],
    ['too many uses', { uses: Array.from({ length: 1001 }, (_, id) => ({ id: `${id}`, quantity: 0 })) }, 'uses', LIST],
    [
      'a duplicate id',
      { uses: ['a', 'b', 'a'].map((id) => ({ id, quantity: 0 })) },
      'uses.2.id',
      'must not repeat uses.0',
    ],
    [
      'a time',
      { uses: [{ id: 'a', quantity: 0, at: '2026-03-15T12:00:00Z' }] },
      'uses.0.at',
      'is not a member of this object, which accepts id and quantity',
    ],
  ])('%s', async (_, body, field, rule) => {
    const business = await newBusiness();
    await record(business, [{ id: 'a', quantity: 5 }]);
    const answer = await call('PATCH', business.usage, { as: OPERATOR.full, body });
    expect(answerOf(answer)).toEqual(invalid(field, `${field} ${rule}`));
    expect(await countsByDay(business)).toEqual({ [TODAY]: 5 });
  });
});

test('API keys and tokens cannot lower uses', async () => {
  const business = await newBusiness();
  await record(business, [{ id: 'a', quantity: 5 }]);
  const message = 'Only the operator can lower uses.';
  for (const as of [business.key, business.token])
    expect(answerOf(await lower(business, [{ id: 'a', quantity: 0 }], { as }))).toEqual({
      status: 403,
      body: { status: false, message },
    });
  expect(answerOf(await lower(business, [{ id: 'a', quantity: 0 }], { as: `bua_op_${'x'.repeat(43)}` }))).toEqual(
    UNAUTHENTICATED,
  );
  expect(await countsByDay(business)).toEqual({ [TODAY]: 5 });
});

test('lowering 100 uses takes one round trip, reads about 16 rows for each use, and writes one row for each use and four more', async () => {
  const business = await newBusiness();
  const uses = Array.from({ length: 100 }, (_, index) => ({ id: `${index}`, quantity: 10 }));
  await record(business, uses);
  const answer = await lower(
    business,
    uses.map(({ id }) => ({ id, quantity: 1 })),
  );
  expect(answerOf(answer)).toEqual(counts(100, 0, 0));
  expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 104 });
  expect(answer.cost.rows_read).toBeLessThanOrEqual(16 * 100 + 37);
});
