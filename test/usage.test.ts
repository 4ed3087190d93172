import { expect, test } from 'vitest';
import { call, newBusiness, setCount } from './support.ts';

test('answers one entry per day, ascending, zeros included', async () => {
  const business = await newBusiness();
  await setCount(business.id, '2026-03-02', 5);
  await setCount(business.id, '2026-03-04', 7);
  const answer = await call('GET', `${business.usage}?from=2026-03-01&to=2026-03-04`, { as: business.token });
  expect(answer.status).toBe(200);
  expect(answer.text).toBe(
    '{"status":true,"data":{"used":[{"date":"2026-03-01","count":0},{"date":"2026-03-02","count":5},{"date":"2026-03-03","count":0},{"date":"2026-03-04","count":7}]}}',
  );
  expect(answer.cost).toEqual({ round_trips: 1, rows_read: 4, rows_written: 0 });
});
