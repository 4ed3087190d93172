// The largest quantities and counts (docs/api.md, "Recording a use"). The simulator (test/sim) checks how quantities count, and what a
// limit leaves of them.
import { describe, expect, test } from 'vitest';
import { answerOf, granted, invalid } from './answers.ts';
import {
  type Business,
  type CallOptions,
  call,
  countsByDay,
  dumpAll,
  newLimitedBusiness,
  OPERATOR,
  setCount,
  TODAY,
} from './support.ts';

const MOST = Number.MAX_SAFE_INTEGER;

const record = (business: Business, body: unknown, options: CallOptions = {}) =>
  call('POST', business.usage, { as: business.key, body, ...options });
const keyed = (business: Business, body: unknown, id: string) =>
  record(business, body, { headers: { 'Idempotency-Key': id } });
const BEYOND = invalid('quantity', `quantity must not raise the count of a day above ${MOST} uses`);

test('a quantity of 1,000,000,000 in each of 1,000 uses of a list is exact, as are the limits and the invoice', {
  tags: 'slow',
}, async () => {
  const most = 1e12;
  const business = await newLimitedBusiness({ daily_limit: most, monthly_limit: most });
  const uses = Array.from({ length: 1000 }, (_, index) => ({ id: `${index}`, quantity: 1_000_000_000 }));
  expect(answerOf(await record(business, { uses }))).toEqual(granted({ recorded: 1000, duplicates: 0 }));
  for (const body of [undefined, { quantity: 1_000_000_000 }, { uses: [{ id: 'more' }] }])
    expect((await record(business, body)).status).toBe(429);
  expect(await countsByDay(business)).toEqual({ [TODAY]: most });
  const ended = `/api/v1/usage?ended=2026-03-31&user_id=${business.user_id}`;
  const { body } = await call('GET', ended, { as: OPERATOR.full, at: new Date('2026-04-01T12:00:00Z') });
  expect(body.data.usage).toMatchObject([{ business_id: business.id, count: most }]);
});

describe('a use that would raise a daily count above 2^53 − 1 is refused', () => {
  const reached = (when: string) => ({
    status: 429,
    body: { status: false, message: `This business has used its 10 uses for ${when}.` },
  });
  test.each([
    ['without a limit', {}, BEYOND],
    ['also if the overage is unlimited', { daily_limit: 10, monthly_limit: 10, overage: null }, BEYOND],
    ['unless a daily limit already refuses it', { daily_limit: 10 }, reached('today')],
    ['unless a monthly limit already refuses it', { monthly_limit: 10 }, reached('this month')],
  ])('%s', async (_, limits, refused) => {
    const business = await newLimitedBusiness(limits);
    await setCount(business.id, TODAY, MOST - 5);
    await call('GET', business.usage, { as: business.key });
    const before = await dumpAll();
    const uses = [
      { id: 'a', at: '2026-03-14T12:00:00Z' },
      { id: 'b', quantity: 3 },
      { id: 'c', quantity: 3 },
    ];
    expect(answerOf(await record(business, { quantity: 6 }))).toEqual(refused);
    expect(answerOf(await keyed(business, { quantity: 6 }, 'order-1'))).toEqual(refused);
    expect((await record(business, { uses: uses.slice(1) })).body.message).toBe(refused.body.message);
    const as = OPERATOR.record; // limits do not apply to the operator's lists
    const list = await record(business, { uses }, { as });
    expect(answerOf(list)).toEqual(BEYOND);
    expect(await dumpAll()).toBe(before);
    expect(answerOf(await record(business, { uses: uses.slice(0, 2) }, { as }))).toEqual(
      granted({ recorded: 2, duplicates: 0 }),
    );
    expect(await countsByDay(business)).toEqual({ '2026-03-14': 1, [TODAY]: MOST - 2 });
  });

  test('but one that would raise a month above it, and no day, gets what a list gets', async () => {
    const days = { '2026-03-13': MOST, '2026-03-14': MOST };
    for (const [limits, status] of [
      [{ monthly_limit: 1e12, overage: 0 }, 429],
      [{ daily_limit: 10, monthly_limit: 1e12, overage: 1e12 }, 429],
      [{ monthly_limit: 1e12, overage: null }, 200],
    ] as const) {
      const business = await newLimitedBusiness(limits);
      for (const [day, count] of Object.entries(days)) await setCount(business.id, day, count);
      const answers = [
        await record(business, undefined),
        await record(business, { quantity: 5 }),
        await keyed(business, undefined, 'order-1'),
        await record(business, { uses: [{ id: 'a' }] }),
      ];
      expect(answers.map((answer) => answer.status)).toEqual([status, status, status, status]);
      expect(await countsByDay(business)).toEqual(status === 429 ? days : { ...days, [TODAY]: 8 });
    }
  });
});
