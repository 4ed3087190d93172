// Looking up a use by its id (docs/api.md, "Looking up a use"). The simulator (test/sim) checks the rest.
import { expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf, granted } from './answers.ts';
import { type Business, call, newBusiness, OPERATOR, TODAY } from './support.ts';

const ORIGIN = 'https://shop.example';
const lookUp = (business: Business, id: string, as = business.key) =>
  call('GET', `${business.usage}/use?id=${encodeURIComponent(id)}`, { as });
const record = (business: Business, uses: object[]) =>
  call('POST', business.usage, { as: business.key, body: { uses } });
const TODAYS = { date: TODAY, quantity: 1, imported: false };
const [OF_KEY, OF_TOKEN] = [40, 2].map((days) => ({ ...TODAYS, remembered_until: addDays(TODAY, days) }));
const NOTHING = granted({ by_key: null, by_token: null });

test('shows the uses that a key and a page sent with one id apart', async () => {
  const business = await newBusiness();
  expect(answerOf(await lookUp(business, 'a'))).toEqual(NOTHING);
  await record(business, [{ id: 'a', quantity: 5, label: 'sms' }]);
  const by_key = { ...OF_KEY, quantity: 5, source: 'sms' };
  expect(answerOf(await lookUp(business, 'a'))).toEqual(granted({ by_key, by_token: null }));
  await call('POST', business.usage, { as: business.token, origin: ORIGIN, headers: { 'Idempotency-Key': 'a' } });
  for (const as of [business.key, OPERATOR.full, OPERATOR.record])
    expect(answerOf(await lookUp(business, 'a', as))).toEqual(granted({ by_key, by_token: OF_TOKEN }));
});

test('finds ids with every character that an id may have', async () => {
  const business = await newBusiness();
  const all = String.fromCharCode(...Array.from({ length: 94 }, (_, index) => 0x21 + index));
  const ids = [...all, all, '%61', '..', '../use?id=a', 'x'.repeat(255)];
  await record(
    business,
    ids.map((id) => ({ id })),
  );
  const found = granted({ by_key: { ...OF_KEY, source: null }, by_token: null });
  for (const id of ['/', '"', '%', '&', '#', '+', '?', all, '%61', '..', '../use?id=a', 'x'.repeat(255)])
    expect(answerOf(await lookUp(business, id)), id).toEqual(found);
  expect(answerOf(await lookUp(business, 'A%'))).toEqual(NOTHING);
});

test('shows a use as it was lowered, and whether its day was imported', async () => {
  const business = await newBusiness();
  const yesterday = addDays(TODAY, -1);
  await record(business, [{ id: 'a', quantity: 5, label: 'sms', at: `${yesterday}T12:00:00Z` }]);
  const use = { ...OF_KEY, date: yesterday };
  const body = { uses: [{ id: 'a', quantity: 2 }] };
  await call('PATCH', business.usage, { as: OPERATOR.record, body });
  expect(answerOf(await lookUp(business, 'a'))).toEqual(
    granted({ by_key: { ...use, quantity: 2, source: 'sms' }, by_token: null }),
  );
  const days = [{ date: yesterday, count: 7 }];
  await call('PUT', `/api/v1/business/${business.id}/history`, { as: OPERATOR.full, body: { days, replace: true } });
  expect(answerOf(await lookUp(business, 'a'))).toEqual(
    granted({ by_key: { ...use, quantity: 2, imported: true, source: null }, by_token: null }),
  );
});

test('shows nothing of another business, and reads at most nine rows in one round trip', async () => {
  const [business, other] = [await newBusiness(), await newBusiness()];
  await record(business, [{ id: 'a', label: 'sms' }]);
  expect(answerOf(await lookUp(other, 'a'))).toEqual(NOTHING);
  expect((await lookUp(business, 'a', other.key)).status).toBe(422);
  const { cost } = await lookUp(business, 'a');
  expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
  expect(cost.rows_read).toBeLessThanOrEqual(9);
});
