// Throughput scales with the number of databases, because the Worker does not serialize their work.
import { expect, test } from 'vitest';
import { codeOf } from '../bench/bundle.ts';
import { model } from '../bench/model.ts';

test('in the benchmark’s model, four databases record at least 3.6 times as many uses per second as one', async () => {
  const effort = { warmUpSeconds: 0.5, seconds: 2 };
  const rows = await model(codeOf(), [1, 4], [false], effort, () => {});
  const [one, four] = rows.map(({ perSecond }) => perSecond) as [number, number];
  console.log(`${Math.round(one)} uses/s with one database, ${Math.round(four)} with four`);
  expect(rows.map(({ databases }) => databases)).toEqual([1, 4]);
  expect(four / one).toBeGreaterThanOrEqual(0.9 * 4);
});
