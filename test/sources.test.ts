// What sources cost (docs/api.md, "Sources"). The simulator (test/sim) checks which labels there can be, and how sources are counted,
// lowered and listed.
import { expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { type Business, call, newBusiness, TODAY } from './support.ts';

const SHOP = 'https://shop.example';
const use = (business: Business, options: Parameters<typeof call>[2] = {}) =>
  call('POST', business.usage, { as: business.key, ...options });
const page = (business: Business, origin: string) => ({ as: business.token, origin });
const report = (business: Business, query: string) => call('GET', `${business.usage}?${query}`, { as: business.key });

test('a source writes no row more, and reads a few', async () => {
  const business = await newBusiness({ sites: [SHOP] });
  const costs = async (options: Parameters<typeof call>[2]) => {
    const { status, cost } = await use(business, options);
    expect({ status, round_trips: cost.round_trips }).toEqual({ status: 200, round_trips: 1 });
    return [cost.rows_read, cost.rows_written];
  };
  let id = 0;
  const once = () => ({ headers: { 'Idempotency-Key': `k${id++}` } });
  const list = (label?: string) => ({
    uses: Array.from({ length: 100 }, () => ({ id: `u${id++}`, ...(label && { label }) })),
  });
  await costs({});
  const label = (label: string) => ({ body: { label } });
  expect([await costs({}), await costs(once())]).toEqual([
    [8, 1],
    [10, 2],
  ]);
  // A name is one row, and one in its index. With an id, the day is read once more, to learn whether it counted the source.
  expect([await costs(label('a')), await costs(label('a'))]).toEqual([
    [17, 3],
    [11, 1],
  ]);
  expect([await costs({ ...label('b'), ...once() }), await costs({ ...label('b'), ...once() })]).toEqual([
    [21, 4],
    [15, 2],
  ]);
  expect(await costs({ body: list() })).toEqual([522, 103]); // two of them for the owner's allowance
  expect((await costs({ body: list('a') }))[0]).toBeLessThanOrEqual(10 * 100 + 60);
  expect(await costs(page(business, SHOP))).toEqual([10, 1]);
  expect(await costs({ ...page(business, SHOP), ...once() })).toEqual([10, 2]);
  expect(await costs({ ...page(business, SHOP), ...once(), body: { at: `${TODAY}T11:00:00Z` } })).toEqual([17, 2]);
});

test('a report by source of n days reads each day and each name once', { tags: 'slow' }, async () => {
  const business = await newBusiness({ sites: [SHOP] });
  for (let day = 0; day < 31; day++) {
    const at = `${addDays(TODAY, -day)}T01:00:00Z`;
    await use(business, {
      body: { uses: Array.from({ length: 5 }, (_, n) => ({ id: `${day}-${n}`, label: `n${n}`, at })) },
    });
  }
  const ofAll = await report(business, 'by=source&from=2026-02-13');
  const ofOne = await report(business, 'source=n1&from=2026-02-13');
  expect(ofAll.cost).toMatchObject({ round_trips: 1, rows_written: 1 }); // of the allowance
  expect(ofAll.cost.rows_read).toBeLessThanOrEqual(31 + 6 + 6);
  expect(ofOne.cost.rows_read).toBeLessThanOrEqual(31 + 10);
});
