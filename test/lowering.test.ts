// Lowering the quantities of recorded uses (docs/api.md, "Lowering uses"). The simulator (test/sim) checks the rest.
import { expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf, granted } from './answers.ts';
import { type Business, call, countsByDay, newBusiness, OPERATOR, TODAY } from './support.ts';

type Use = { id: string; quantity: number; at?: string };
const record = (business: Business, uses: Use[], at?: Date) =>
  call('POST', business.usage, { as: OPERATOR.full, body: { uses }, at });
const lower = (business: Business, uses: Use[], at?: Date) =>
  call('PATCH', business.usage, { as: OPERATOR.record, body: { uses }, at });

test('a use cannot be lowered on a day whose count was imported just after midnight, by a request from before midnight', async () => {
  const business = await newBusiness();
  const [day, yesterday] = [addDays(TODAY, -41), addDays(TODAY, -1)];
  await record(
    business,
    [{ id: 'a', quantity: 500, at: `${day}T12:00:00Z` }],
    new Date(`${addDays(day, 30)}T12:00:00Z`),
  );
  const importOf = (date: string, count: number) =>
    call('PUT', `/api/v1/business/${business.id}/history`, {
      ...{ as: OPERATOR.full, body: { days: [{ date, count }], replace: true } },
      at: new Date(`${TODAY}T00:00:00.100Z`),
    });
  await importOf(day, 600);
  await importOf(yesterday, 1); // forgets only older days
  const lowered = await lower(business, [{ id: 'a', quantity: 0 }], new Date(`${yesterday}T23:59:59.900Z`));
  expect(answerOf(lowered)).toEqual(granted({ lowered: 0, unchanged: 0, imported: 1, unknown: 0 }));
  expect(await countsByDay(business)).toEqual({ [day]: 600, [yesterday]: 1 });
});

test('a retry of a use that was lowered to 0 returns its day with a count of 0', async () => {
  const business = await newBusiness();
  const retry = () => call('POST', business.usage, { as: business.key, headers: { 'Idempotency-Key': 'a' } });
  await retry();
  await lower(business, [{ id: 'a', quantity: 0 }]);
  expect(answerOf(await retry())).toEqual(granted({ date: TODAY, count: 0, duplicate: true }));
});

test('lowering 100 uses takes one round trip, reads about 16 rows for each use, and writes one row for each use and four more', async () => {
  const business = await newBusiness();
  const uses = (quantity: number) => Array.from({ length: 100 }, (_, index) => ({ id: `${index}`, quantity }));
  await record(business, uses(10));
  const answer = await lower(business, uses(1));
  expect(answerOf(answer)).toEqual(granted({ lowered: 100, unchanged: 0, imported: 0, unknown: 0 }));
  expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 104 });
  expect(answer.cost.rows_read).toBeLessThanOrEqual(16 * 100 + 137);
  expect(await countsByDay(business)).toEqual({ [TODAY]: 100 });
});

test('a change names the first 20 of the uses that it lowered, in the order of the list, and says how many they are', async () => {
  const business = await newBusiness();
  const all = String.fromCharCode(...Array.from({ length: 94 }, (_, index) => 0x21 + index));
  const ids = [all, 'x'.repeat(255), ...Array.from({ length: 23 }, (_, index) => `job-${30 - index}`)];
  await record(
    business,
    ids.map((id) => ({ id, quantity: 10 })),
  );
  await lower(business, [{ id: 'job-29', quantity: 0 }]);
  await lower(
    business,
    ['unknown', ...ids].map((id) => ({ id, quantity: 4 })),
  );
  const { body } = await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key });
  const lowered = ids.filter((id) => id !== 'job-29');
  expect(body.data.changes.map(({ before, after }: { before: object; after: object }) => ({ before, after }))).toEqual([
    { before: { uses: 240 }, after: { uses: 96, lowered: 24, ids: lowered.slice(0, 20) } },
    { before: { uses: 10 }, after: { uses: 0, lowered: 1, ids: ['job-29'] } },
  ]);
  const found = await call('GET', `/api/v1/business/${business.id}/changes?search=JOB-29`, { as: OPERATOR.full });
  expect(found.body.data.changes.map(({ id }: { id: number }) => id)).toEqual([1]);
});
