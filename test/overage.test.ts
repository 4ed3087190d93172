// Uses beyond a limit (docs/api.md, "Overage"). Limits also apply to lists of uses, unless the operator sends them.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { ledger } from '../src/db/schema.ts';
import { answerOf, invalid, refused } from './answers.ts';
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

const use = (business: Business, options: CallOptions = {}) =>
  call('POST', business.usage, { as: business.key, ...options });
type Use = { id: string; at?: string; quantity?: number };
const report = (business: Business, uses: Use[], options: CallOptions = {}) =>
  use(business, { body: { uses }, ...options });
const remembered = ({ db, id }: Business) => db.$count(ledger, eq(ledger.business_id, id));
const idsOf = (...names: (string | number)[]) => names.map((name) => ({ id: `order-${name}` }));
const beyond = (message: string) => ({ status: 429, body: { status: false, message } });
const FULL = { status: 429, body: { status: false, message: 'This business has used its 1 use for today.' } };
const HALF_A_DAY = '43200';

describe('overage', () => {
  test('is the number of uses that a key can record beyond a limit before it gets 429', async () => {
    for (const limits of [{ daily_limit: 2 }, { monthly_limit: 2 }]) {
      const business = await newLimitedBusiness({ ...limits, overage: 3 });
      const remaining: number[] = [];
      for (let count = 1; count <= 5; count++) remaining.push((await use(business)).body.data.remaining);
      expect(remaining).toEqual([1, 0, 0, 0, 0]);
      const period = 'daily_limit' in limits ? 'today' : 'this month';
      const message = `This business has used its 5 uses for ${period} (2 plus an overage of 3).`;
      expect(answerOf(await use(business))).toEqual({ status: 429, body: { status: false, message } });
      expect(await countsByDay(business)).toEqual({ [TODAY]: 5 });
    }
  });

  test('of null allows any number of uses beyond a limit', async () => {
    const business = await newLimitedBusiness({ daily_limit: 1, monthly_limit: 1, overage: null });
    await setCount(business.id, TODAY, 1_000_000);
    expect((await use(business)).body.data).toEqual({ date: TODAY, count: 1_000_001, remaining: 0 });
    expect((await report(business, idsOf(1))).body.data).toEqual({ recorded: 1, duplicates: 0 });
  });

  describe('with page_overage', () => {
    const newOne = (sites: string[]) =>
      newLimitedBusiness({ daily_limit: 1, monthly_limit: 9, overage: 2, page_overage: 1 }, { sites });
    const visit = (business: Business, origin: string) => use(business, { as: business.token, origin });
    const ofBoth = (left: number) => `This business has used its ${left} uses for today (1 plus an overage of 2).`;

    test('applies to a token, also for dated uses, with or without concurrent calls', async () => {
      const business = await newOne(['https://a.example']);
      expect((await visit(business, 'https://a.example')).body.data).toEqual({ date: TODAY, count: 1, remaining: 0 });
      const at = { body: { at: `${TODAY}T01:00:00Z` }, as: business.token, origin: 'https://a.example' };
      const dated = await use(business, { ...at, headers: { 'Idempotency-Key': 'x' } });
      expect(dated.body.data).toEqual({ date: TODAY, count: 2, remaining: 0 });
      const all = await Promise.all(Array.from({ length: 10 }, () => visit(business, 'https://a.example')));
      expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(429)]);
      expect(answerOf(await visit(business, 'https://a.example'))).toEqual(beyond(ofBoth(3)));
      expect(await countsByDay(business)).toEqual({ [TODAY]: 3 });
    });

    test.each<[string[], string, boolean]>([
      [[], 'https://a.example', false],
      [
        ['http://localhost:*', 'https://127.0.0.1', 'http://127.0.0.1:*', 'http://[::1]:3000'],
        'http://localhost:3000',
        false,
      ],
      [['http://*.localhost:*', 'https://a.localhost', 'http://a.localhost:80'], 'http://a.localhost:3000', false],
      [['capacitor://localhost', 'app://shop', 'chrome-extension://abc'], 'capacitor://localhost', false],
      [['capacitor://localhost', 'https://a.example'], 'capacitor://localhost', true],
      [['http://localhost:*', 'http://*.localhost.example'], 'http://localhost:3000', true],
      [['https://127.5gram.com'], 'https://127.5gram.com', true],
      [['https://[2001:db8::1]'], 'https://[2001:db8::1]', true],
      [['http://10.0.0.7:8080'], 'http://10.0.0.7:8080', true],
    ])('while %j are registered, a use of %s beyond the limit counts: %s', async (sites, origin, isCounted) => {
      const business = await newOne(sites);
      expect((await visit(business, origin)).status).toBe(200);
      expect((await visit(business, origin)).status).toBe(isCounted ? 200 : 429);
    });

    test('stops as soon as the last such site is removed', async () => {
      const business = await newOne(['https://a.example', 'http://localhost:*']);
      const both = [await visit(business, 'http://localhost:3000'), await visit(business, 'http://localhost:3000')];
      expect(both.map(({ status }) => status)).toEqual([200, 200]);
      const { access_list } = (await call('GET', business.access, { as: business.key })).body.data;
      await call('DELETE', `${business.access}/${access_list[0].id}`, { as: business.key });
      expect(answerOf(await visit(business, 'http://localhost:3000'))).toEqual(FULL);
    });

    test('needs a finite overage, whichever of the two changes, and is shown and recorded as true or false', async () => {
      const business = await newLimitedBusiness({ daily_limit: 1, overage: null });
      const patch = (body: object) => call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body });
      const reason = 'pages are public, so what they can cost must be bounded';
      const ofPages = invalid('page_overage', `page_overage must not be true while overage is null: ${reason}`);
      const ofNumber = invalid('overage', `overage must not be null while page_overage is true: ${reason}`);
      const before = await dumpAll();
      for (const body of [
        { page_overage: true },
        { page_overage: true, overage: null },
        { name: 'x', page_overage: true },
      ])
        expect(answerOf(await patch(body))).toEqual(ofPages);
      expect(await dumpAll()).toBe(before);
      expect((await patch({ page_overage: true, overage: 5 })).body.data.limits).toMatchObject({ page_overage: true });
      const changed = await dumpAll();
      expect(answerOf(await patch({ overage: null }))).toEqual(ofNumber);
      expect(await dumpAll()).toBe(changed);
      await patch({ page_overage: false, overage: null });
      const { changes } = (await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key })).body
        .data;
      expect(changes.map(({ before, after }: { before: object; after: object }) => [before, after])).toEqual([
        [
          { page_overage: true, overage: 5 },
          { page_overage: false, overage: null },
        ],
        [
          { page_overage: false, overage: null },
          { page_overage: true, overage: 5 },
        ],
      ]);
      const fields = {
        name: 'A',
        main_domain: 'a.example',
        site: 'https://a.example',
        country_id: 1,
        business_size: 's',
      };
      const body = { user_id: 1_234, ...fields, page_overage: true, overage: null };
      expect(answerOf(await call('POST', '/api/v1/business', { as: OPERATOR.full, body }))).toEqual(ofPages);
    });

    test('reads a row more for each statement that needs it, and none without it', async () => {
      const [plain, paged] = await Promise.all(
        [0, 1].map((page_overage) =>
          newLimitedBusiness({ daily_limit: 9, overage: 2, page_overage }, { sites: ['https://a.example'] }),
        ),
      );
      const rows = async (business = plain as Business) => (await visit(business, 'https://a.example')).cost.rows_read;
      await rows();
      await rows(paged);
      expect((await rows(paged)) - (await rows())).toBeLessThanOrEqual(2);
    });
  });

  test('does not apply to a token, because tokens are public', async () => {
    for (const overage of [0, 5, null]) {
      const business = await newLimitedBusiness({ daily_limit: 1, overage }, { sites: ['https://a.example'] });
      const visit = () => use(business, { as: business.token, origin: 'https://a.example' });
      expect((await visit()).status).toBe(200);
      expect(answerOf(await visit())).toEqual(FULL);
      expect((await use(business)).status).toBe(overage === 0 ? 429 : 200);
      expect(answerOf(await visit())).toEqual(FULL);
    }
  });

  test('applies to both limits, and a quantity that exceeds it is refused as a whole', async () => {
    const business = await newLimitedBusiness({ daily_limit: 10, monthly_limit: 15, overage: 5 });
    await setCount(business.id, '2026-03-14', 8);
    const message = 'Only 12 of 20 uses for this month (15 plus an overage of 5) are left.';
    const answer = await use(business, { body: { quantity: 13 } });
    expect(answerOf(answer)).toEqual({ status: 429, body: { status: false, message } });
    expect(answer.headers.get('Retry-After')).toBe(`${16.5 * 86_400}`);
    expect((await use(business, { body: { quantity: 12 } })).body.data).toEqual({
      date: TODAY,
      count: 12,
      remaining: 0,
    });
    expect((await use(business, { body: { quantity: 21 } })).headers.get('Retry-After')).toBeNull();
  });

  test('can be read and changed like the business’s limits, and each change is listed', async () => {
    const business = await newBusiness();
    const patch = async (body: object) =>
      (await call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body })).body.data.limits;
    expect(await patch({ daily_limit: 10 })).toMatchObject({ daily: 10, overage: 0 });
    expect(await patch({ overage: 5 })).toMatchObject({ daily: 10, overage: 5 });
    expect(await patch({ overage: null })).toMatchObject({ overage: null });
    const changes = (await call('GET', `/api/v1/business/${business.id}/changes?limit=2`, { as: business.key })).body;
    expect(changes.data.changes).toMatchObject([
      { before: { overage: 5 }, after: { overage: null } },
      { before: { overage: 0 }, after: { overage: 5 } },
    ]);
    const rule = 'overage must be a whole number from 0 to 1000000000000, or null for unlimited overage';
    for (const overage of [-1, 1.5, '5', 1e12 + 1, true, []]) {
      const answer = await call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: { overage } });
      expect(answer.body).toEqual({ status: false, message: rule, errors: { overage: [rule] } });
    }
  });
});

describe('a list that a key sends', () => {
  test('is counted up to the limit plus the overage, or refused as a whole, with what is left', async () => {
    const business = await newLimitedBusiness({ daily_limit: 3, overage: 1 });
    expect((await report(business, idsOf(1, 2))).body.data).toEqual({ recorded: 2, duplicates: 0 });
    const before = await dumpAll();
    const answer = await report(business, idsOf(2, 3, 4, 4, 5, 6));
    expect(answerOf(answer)).toEqual(beyond('Only 2 of 4 uses for today (3 plus an overage of 1) are left.'));
    expect(answer.headers.get('Retry-After')).toBe(HALF_A_DAY);
    expect(await dumpAll()).toBe(before);
    expect((await report(business, idsOf(2, 3, 4))).body.data).toEqual({ recorded: 2, duplicates: 1 });
    expect([await countsByDay(business), await remembered(business)]).toEqual([{ [TODAY]: 4 }, 4]);
  });

  test('is accepted at the limit if all its ids are already recorded', async () => {
    const business = await newLimitedBusiness({ daily_limit: 2, monthly_limit: 2 });
    await report(business, idsOf(1, 2));
    expect((await report(business, idsOf(1, 2))).body.data).toEqual({ recorded: 0, duplicates: 2 });
    const message = 'This business has used its 2 uses for this month.';
    expect(answerOf(await report(business, idsOf(1, 2, 3)))).toEqual(beyond(message));
  });

  test('counts each use with its quantity on the day of its `at`', async () => {
    const business = await newLimitedBusiness({ daily_limit: 10 });
    await setCount(business.id, '2026-03-10', 9);
    const at = '2026-03-10T09:00:00Z';
    const late = [
      { id: 'a', quantity: 10 },
      { id: 'b', at },
    ];
    expect((await report(business, late)).body.data).toEqual({ recorded: 2, duplicates: 0 });
    const answer = await report(business, [{ id: 'c', at }]);
    expect(answerOf(answer)).toEqual(beyond('This business has used its 10 uses for 2026-03-10.'));
    expect(answer.headers.get('Retry-After')).toBeNull(); // the day is over
    const both = await report(business, [{ id: 'd' }, { id: 'c', at }]);
    // Of several limits, the earliest period is named.
    expect(answerOf(both)).toEqual(beyond('This business has used its 10 uses for 2026-03-10.'));
    expect(both.headers.get('Retry-After')).toBeNull();
  });

  test('counts each use in the month of its `at`, even if the list spans three months', async () => {
    const at = new Date('2026-03-05T12:00:00Z');
    const business = await newLimitedBusiness({ monthly_limit: 5, billing_day: 4 });
    const days = ['2026-01-30', '2026-02-03', '2026-02-04', '2026-03-03', '2026-03-04', '2026-03-05'];
    const uses = days.map((day) => ({ id: day, at: `${day}T12:00:00Z`, quantity: 2 }));
    expect((await report(business, uses, { at })).body.data).toEqual({ recorded: 6, duplicates: 0 });
    for (const [day, from, to] of [
      ['2026-01-30', '2026-01-04', '2026-02-03'],
      ['2026-02-20', '2026-02-04', '2026-03-03'],
    ] as const) {
      const answer = await report(business, [{ id: 'x' }, { id: day.slice(1), at: `${day}T12:00:00Z`, quantity: 2 }], {
        at,
      });
      expect(answerOf(answer)).toEqual(beyond(`Only 1 of 5 uses for the month from ${from} to ${to} is left.`));
      expect(answer.headers.get('Retry-After')).toBeNull();
    }
    const now = await report(business, [{ id: 'y', quantity: 2 }], { at });
    expect(answerOf(now)).toEqual(beyond('Only 1 of 5 uses for this month is left.'));
    expect(now.headers.get('Retry-After')).toBe(`${29.5 * 86_400}`);
  });

  test('gets no Retry-After if a use in the period that is full has an `at`, because its day cannot change', async () => {
    const business = await newLimitedBusiness({ daily_limit: 1 });
    await use(business);
    const uses = [{ id: 'a', at: `${TODAY}T11:00:00Z` }];
    expect((await report(business, uses)).headers.get('Retry-After')).toBeNull();
    expect((await report(business, idsOf(1))).headers.get('Retry-After')).toBe(HALF_A_DAY);
  });

  test('gets no Retry-After if it contains more uses than a whole period allows', async () => {
    const business = await newLimitedBusiness({ daily_limit: 2, overage: 1 });
    const answer = await report(business, idsOf(1, 2, 3, 4));
    expect(answerOf(answer)).toEqual(beyond('Only 3 of 3 uses for today (2 plus an overage of 1) are left.'));
    expect(answer.headers.get('Retry-After')).toBeNull();
  });

  test('never counts a use beyond the limit plus the overage, even if 120 lists arrive concurrently', {
    tags: 'slow',
  }, async () => {
    const business = await newLimitedBusiness({ monthly_limit: 150, daily_limit: 130, overage: 7 });
    const lists = Array.from({ length: 120 }, (_, index) => idsOf(`${index}-a`, `${index}-b`, `${index % 15}-c`));
    const answers = await Promise.all(lists.map((uses) => report(business, uses)));
    const recorded = answers.flatMap(({ status, body }) => (status === 200 ? [body.data.recorded] : []));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    const sum = recorded.reduce((all, count) => all + count, 0);
    expect([await countsByDay(business), await remembered(business)]).toEqual([{ [TODAY]: sum }, sum]);
    expect(sum).toBeLessThanOrEqual(137);
    expect(sum).toBeGreaterThanOrEqual(135);
  });

  test('costs as many round trips as without limits, and reads five more rows if the overage is unlimited', async () => {
    const list = (name: string) => Array.from({ length: 100 }, (_, index) => ({ id: `${name}-${index}` }));
    const costOf = async (business: Business) => {
      await report(business, list('first'));
      const { cost } = await report(business, list('then'));
      return [cost.round_trips, cost.rows_read, cost.rows_written];
    };
    const [trips, read, written] = await costOf(await newBusiness());
    const limits = await costOf(await newLimitedBusiness({ daily_limit: 1000, monthly_limit: 1000 }));
    const free = await costOf(await newLimitedBusiness({ daily_limit: 1000, monthly_limit: 1000, overage: null }));
    expect(free).toEqual([trips, Number(read) + 5, written]);
    expect([limits[0], limits[2]]).toEqual([trips, written]);
    expect(limits[1]).toBeLessThanOrEqual(Number(read) + 4 * 100 + 20);
  });
});

describe('the operator', () => {
  test('can record lists beyond every limit with a key of either role', async () => {
    for (const as of [OPERATOR.full, OPERATOR.record]) {
      const business = await newLimitedBusiness({ daily_limit: 1, monthly_limit: 1 });
      expect((await report(business, idsOf(1, 2, 3), { as })).body.data).toEqual({ recorded: 3, duplicates: 0 });
      expect((await use(business, { as })).status).toBe(429);
    }
  });

  test('can record uses for an inactive business, unlike its owner', async () => {
    for (const status of ['suspended', 'closed']) {
      const business = await newLimitedBusiness({}, { status });
      for (const as of [OPERATOR.full, OPERATOR.record]) {
        expect((await use(business, { as })).status).toBe(200);
        expect((await use(business, { as, body: { quantity: 2 } })).status).toBe(200);
        expect((await report(business, idsOf(as), { as })).status).toBe(200);
      }
      expect(answerOf(await use(business))).toEqual(refused('This business is not active.'));
      expect(answerOf(await report(business, idsOf(1)))).toEqual(refused('This business is not active.'));
    }
  });
});
