// Quantities: what they may be, what a limit leaves of them, and the largest counts (docs/api.md, "Recording a use").
import { beforeAll, describe, expect, test } from 'vitest';
import { answerOf, granted, invalid } from './answers.ts';
import {
  type Business,
  type CallOptions,
  call,
  countsByDay,
  dumpAll,
  newBusiness,
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
const refusal = (field: string, rule: string) => invalid(field, `${field} ${rule}`);
const QUANTITY_RULE = 'must be a whole number from 1 to 1000000000';
const BODY_RULE =
  'must be empty for one use, or a JSON object such as {"quantity":350}, {"label":"sms"} or {"uses":[{"id":"order-1"}]}';
const BEYOND = refusal('quantity', `must not raise the count of a day above ${MOST} uses`);

describe('a quantity', () => {
  let business: Business;
  beforeAll(async () => {
    business = await newBusiness();
  });

  test('of 1,000,000,000 in each of 1,000 uses of a list is exact, as are the limits and the invoice', {
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

  test.each<[unknown, string, string]>([
    ...[0, -1, 1.5, 1_000_000_001, '5', 2 ** 53, null, true, [], {}].map((quantity): [unknown, string, string] => [
      { quantity },
      'quantity',
      QUANTITY_RULE,
    ]),
    ...[0, -1, 1.5, 1_000_000_001, '5', 2 ** 53, null].map((quantity): [unknown, string, string] => [
      { uses: [{ id: 'a' }, { id: 'b', quantity }] },
      'uses.1.quantity',
      QUANTITY_RULE,
    ]),
    [{ quantity: 5, quality: 1 }, 'quality', 'is not a member of this object, which accepts quantity, label, and at'],
    [{ quantity: 5, uses: [{ id: 'a' }] }, 'quantity', 'is not a member of this object, which accepts uses'],
    [{ amount: 5 }, 'amount', 'is not a member of this object, which accepts at, label, quantity or uses'],
    [5, 'body', BODY_RULE],
  ])('is refused if the body is %j, and nothing is stored', async (body, field, rule) => {
    const answer = await record(business, body);
    expect(answerOf(answer)).toEqual(refusal(field, rule));
    expect(answer.cost.rows_written).toBe(0);
  });
});

describe('a limit refuses a quantity as a whole', () => {
  test.each([
    [{ daily_limit: 1000 }, 700, 301, 'Only 300 of 1000 uses for today are left.', '43200'],
    [{ daily_limit: 1000 }, 999, 2, 'Only 1 of 1000 uses for today is left.', '43200'],
    [{ daily_limit: 1000 }, 700, 1001, 'Only 300 of 1000 uses for today are left.', null],
    [{ daily_limit: 1000 }, 1000, 1000, 'This business has used its 1000 uses for today.', '43200'],
    [{ daily_limit: 1000 }, 1000, 1001, 'This business has used its 1000 uses for today.', null],
    [{ monthly_limit: 1000 }, 700, 301, 'Only 300 of 1000 uses for this month are left.', `${16.5 * 86_400}`],
    [
      { daily_limit: 900, monthly_limit: 1000 },
      700,
      301,
      'Only 300 of 1000 uses for this month are left.',
      `${16.5 * 86_400}`,
    ],
    [{ daily_limit: 900, monthly_limit: 1000 }, 700, 201, 'Only 200 of 900 uses for today are left.', '43200'],
    [{ daily_limit: 900, monthly_limit: 1000 }, 700, 300, 'Only 200 of 900 uses for today are left.', '43200'],
    [{ daily_limit: 250, monthly_limit: 1000 }, 0, 251, 'Only 250 of 250 uses for today are left.', null],
    [{ daily_limit: 250, monthly_limit: 1000 }, 800, 251, 'Only 200 of 1000 uses for this month are left.', null],
    [{ daily_limit: 0 }, 0, 5, 'This business has a limit of 0 uses a day.', null],
  ] as const)('with %j, after %i uses, for a quantity of %i: %s', async (limits, used, quantity, message, after) => {
    const business = await newLimitedBusiness(limits);
    if (used > 0) await setCount(business.id, TODAY, used);
    for (const answer of [await record(business, { quantity }), await keyed(business, { quantity }, 'order-1')]) {
      expect(answerOf(answer)).toEqual({ status: 429, body: { status: false, message } });
      expect(answer.headers.get('Retry-After')).toBe(after);
      expect(answer.headers.get('Error-Code')).toBe('limit_reached');
      expect(answer.cost.rows_written).toBe(0);
    }
  });
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

  test('even without a quantity', async () => {
    const business = await newBusiness();
    await setCount(business.id, TODAY, MOST);
    for (const as of [business.key, business.token])
      expect(answerOf(await record(business, undefined, { as }))).toEqual(BEYOND);
    expect(await countsByDay(business)).toEqual({ [TODAY]: MOST });
  });
});
