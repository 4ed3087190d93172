// The scheduled run, as the platform calls it: what is due is forgotten, some of it each minute, and requests get their turn.
import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test';
import { beforeEach, expect, test } from 'vitest';
import { rotateToken } from '../src/cli/businesses.ts';
import { formerTokens, ledger } from '../src/db/schema.ts';
import worker from '../src/index.ts';
import { call, env, homes, NOW, newBusiness } from './support.ts';

const DAY_MS = 86_400_000;

// A run takes what is due of every business: no other test's ids may be among them.
beforeEach(async () => {
  for (const { db } of homes) await db.batch([db.delete(ledger), db.delete(formerTokens)]);
});

/** One run of the schedule, `days` days after NOW. */
async function run(days: number) {
  const context = createExecutionContext();
  const controller = createScheduledController({ scheduledTime: NOW.getTime() + days * DAY_MS, cron: '* * * * *' });
  await worker.scheduled(controller, env);
  await waitOnExecutionContext(context);
}

test('200,000 ids are forgotten in 17 runs, at most 12,000 in each, and no other id is', async () => {
  const business = await newBusiness();
  const { d1 } = business.home;
  const ids = () => business.db.$count(ledger);
  const rows = (count: number, prefix: string, recorded_on: string) =>
    d1
      .prepare(
        `insert into ledger (business_id, digest, day, recorded_on) with recursive n(i) as (select 1 union all select i + 1 from n
        where i < ${count}) select ?, unhex(printf('%s%030x', ?, i)), ?3, ?3 from n`,
      )
      .bind(business.id, prefix, recorded_on);
  await d1.batch([rows(200_000, '00', '2026-03-01'), rows(100, 'ff', '2026-03-15')]);
  const left: number[] = [];
  while ((await ids()) !== 100 && left.length < 20) {
    await run(40);
    left.push(await ids());
  }
  expect(left).toEqual([...Array.from({ length: 16 }, (_, index) => 200_100 - (index + 1) * 12_000), 100]);
});

test.each([
  ['key', 40],
  ['token', 2],
] as const)('an id that came with a %s counts once for %i days, and is forgotten after them', async (kind, days) => {
  const business = await newBusiness();
  const use = (after: number) =>
    call('POST', business.usage, {
      as: business[kind],
      headers: { 'Idempotency-Key': 'visit-1' },
      at: new Date(NOW.getTime() + after * DAY_MS),
    });
  expect((await use(0)).status).toBe(200);
  const stored = business.home.d1.prepare('select day, forget_on from ledger where business_id = ?').bind(business.id);
  const { day, forget_on } = (await stored.first<{ day: string; forget_on: string }>()) ?? { day: '', forget_on: '' };
  expect(Date.parse(forget_on) - Date.parse(day)).toBe(days * DAY_MS);
  await run(days);
  expect((await use(days)).body.data).toEqual({ date: day, count: 1 });
  await run(days + 1);
  expect((await use(days + 1)).body.data).toMatchObject({ count: 1, date: expect.not.stringMatching(day) });
});

test('a former token is forgotten once it has expired', async () => {
  const business = await newBusiness();
  await rotateToken(business.home, business.id, NOW, DAY_MS);
  const former = () => business.db.$count(formerTokens);
  await run(0.99);
  expect(await former()).toBe(1);
  await run(1);
  expect(await former()).toBe(0);
});

test('finds what is due by index', async () => {
  const plan = await env.DB.prepare(
    'explain query plan select business_id, digest from ledger where forget_on < ? limit 4000',
  )
    .bind('2026-03-15')
    .all<{ detail: string }>();
  expect(plan.results.map(({ detail }) => detail)).toEqual([
    'SEARCH ledger USING INDEX ledger_forget_on (forget_on<?)',
  ]);
});
