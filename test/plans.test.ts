// Limits that change on a date, and extras (docs/api.md). The simulator checks random histories of them.
import { describe, expect, test } from 'vitest';
import { foldDue, foldDueLimits } from '../src/business/due.ts';
import { SCHEDULES } from '../src/core/schedule.ts';
import { noCost } from '../src/db/batch.ts';
import { alerts } from '../src/db/schema.ts';
import type { Bindings } from '../src/env.ts';
import { runScheduled } from '../src/schedule.ts';
import { limitsWith } from './business.ts';
import {
  type Business,
  call,
  databases,
  homes,
  inBatches,
  newBusiness,
  newLimitedBusiness,
  OPERATOR,
  setCount,
} from './support.ts';

const noonOf = (day: string) => new Date(`${day}T12:00:00Z`);
const DAY = noonOf('2026-03-15');
const NEXT_DAY = noonOf('2026-03-16');
const patch = (business: Business, body: object, at = DAY) =>
  call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body, at });
const limitsOf = async (business: Business, at = DAY) =>
  (await call('GET', `/api/v1/business/${business.id}`, { as: OPERATOR.full, at })).body.data.limits;
const extra = (business: Business, key: string, uses: number, month = 'this', at = DAY) =>
  call('POST', `/api/v1/business/${business.id}/extra`, {
    ...{ as: OPERATOR.full, headers: { 'Idempotency-Key': key }, body: { uses, month }, at },
  });
const use = (business: Business, at: Date, body?: object, id?: string) =>
  call('POST', business.usage, {
    as: business.key,
    at,
    body,
    headers: id === undefined ? {} : { 'Idempotency-Key': id },
  });
const former = async ({ db, id }: Business) => {
  const sql = 'select ends_on, daily_limit, monthly_limit from former_limits where business_id = ? order by ends_on';
  return (await db.$client.prepare(sql).bind(id).all()).results;
};
const eventsOf = async ({ db, id }: Business) =>
  (await db.select().from(alerts))
    .filter(({ business_id }) => business_id === id)
    .map(({ period, starts_on, limit, threshold, used }) => [period, starts_on, limit, threshold, used])
    .sort((a, b) => `${a}`.localeCompare(`${b}`));
const refusal = (field: string, rule: string) => {
  const message = `${field} ${rule}`;
  return { status: 422, body: { status: false, message, errors: { [field]: [message] } } };
};
const answerOf = ({ status, body }: { status: number; body: unknown }) => ({ status, body });
const ended = async ({ id, user_id }: Business, day: string, at: Date) => {
  const path = `/api/v1/usage?ended=${day}&user_id=${user_id}`;
  const { usage } = (await call('GET', path, { as: OPERATOR.full, at })).body.data;
  return usage.find((month: { business_id: number }) => month.business_id === id);
};

test('a business without limits shows the days of its billing month, and nothing is read for its sums', async () => {
  const business = await newBusiness();
  await setCount(business.id, '2026-03-02', 14);
  expect(await limitsOf(business)).toEqual(limitsWith({}));
  expect(limitsWith({})).toMatchObject({ today: null, month: null, remaining: null, day_ends: null });
});

describe('a pending change', () => {
  test.each([false, true])('holds from its day on, whether or not it was folded: %s', async (isFolded) => {
    const business = await newLimitedBusiness({ daily_limit: 7 });
    const next = { daily: 1, monthly: null, overage: 0, page_overage: false, alert_at: [80, 100] };
    const shown = { daily: 7, today: 0, remaining: 7, day_ends: '2026-03-16T00:00:00.000000Z' };
    const answer = await patch(business, { daily_limit: 1, limits_from: '2026-03-16' });
    expect(answer.body.data.limits).toEqual(limitsWith({ ...shown, next_limits: { from: '2026-03-16', ...next } }));
    if (isFolded) await foldDue(business.db, NEXT_DAY);
    const times = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? DAY : NEXT_DAY));
    const answers = await inBatches(times, (at) => use(business, at));
    const days = answers.filter(({ status }) => status === 200).map(({ body }) => body.data.date);
    expect(days.toSorted()).toEqual([...Array(7).fill('2026-03-15'), '2026-03-16']);
    expect(await limitsOf(business, NEXT_DAY)).toEqual(
      limitsWith({ daily: 1, today: 1, remaining: 0, refuses: 'everybody', day_ends: '2026-03-17T00:00:00.000000Z' }),
    );
  });

  test('is exact for 1,600 concurrent uses around its midnight', { tags: 'slow', timeout: 60_000 }, async () => {
    const business = await newLimitedBusiness({ daily_limit: 700 });
    await patch(business, { daily_limit: 100, limits_from: '2026-03-16' });
    const midnight = Date.parse('2026-03-16T00:00:00Z');
    const times = Array.from({ length: 1600 }, (_, index) => new Date(midnight + (index % 2 === 0 ? -1 : 0)));
    const answers = await inBatches(times, (at) => use(business, at));
    const count = (day: string) =>
      answers.filter(({ status, body }) => status === 200 && body.data.date === day).length;
    expect([count('2026-03-15'), count('2026-03-16')]).toEqual([700, 100]);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(800);
  });

  test('of another day is rejected until it is cancelled', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    const none = refusal('limits_from', 'must not be null: no change of the limits is pending');
    expect(answerOf(await patch(business, { limits_from: null }))).toEqual(none);
    await patch(business, { monthly_limit: 20, limits_from: 'next_month' });
    expect(answerOf(await patch(business, { monthly_limit: 30, limits_from: '2026-05-01' }))).toEqual(
      refusal('limits_from', 'must be 2026-04-01, the date of the pending change, or null, which cancels it'),
    );
    const merged = (await patch(business, { overage: 5, limits_from: '2026-04-01' })).body.data.limits.next_limits;
    expect(merged).toMatchObject({ from: '2026-04-01', monthly: 20, overage: 5 });
    expect((await patch(business, { limits_from: null })).body.data.limits.next_limits).toBeNull();
    expect(await limitsOf(business, noonOf('2026-04-01'))).toMatchObject({ monthly: 10, overage: 0 });
    await patch(business, { monthly_limit: 20, limits_from: '2026-03-20' });
    expect(answerOf(await patch(business, { limits_from: null }, noonOf('2026-03-20')))).toEqual(none);
  });

  test('keeps what changes at once, unless it is a different limit', async () => {
    const business = await newLimitedBusiness({ daily_limit: 5, monthly_limit: 10 });
    await patch(business, { monthly_limit: 20, limits_from: 'next_month' });
    const limits = (await patch(business, { daily_limit: 6, monthly_limit: 11 })).body.data.limits;
    expect(limits).toMatchObject({ daily: 6, monthly: 11, next_limits: { daily: 6, monthly: 20 } });
    await patch(business, { daily_limit: 7 });
    // Two changes in a day are one row.
    expect(await former(business)).toEqual([{ ends_on: '2026-03-14', daily_limit: 5, monthly_limit: 10 }]);
  });

  test('that would change nothing is not stored', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    const next = async (body: object) => (await patch(business, body)).body.data.limits.next_limits;
    expect(await next({ monthly_limit: 10, limits_from: 'next_month' })).toBeNull();
    expect(await next({ monthly_limit: 20, limits_from: 'next_month' })).toMatchObject({ monthly: 20 });
    expect(await next({ monthly_limit: 20 })).toBeNull();
  });

  test('that is due becomes a former row of its own with the next change', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 1 });
    await patch(business, { monthly_limit: 2, limits_from: '2026-03-20' });
    await patch(business, { monthly_limit: 3 }, noonOf('2026-03-25'));
    expect(await former(business)).toEqual([
      { ends_on: '2026-03-19', daily_limit: null, monthly_limit: 1 },
      { ends_on: '2026-03-24', daily_limit: null, monthly_limit: 2 },
    ]);
  });

  test('bounds uses of pages, too', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10, overage: 5 });
    await patch(business, { page_overage: true, limits_from: 'next_month' });
    const rule = 'must not be null while page_overage is true: pages are public, so what they can cost must be bounded';
    expect(answerOf(await patch(business, { overage: null }))).toEqual(refusal('overage', rule));
    expect(answerOf(await patch(business, { overage: null, limits_from: 'next_month' }))).toEqual(
      refusal('overage', rule),
    );
  });

  test('of the billing day begins after this month, like its limits', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    const { limits } = (await patch(business, { billing_day: 10, monthly_limit: 99, limits_from: 'next_month' })).body
      .data;
    expect(limits).toMatchObject({ next_billing_day: 10, from: '2026-05-10', next_limits: { from: '2026-04-01' } });
  });

  const only =
    'must not be sent with limits_from, which only limits can accompany, and billing_day if it is next_month';
  const date =
    'must be next_month, a date from today on in the format YYYY-MM-DD, or null, which cancels the pending change';
  test.each<[object, string, string]>([
    [{ billing_day: 3, monthly_limit: 1, limits_from: '2026-05-01' }, 'billing_day', only],
    [{ name: 'x', monthly_limit: 1, limits_from: 'next_month' }, 'name', only],
    [{ limits_from: 'next_month' }, 'limits_from', 'must be sent with at least one limit'],
    [
      { limits_from: '2026-03-14', monthly_limit: 1 },
      'limits_from',
      'must be next_month, or today or a later date: today is 2026-03-15',
    ],
    [{ limits_from: '2026-02-30', monthly_limit: 1 }, 'limits_from', date],
    [{ limits_from: 'tomorrow', monthly_limit: 1 }, 'limits_from', date],
    [
      { limits_from: null, monthly_limit: 1 },
      'limits_from',
      'must be the only field if it is null, which cancels the pending change',
    ],
  ])('is rejected as %j', async (body, field, rule) => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    expect(answerOf(await patch(business, body))).toEqual(refusal(field, rule));
    expect(await limitsOf(business)).toMatchObject({ monthly: 10, next_limits: null });
  });

  test('from today on holds at once', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    const { limits } = (await patch(business, { monthly_limit: 3, limits_from: '2026-03-15' })).body.data;
    expect(limits).toMatchObject({ monthly: 3, next_limits: null });
  });

  test('stays with a business that is transferred, and so do its history and extras', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    await patch(business, { monthly_limit: 20 }, noonOf('2026-03-10'));
    await patch(business, { monthly_limit: 30, limits_from: 'next_month' });
    await extra(business, 'pack', 5);
    const user_id = business.user_id + homes.length * 100_000; // in the same database
    expect((await patch(business, { user_id })).status).toBe(200);
    expect(await limitsOf(business)).toMatchObject({ monthly: 20, extra: 5, next_limits: { monthly: 30 } });
    expect(await former(business)).toHaveLength(1);
  });

  test('is recorded with its date', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    await patch(business, { monthly_limit: 20, limits_from: 'next_month' });
    await patch(business, { limits_from: null });
    const { changes } = (await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key, at: DAY }))
      .body.data;
    const shown = changes.map(({ action, before, after }: { [name: string]: unknown }) => [action, before, after]);
    expect(shown).toEqual([
      ['update_business', { limits_from: '2026-04-01' }, { limits_from: null }],
      ['update_business', { monthly_limit: 10, limits_from: null }, { monthly_limit: 20, limits_from: '2026-04-01' }],
    ]);
  });
});

describe('each period has the limits of its time', () => {
  test('uses that are recorded late are judged by the limit of their month', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 3 });
    await patch(business, { monthly_limit: 1000 }, noonOf('2026-03-09'));
    const late = (id: number) => use(business, DAY, { at: '2026-02-20T12:00:00Z' }, `late-${id}`);
    const sent = await inBatches([1, 2, 3, 4], late);
    expect(sent.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 429]);
    const list = { uses: [{ id: 'listed', at: '2026-02-21T12:00:00Z' }] };
    expect(answerOf(await use(business, DAY, list))).toEqual({
      status: 429,
      body: {
        status: false,
        message: 'This business has used its 3 uses for the month from 2026-02-01 to 2026-02-28.',
      },
    });
    expect((await use(business, DAY, { at: '2026-03-01T12:00:00Z' }, 'this-month')).status).toBe(200);
  });

  test('uses that are recorded late have the overage of their month', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 2, overage: 1 });
    await patch(business, { overage: 0 }, noonOf('2026-03-09'));
    const late = (id: number) => use(business, DAY, { at: '2026-02-20T12:00:00Z' }, `late-${id}`);
    const sent = await inBatches([1, 2, 3, 4], late);
    expect(sent.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 429]);
  });

  test('late uses of pages have the page_overage of their day, but only while visitors can reach a site', async () => {
    const business = await newLimitedBusiness({ daily_limit: 1, overage: 5, page_overage: 1 });
    const site = 'https://shop.example';
    const add = (sites: string[]) => call('POST', business.access, { as: business.key, body: { sites }, at: DAY });
    const { access_list } = (await add([site])).body.data;
    await patch(business, { page_overage: false }, DAY);
    const fromPage = (at: string | undefined, id: string) =>
      call('POST', business.usage, {
        ...{ as: business.token, origin: site, at: DAY, headers: { 'Idempotency-Key': id } },
        body: at === undefined ? undefined : { at },
      });
    const yesterday = '2026-03-14T18:00:00Z';
    for (const id of ['a', 'b']) expect((await fromPage(yesterday, id)).status).toBe(200);
    expect((await fromPage(undefined, 'c')).status).toBe(200);
    expect((await fromPage(undefined, 'd')).status).toBe(429);
    await add(['http://localhost:3000']);
    await call('DELETE', `${business.access}/${access_list[0].id}`, { as: business.key, at: DAY });
    const local = { as: business.token, origin: 'http://localhost:3000', at: DAY, body: { at: yesterday } };
    const answer = await call('POST', business.usage, { ...local, headers: { 'Idempotency-Key': 'e' } });
    expect(answer.status).toBe(429);
  });

  test('an invoice shows the limit and the extra of its month, whenever it is read, and an import changes only its count', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    await extra(business, 'pack', 7);
    await patch(business, { monthly_limit: 500 }, noonOf('2026-04-02'));
    const month = { starts_on: '2026-03-01', ends_on: '2026-03-31', monthly_limit: 10, extra: 7 };
    expect(await ended(business, '2026-03-31', noonOf('2026-04-03'))).toMatchObject({ ...month, count: 0 });
    await patch(business, { monthly_limit: null }, noonOf('2026-04-05'));
    await call('PUT', `/api/v1/business/${business.id}/history`, {
      as: OPERATOR.full,
      body: { days: [{ date: '2026-03-20', count: 50 }] },
      at: noonOf('2026-04-06'),
    });
    expect(await ended(business, '2026-03-31', noonOf('2026-09-01'))).toMatchObject({ ...month, count: 50 });
  });
});

describe('an extra', () => {
  test('adds to the limit of one month', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    await setCount(business.id, '2026-03-02', 14);
    const added = { status: 200, body: { status: true, data: { starts_on: '2026-03-01', extra: 5 } } };
    expect(answerOf(await extra(business, 'pack', 5))).toEqual(added);
    expect((await use(business, DAY)).body.data).toEqual({ date: '2026-03-15', count: 1, remaining: 0 });
    expect(answerOf(await use(business, DAY))).toEqual({
      status: 429,
      body: { status: false, message: 'This business has used its 15 uses for this month.' },
    });
    expect(await limitsOf(business)).toMatchObject({ extra: 5, monthly: 10, month: 15, remaining: 0 });
    expect(await eventsOf(business)).toContainEqual(['month', '2026-03-01', 15, 100, 15]);
    expect(await limitsOf(business, noonOf('2026-04-01'))).toMatchObject({ extra: 0, monthly: 10, remaining: 10 });
    // A retry adds nothing, also a month later.
    expect(answerOf(await extra(business, 'pack', 5, 'this', noonOf('2026-04-20')))).toEqual(added);
    expect(answerOf(await extra(business, 'pack', 6))).toEqual(
      refusal('Idempotency-Key', 'was already used for another extra of this business'),
    );
    expect(await limitsOf(business, noonOf('2026-04-20'))).toMatchObject({ extra: 0 });
  });

  test('that is retried at the same time adds once, and others add up', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    const keys = Array.from({ length: 40 }, (_, index) => `pack-${index % 4}`);
    const answers = await inBatches(keys, (key) => extra(business, key, 5));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.data.extra))).toEqual(new Set([5, 10, 15, 20]));
    expect(await limitsOf(business)).toMatchObject({ extra: 20 });
  });

  test('takes back what was added, but no more', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    await extra(business, 'pack', 300);
    expect(answerOf(await extra(business, 'back', -700))).toEqual(
      refusal('uses', 'must be a number from -300 to 999999999700: 300 were added to this month'),
    );
    expect((await extra(business, 'back', -300)).body.data).toEqual({ starts_on: '2026-03-01', extra: 0 });
  });

  test('needs a monthly limit in its month, and an Idempotency-Key', async () => {
    const rule = 'must be a month in which the business has a monthly limit';
    const business = await newBusiness();
    expect(answerOf(await extra(business, 'pack', 5))).toEqual(refusal('month', rule));
    await patch(business, { monthly_limit: 10, limits_from: 'next_month' });
    expect(answerOf(await extra(business, 'pack', 5))).toEqual(refusal('month', rule));
    expect((await extra(business, 'pack', 5, 'next')).body.data).toEqual({ starts_on: '2026-04-01', extra: 5 });
    const sent = { as: OPERATOR.full, body: { uses: 5, month: 'next' }, at: DAY };
    expect(answerOf(await call('POST', `/api/v1/business/${business.id}/extra`, sent))).toEqual(
      refusal('Idempotency-Key', 'must be sent, so that a retry adds nothing'),
    );
  });

  test('is part of the limit of alerts, which a correction does not repeat', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 1000, overage: null });
    await use(business, DAY, { quantity: 1300 });
    await extra(business, 'pack', 500);
    const first = [
      ['month', '2026-03-01', 1000, 100, 1300],
      ['month', '2026-03-01', 1500, 80, 1300],
    ];
    expect(await eventsOf(business)).toEqual(first);
    await extra(business, 'back', -100); // 1,300 of 1,400, a limit without an alert
    await extra(business, 'more', 600);
    await extra(business, 'again', -500);
    expect(await eventsOf(business)).toEqual(first);
  });
});

test('an extra on a limit of 0 is part of the limit of alerts', async () => {
  const business = await newLimitedBusiness({ monthly_limit: 0, overage: null });
  await use(business, DAY, { quantity: 6 });
  expect(await eventsOf(business)).toEqual([]);
  await extra(business, 'pack', 2);
  expect(await eventsOf(business)).toEqual([['month', '2026-03-01', 2, 100, 6]]);
});

describe('the run that folds limits', () => {
  test('stores the alerts that a lower limit reaches without a use', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 1000 });
    await use(business, DAY, { quantity: 100 });
    await patch(business, { monthly_limit: 100, limits_from: '2026-03-16' });
    await foldDue(business.db, DAY);
    expect(await eventsOf(business)).toEqual([]);
    for (let run = 0; run < 2; run++) await foldDue(business.db, NEXT_DAY);
    expect(await eventsOf(business)).toEqual([['month', '2026-03-01', 100, 100, 100]]);
    expect(await former(business)).toEqual([{ ends_on: '2026-03-15', daily_limit: null, monthly_limit: 1000 }]);
  });

  test('folds at most a hundred businesses of a database at once, those that are due longest first', async () => {
    const { db } = await newLimitedBusiness({ monthly_limit: 10 });
    const first = (await db.$client.prepare('select max(id) + 1 as id from businesses').first<number>('id')) ?? 0;
    const made = `with recursive n(i) as (select 0 union all select i + 1 from n where i < 249)
      insert into businesses (id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at,
        monthly_limit, page_overage, next_from, next_monthly_limit, next_page_overage)
      select ?1 + i, 3000000 + ?1 + i, 'Acme', 'acme.example', 'https://acme.example', 1, 'small', printf('due-%030d', ?1 + i), 'active', '', '',
        10, 0, date('2026-03-15', '-' || (i / 100) || ' days'), 5, 0 from n`;
    await db.$client.prepare(made).bind(first).run();
    const left = async () => {
      const sql =
        'select next_from, count(*) as count from businesses where id >= ? and next_from is not null group by 1';
      return Object.fromEntries((await db.$client.prepare(sql).bind(first).all()).results.map(Object.values));
    };
    const states = [];
    for (let run = 0; run < 3; run++) {
      await foldDue(db, DAY);
      states.push(await left());
    }
    expect(states).toEqual([{ '2026-03-14': 50, '2026-03-15': 100 }, { '2026-03-15': 50 }, {}]);
  });

  test('needs no receiver', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 1000 });
    await use(business, DAY, { quantity: 100 });
    await patch(business, { monthly_limit: 100, limits_from: '2026-03-16' });
    const log = { log() {}, error() {} };
    for (let minute = 0; minute < homes.length; minute++) {
      const scheduledTime = NEXT_DAY.getTime() + minute * 60_000;
      await runScheduled(
        { cron: SCHEDULES.alerts, scheduledTime },
        databases() as unknown as Bindings,
        () => NEXT_DAY,
        log,
      );
    }
    expect(await eventsOf(business)).toEqual([['month', '2026-03-01', 100, 100, 100]]);
  });

  test('reaches every database within minutes, and goes on if one fails', async () => {
    const failing = homes[0] as (typeof homes)[number];
    const bindings = databases((d1) => {
      if (d1 !== failing.d1) return d1;
      const broken = () => Promise.reject(new Error('D1_ERROR: Network connection lost.'));
      return { prepare: () => ({ bind: () => ({}) }), batch: broken } as unknown as D1Database;
    });
    const reached = new Set<unknown>();
    for (let minute = 0; minute < homes.length; minute++) {
      const lines: object[] = [];
      const cost = noCost();
      const at = new Date(DAY.getTime() + minute * 60_000);
      const log = { error: (line: object) => lines.push(line) };
      const { failed, statements } = await foldDueLimits(bindings, { clock: () => at, log, scheduled: at, cost });
      expect(statements).toBe(6);
      expect(lines).toEqual(
        failed.map((database) => ({
          ...{ operation: 'fold_limits', database },
          error: expect.stringContaining('D1_ERROR: Network connection lost.'),
        })),
      );
      for (const database of failed) reached.add(database);
    }
    expect([...reached]).toEqual([failing.binding]);
  });

  test('reads few rows, however many businesses have limits that change later', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 10 });
    await patch(business, { monthly_limit: 20, limits_from: 'next_month' });
    const sql = `explain query plan select id from businesses where next_from <= '2026-03-15' order by next_from, id limit 100`;
    const { results } = await business.db.$client.prepare(sql).all<{ detail: string }>();
    expect(results.map(({ detail }) => detail)).toEqual([
      'SEARCH businesses USING COVERING INDEX businesses_next_from (next_from<?)',
    ]);
  });
});
