// Lowering the quantities of recorded uses (docs/api.md, "Lowering uses").
import { describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf, granted, invalid } from './answers.ts';
import { type Business, call, countsByDay, newBusiness, OPERATOR, TODAY } from './support.ts';

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
const YESTERDAY = addDays(TODAY, -1);

describe('a use cannot be lowered', () => {
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
