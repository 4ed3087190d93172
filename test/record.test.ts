import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, dayOf } from '../src/core/time.ts';
import { purge } from '../src/purge.ts';
import { answerOf, granted, invalid, refused } from './answers.ts';
import { type Business, type CallOptions, call, dumpAll, inBatches, NOW, newBusiness, TODAY } from './support.ts';

type Use = { id: string; at?: string };

const use = (business: Business, options: CallOptions = {}) =>
  call('POST', business.usage, { as: business.key, ...options });
const keyed = (business: Business, id: string, options: CallOptions = {}) =>
  use(business, { ...options, headers: { ...options.headers, 'Idempotency-Key': id } });
const report = (business: Business, uses: unknown, options: CallOptions = {}) =>
  use(business, { body: { uses }, ...options });

/** Reads the nonzero counts from 40 days before `day` to the day after it. */
async function counts(business: Business, day = TODAY): Promise<Record<string, number>> {
  const query = `?from=${addDays(day, -40)}&to=${addDays(day, 1)}`;
  const { body } = await call('GET', business.usage + query, { as: business.key });
  const entries = body.data.used as { date: string; count: number }[];
  return Object.fromEntries(entries.filter(({ count }) => count > 0).map(({ date, count }) => [date, count]));
}

describe('a single use', () => {
  test('gets a response with its day and the new daily count', async () => {
    const business = await newBusiness();
    for (const count of [1, 2, 3]) {
      const answer = await use(business, { as: business.token });
      expect({ status: answer.status, text: answer.text }).toEqual({
        status: 200,
        text: `{"status":true,"data":{"date":"2026-03-15","count":${count}}}`,
      });
    }
    expect(await counts(business)).toEqual({ [TODAY]: 3 });
  });

  test.each([
    ['absent', undefined, {}],
    ['{}', '{}', { 'Content-Type': 'application/json' }],
    ['[]', '[]', { 'Content-Type': 'application/json' }],
    ['{} between spaces, as text', ' { } ', { 'Content-Type': 'text/plain' }],
    ['white space', '\r\n', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['1 MiB of white space', ' '.repeat(1024 * 1024), {}],
    ['empty, as JSON', '', { 'Content-Type': 'application/json' }],
  ])('is recorded if the body is %s', async (_, body, headers) => {
    const business = await newBusiness();
    const answer = await use(business, { as: business.token, headers: headers as Record<string, string>, body });
    expect(answer.body).toEqual({ status: true, data: { date: TODAY, count: 1 } });
  });

  test('counts on the UTC day on which it arrives', async () => {
    const business = await newBusiness();
    await use(business, { at: new Date('2026-03-15T23:59:59.999Z') });
    const after = await use(business, { at: new Date('2026-03-16T00:00:00.000Z') });
    expect(after.body.data).toEqual({ date: '2026-03-16', count: 1 });
    expect(await counts(business)).toEqual({ '2026-03-15': 1, '2026-03-16': 1 });
  });

  test('costs one round trip, writes one row and reads at most 12 rows', async () => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    for (let index = 0; index < 3; index++) {
      const { status, cost } = await use(business, { as: business.token, origin: 'https://shop.example' });
      expect(status).toBe(200);
      expect(cost).toMatchObject({ round_trips: 1, rows_written: 1 });
      expect(cost.rows_read, 'rows read').toBeLessThanOrEqual(12);
    }
  });

  test('is recorded neither by a request about sites nor by a preflight', async () => {
    const business = await newBusiness();
    await counts(business);
    const { body } = await call('POST', business.access, { as: business.key, body: { sites: ['https://a.example'] } });
    await call('GET', business.access, { as: business.key });
    await call('DELETE', `${business.access}/${body.data.access_list[0].id}`, { as: business.key });
    await call('DELETE', business.access, { as: business.key });
    await call('OPTIONS', business.usage);
    expect(await counts(business)).toEqual({});
  });
});

describe('an Idempotency-Key', () => {
  test('counts its use once, even if 100 requests send the key concurrently', async () => {
    const business = await newBusiness();
    const answers = await Promise.all(Array.from({ length: 100 }, () => keyed(business, 'order-1')));
    const [first, ...repeats] = answers
      .map(answerOf)
      .sort((a, b) => JSON.stringify(a).length - JSON.stringify(b).length);
    expect(first).toEqual(granted({ date: TODAY, count: 1 }));
    expect(repeats).toEqual(Array(99).fill(granted({ date: TODAY, count: 1, duplicate: true })));
    expect(await counts(business)).toEqual({ [TODAY]: 1 });
  });

  test('makes the response to a retry say so, with the day of the recorded use and the current count of that day', async () => {
    const business = await newBusiness();
    await keyed(business, 'order-1');
    await use(business);
    const repeat = await keyed(business, 'order-1', { at: new Date('2026-03-16T00:00:01Z') });
    expect(repeat.text).toBe('{"status":true,"data":{"date":"2026-03-15","count":2,"duplicate":true}}');
  });

  test('is remembered for 40 days', async () => {
    const business = await newBusiness();
    await keyed(business, 'order-1');
    const day40 = new Date(NOW.getTime() + 40 * 86_400_000);
    await purge(business.db, day40);
    expect((await keyed(business, 'order-1', { at: day40 })).body.data).toEqual({
      date: TODAY,
      count: 1,
      duplicate: true,
    });
    const day41 = new Date(NOW.getTime() + 41 * 86_400_000);
    await purge(business.db, day41);
    expect((await keyed(business, 'order-1', { at: day41 })).body.data).toEqual({ date: dayOf(day41), count: 1 });
  });

  test('counts a use once for each business', async () => {
    const first = await newBusiness();
    const second = await newBusiness({ user_id: first.user_id });
    await keyed(first, 'order-1', { as: first.key });
    await keyed(second, 'order-1', { as: first.key });
    expect([await counts(first), await counts(second)]).toEqual([{ [TODAY]: 1 }, { [TODAY]: 1 }]);
  });

  test('sent with a token does not block the same key sent with an API key', async () => {
    const business = await newBusiness();
    await keyed(business, 'order-1', { as: business.token });
    expect((await keyed(business, 'order-1', { as: business.key })).body.data.count).toBe(2);
    expect((await report(business, [{ id: 'order-1' }])).body.data).toEqual({ recorded: 0, duplicates: 1 });
    expect(await counts(business)).toEqual({ [TODAY]: 2 });
  });

  test.each(['a', '!'.repeat(255), '~\'"\\;--', '0', 'null', '{}'])('can be %j', async (id) => {
    const business = await newBusiness();
    await keyed(business, id);
    expect((await keyed(business, id)).body.data.count).toBe(1);
  });

  test('in quotes is the same key as the unescaped text between the quotes', async () => {
    const business = await newBusiness();
    for (const [plain, quoted] of [
      ['a', '"a"'],
      ['say-"hi"\\', '"say-\\"hi\\"\\\\"'],
      ['!'.repeat(255), `"${'!'.repeat(255)}"`],
    ] as const) {
      const first = await keyed(business, quoted);
      expect((await keyed(business, plain)).body.data).toEqual({ ...first.body.data, duplicate: true });
      expect((await report(business, [{ id: plain }])).body.data).toEqual({ recorded: 0, duplicates: 1 });
    }
    expect(await counts(business)).toEqual({ [TODAY]: 3 });
    // Lists use ids verbatim.
    expect((await report(business, [{ id: '"a"' }])).body.data).toEqual({ recorded: 1, duplicates: 0 });
  });

  const QUOTED = [
    ...['"', '""', '"a', '"a"b', '"a"b"', '"a";v=1', '"a", "b"', '"a b"', '"\\a"', '"a\\"', `"${'a'.repeat(256)}"`],
  ];
  test.each(QUOTED)('cannot be %j, because a leading quote must begin a single quoted string', async (id) => {
    const business = await newBusiness();
    const before = await dumpAll();
    const answer = await keyed(business, id);
    const message =
      'Idempotency-Key must be a single quoted string, such as "order-1", if it starts with a quote; ' +
      'the text inside must be 1 to 255 printable ASCII characters without spaces';
    expect(answerOf(answer)).toEqual(invalid('Idempotency-Key', message));
    expect(await dumpAll()).toBe(before);
  });

  test.each(['a'.repeat(256), 'two words', 'a, b', 'tab\there', ''])('cannot be %j', async (id) => {
    const business = await newBusiness();
    const before = await dumpAll();
    const answer = await keyed(business, id);
    const message = 'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces';
    expect(answerOf(answer)).toEqual(invalid('Idempotency-Key', message));
    expect(await dumpAll()).toBe(before);
  });

  test.each([
    ['a token', 'token', 'https://shop.example', 16],
    ['a token from a subdomain that a wildcard covers', 'token', 'https://a.example.com', 18],
    ['an API key', 'key', 'https://shop.example', 20],
    ['an API key from a subdomain that a wildcard covers', 'key', 'https://a.example.com', 22],
    ['an API key from a server', 'key', undefined, 16],
  ] as const)('sent with %s writes at most three rows, and a retry writes none', async (_, kind, origin, most) => {
    const business = await newBusiness({ sites: ['https://shop.example', 'https://*.example.com'] });
    const visit = origin === undefined ? { as: business[kind] } : { as: business[kind], origin };
    for (const id of ['order-1', 'order-2']) {
      const { cost } = await keyed(business, id, visit);
      expect(cost.round_trips).toBe(1);
      expect(cost.rows_written, 'rows written').toBeLessThanOrEqual(3);
      expect(cost.rows_read, 'rows read').toBeLessThanOrEqual(most);
      const again = await keyed(business, id, visit);
      expect(again.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
      expect(again.cost.rows_read, 'rows read by the retry').toBeLessThanOrEqual(most);
    }
  });

  test('makes retries safe even after the daily count of its use is deleted', async () => {
    const business = await newBusiness();
    await keyed(business, 'order-1');
    await business.home.d1.prepare('delete from daily_usage where business_id = ?').bind(business.id).run();
    expect(answerOf(await keyed(business, 'order-1'))).toEqual(granted({ date: TODAY, count: 0, duplicate: true }));
  });
});

describe('a bulk report', () => {
  test('counts each use on the day of its `at`, or today if it has none', async () => {
    const business = await newBusiness();
    const uses = [
      { id: '1' },
      { id: '2', at: '2026-03-14T23:59:59.999999999Z' },
      { id: '3', at: '2026-03-14T00:00:00Z' },
      { id: '4', at: '2026-02-08T12:00:00Z' },
      { id: '5', at: '2026-03-15T12:05:00.000Z' },
    ];
    const answer = await report(business, uses);
    expect(answer.text).toBe('{"status":true,"data":{"recorded":5,"duplicates":0}}');
    expect(await counts(business)).toEqual({ '2026-02-08': 1, '2026-03-14': 2, [TODAY]: 2 });
  });

  test('adds to the count once, even if it is sent twice', async () => {
    const business = await newBusiness();
    const uses = Array.from({ length: 1000 }, (_, index) => ({ id: `use-${index}` }));
    await use(business);
    const first = await report(business, uses);
    expect(first.body.data).toEqual({ recorded: 1000, duplicates: 0 });
    expect(first.cost.round_trips).toBe(1);
    const again = await report(business, uses);
    expect(again.body.data).toEqual({ recorded: 0, duplicates: 1000 });
    expect(again.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(await counts(business)).toEqual({ [TODAY]: 1001 });
  });

  test('counts a duplicate id once, on the day of its first occurrence', async () => {
    const business = await newBusiness();
    const uses = [
      { id: 'a', at: '2026-03-10T00:00:00Z' },
      { id: 'a', at: '2026-03-11T00:00:00Z' },
      { id: 'a' },
      { id: 'b' },
    ];
    expect((await report(business, uses)).body.data).toEqual({ recorded: 2, duplicates: 2 });
    expect((await report(business, [{ id: 'a', at: '2026-03-12T00:00:00Z' }])).body.data).toEqual({
      recorded: 0,
      duplicates: 1,
    });
    expect(await counts(business)).toEqual({ '2026-03-10': 1, [TODAY]: 1 });
    expect((await keyed(business, 'a')).body.data).toEqual({ date: '2026-03-10', count: 1, duplicate: true });
  });

  test('starts an id’s retention on the day it is recorded, not on the day of the use', async () => {
    const business = await newBusiness();
    const uses = [{ id: 'late', at: '2026-02-08T12:00:00Z' }];
    await report(business, uses);
    await purge(business.db, new Date(NOW.getTime() + 6 * 86_400_000));
    const count = () =>
      business.home.d1.prepare('select count(*) n from ledger where business_id = ?').bind(business.id).first('n');
    expect(await count()).toBe(1);
    await purge(business.db, new Date(NOW.getTime() + 41 * 86_400_000));
    expect(await count()).toBe(0);
    expect(await counts(business)).toEqual({ '2026-02-08': 1 });
  });

  const FORMAT =
    'must be an RFC 3339 timestamp of at most 64 characters, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00';
  test('records all entries or none, and reports each malformed entry', async () => {
    const business = await newBusiness();
    const before = await dumpAll();
    const answer = await report(business, [{ id: 'good' }, { id: '' }, { id: 'x', at: 'now' }, {}, 7]);
    const id = 'must be 1 to 255 printable ASCII characters without spaces';
    expect(answerOf(answer)).toEqual({
      status: 422,
      body: {
        status: false,
        message: `uses.1.id ${id}`,
        errors: {
          'uses.1.id': [`uses.1.id ${id}`],
          'uses.2.at': [`uses.2.at ${FORMAT}`],
          'uses.3.id': [`uses.3.id is required, and ${id}`],
          'uses.4': ['uses.4 must be an object such as {"id":"order-1"}'],
        },
      },
    });
    expect(await dumpAll()).toBe(before);
  });

  test.each([
    ['2026-03-15T12:00:00+00:00', TODAY],
    ['2026-03-15T12:00:00-00:00', TODAY],
    ['2026-03-15t12:00:00z', TODAY],
    ['2026-03-15T00:59:59+01:00', '2026-03-14'],
    ['2026-03-14T23:30:00.123456-00:30', TODAY],
    ['2026-03-15T23:59:59.9+23:59', TODAY],
    ['2026-03-14T00:01:00-23:59', TODAY],
    ['2026-02-28T23:30:00-01:00', '2026-03-01'],
    ['2026-03-01T00:30:00+05:45', '2026-02-28'],
    [`2026-03-14T23:59:59.${'9'.repeat(38)}+00:00`, '2026-03-14'],
    ['2026-02-08T13:00:00+01:00', '2026-02-08'],
    ['2026-03-15T13:05:00+01:00', TODAY],
  ])('counts a use whose `at` is %j on the UTC day %s', async (at, day) => {
    const business = await newBusiness();
    expect((await report(business, [{ id: 'a', at }])).body.data).toEqual({ recorded: 1, duplicates: 0 });
    expect(await counts(business)).toEqual({ [day]: 1 });
  });

  const PAST = 'must be at most 35 days in the past: 2026-02-08T12:00:00.000Z or later';
  const AHEAD = 'must be at most 5 minutes in the future: 2026-03-15T12:05:00.000Z or earlier';
  test.each(
    [
      ...['', 'now', '2026-03-15', '2026-03-15T12:00:00', '2026-03-15 12:00:00Z', '2026-03-15T11:59Z', '1773576000'],
      ...['2026-02-30T12:00:00Z', '2026-02-29T12:00:00+01:00', '2026-13-01T12:00:00Z', '2026-03-00T12:00:00Z'],
      ...['2026-03-15T24:00:00Z', '2026-03-15T11:60:00Z', '2026-03-15T11:59:60Z', '2026-03-14T23:59:60Z'],
      ...['2026-03-15T12:00:00.Z', '2026-03-15T12:00:00,5Z', ' 2026-03-15T12:00:00Z', '2026-03-15T12:00:00Z\n'],
      ...[
        '2026-03-15T12:00:00+0100',
        '2026-03-15T12:00:00+01',
        '2026-03-15T12:00:00+24:00',
        '2026-03-15T12:00:00+00:60',
      ],
      ...[
        '2026-03-15T12:00:00+00:00Z',
        '2026-03-15T12:00:00 +01:00',
        '2026-03-15T12:00:00\u221201:00',
        '-2026-03-15T12:00:00Z',
      ],
      `2026-03-14T23:59:59.${'9'.repeat(39)}+00:00`,
    ]
      .map((at) => [at, FORMAT])
      .concat(
        [
          '2026-02-08T11:59:59.999Z',
          '2026-02-08T12:59:59+01:00',
          '2025-03-15T12:00:00Z',
          '1969-12-31T23:59:59Z',
          '0001-01-01T00:00:00Z',
        ].map((at) => [at, PAST]),
        [
          '2026-03-15T12:05:00.001Z',
          '2026-03-15T11:06:00-01:00',
          '2026-03-16T12:00:00Z',
          '9999-12-31T23:59:59-23:59',
        ].map((at) => [at, AHEAD]),
      ),
  )('refuses a use whose `at` is %j, because it %s', async (at = '', rule = '') => {
    const business = await newBusiness();
    const answer = await report(business, [{ id: 'good' }, { id: 'bad', at }]);
    expect(answerOf(answer)).toEqual(invalid('uses.1.at', `uses.1.at ${rule}`));
    expect(await counts(business)).toEqual({});
  });

  const BODY =
    'body must be empty for one use, or a JSON object such as {"quantity":350}, {"label":"sms"} or {"uses":[{"id":"order-1"}]}';
  const NOT_JSON = 'body must be valid JSON';
  const MEMBER = 'is not a member of this object, which accepts at, label, quantity or uses';
  const USES = 'uses must be a list of 1 to 1000 uses, such as [{"id":"order-1","at":"2026-01-31T12:00:00Z"}]';
  const good = '{"uses":[{"id":"a"}]}';
  test.each([
    ['form data', 'uses=a', 'application/x-www-form-urlencoded', 'body', NOT_JSON],
    ['malformed JSON', '{"uses":', 'application/json', 'body', NOT_JSON],
    ['JSON with a comma too many', '{"quantity":1,}', 'application/json', 'body', NOT_JSON],
    ['a byte order mark', '\ufeff', 'application/json', 'body', NOT_JSON],
    ['a no-break space', '\u00a0', 'text/plain', 'body', NOT_JSON],
    [
      'a duplicate member',
      '{"at":1,"at":2}',
      'application/json',
      'body',
      'body must not contain duplicate members in an object',
    ],
    ['a number', '5', 'application/json', 'body', BODY],
    ['text', '"use"', 'application/json', 'body', BODY],
    ['false', 'false', 'application/json', 'body', BODY],
    ['a list of an empty list', '[[]]', 'application/json', 'body', BODY],
    ['white space and one letter', `${' '.repeat(1024 * 1024 - 1)}x`, 'application/json', 'body', NOT_JSON],
    ['a list', '[{"id":"a"}]', 'application/json', 'body', BODY],
    ['null', 'null', 'application/json', 'body', BODY],
    ['an object with an unknown member', '{"use":1}', 'application/json', 'use', `use ${MEMBER}`],
    ['an object with __proto__', '{"__proto__":{}}', 'application/json', '__proto__', `__proto__ ${MEMBER}`],
    ['an empty list of uses', '{"uses":[]}', 'application/json', 'uses', USES],
    ['an object whose uses are null', '{"uses":null}', 'application/json', 'uses', USES],
    ['an object whose uses are an object', '{"uses":{"id":"a"}}', 'application/json', 'uses', USES],
    ['a list of 1001 uses', `{"uses":[${'{"id":"a"},'.repeat(1000)}{"id":"a"}]}`, 'application/json', 'uses', USES],
  ])('is refused and not counted as a single use if the body is %s', async (_, body, type, field, message) => {
    const business = await newBusiness();
    const before = await dumpAll();
    const isMeantAsOne = !body.startsWith('{"uses":') || field === 'body';
    for (const as of [business.key, ...(isMeantAsOne ? [business.token] : [])])
      for (const key of isMeantAsOne ? [{}, { 'Idempotency-Key': 'order-1' }] : [{}])
        expect(answerOf(await use(business, { as, body, headers: { ...key, 'Content-Type': type } }))).toEqual(
          invalid(field, message),
        );
    expect(await dumpAll()).toBe(before);
  });

  test('can begin with a byte order mark', async () => {
    const business = await newBusiness();
    expect(
      (await use(business, { body: `\ufeff${good}`, headers: { 'Content-Type': 'text/plain' } })).body.data,
    ).toEqual({ recorded: 1, duplicates: 0 });
  });

  test('cannot be sent with an Idempotency-Key', async () => {
    const business = await newBusiness();
    const answer = await keyed(business, 'order-1', { body: { uses: [{ id: 'a' }] } });
    const message = 'Idempotency-Key must not be sent with a list of uses: each use has its own id';
    expect(answerOf(answer)).toEqual(invalid('Idempotency-Key', message));
    expect(await counts(business)).toEqual({});
  });

  test('requires an API key, whatever the list contains', async () => {
    const business = await newBusiness();
    const before = await dumpAll();
    for (const body of [good, '{"uses":5}', '{"uses":[],"quantity":1}']) {
      const answer = await use(business, { as: business.token, body });
      expect(answerOf(answer)).toEqual(refused('A business token cannot record lists of uses. Use an API key.'));
    }
    expect(await dumpAll()).toBe(before);
  });
});

describe('no use is lost or counted twice', () => {
  test('1,000 uses, 100 of them concurrent, count as 1,000', { tags: 'slow' }, async () => {
    const business = await newBusiness();
    const answers = await inBatches(Array(1000).fill({ as: business.token }), (options) => use(business, options));
    const seen = answers.map(({ body }) => body.data.count).sort((a, b) => a - b);
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
    expect(await counts(business)).toEqual({ [TODAY]: 1000 });
  });

  test('a usage report reads as many rows after 100,000 uses as after one', async () => {
    const business = await newBusiness();
    await use(business);
    const read = async () => (await call('GET', business.usage, { as: business.key })).cost.rows_read;
    const before = await read();
    await business.home.d1
      .prepare('update daily_usage set count = 100000 where business_id = ?')
      .bind(business.id)
      .run();
    for (let start = 0; start < 5000; start += 1000) {
      await report(
        business,
        Array.from({ length: 1000 }, (_, index) => ({ id: `${start + index}` })),
      );
    }
    expect(await read()).toBe(before);
    expect(await counts(business)).toEqual({ [TODAY]: 105_000 });
  });

  test('the daily counts equal a model’s after any sequence of uses, uses with ids and bulk reports', {
    tags: 'slow',
  }, async () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
    const daysAgo = fc.integer({ min: 0, max: 34 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('use' as const), as: fc.constantFrom('key' as const, 'token' as const) }),
      fc.record({ do: fc.constant('keyed' as const), as: fc.constantFrom('key' as const, 'token' as const), id }),
      fc.record({
        do: fc.constant('report' as const),
        uses: fc.array(fc.tuple(id, daysAgo), { minLength: 1, maxLength: 8 }),
      }),
      fc.record({ do: fc.constant('refused' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.integer({ min: 0, max: 2 })), { maxLength: 20 }), async (steps) => {
        const business = await newBusiness();
        const model: Record<string, number> = {};
        const known = new Map<string, string>();
        const count = (day: string) => {
          model[day] = (model[day] ?? 0) + 1;
        };
        let clock = NOW.getTime();
        for (const [what, later] of steps) {
          clock += later * 3_600_000;
          const at = new Date(clock);
          const today = dayOf(at);
          if (what.do === 'use') {
            await use(business, { as: business[what.as], at });
            count(today);
          } else if (what.do === 'keyed') {
            const { body } = await keyed(business, what.id, { as: business[what.as], at });
            const name = `${what.as}:${what.id}`;
            const repeated = known.has(name) ? { duplicate: true } : {};
            if (!known.has(name)) count(today);
            known.set(name, known.get(name) ?? today);
            const day = known.get(name) as string;
            expect(body.data).toEqual({ date: day, count: model[day], ...repeated });
          } else if (what.do === 'report') {
            const uses: Use[] = what.uses.map(([id, days]) => ({
              id,
              at: new Date(clock - days * 86_400_000).toISOString(),
            }));
            const fresh = new Set<string>();
            for (const { id, at } of uses) {
              const name = `key:${id}`;
              if (known.has(name)) continue;
              const day = (at as string).slice(0, 10);
              known.set(name, day);
              fresh.add(name);
              count(day);
            }
            const { body } = await report(business, uses, { at });
            expect(body.data).toEqual({ recorded: fresh.size, duplicates: uses.length - fresh.size });
          } else {
            await report(business, [{ id: 'a' }, { id: '' }], { at });
          }
        }
        expect(await counts(business)).toEqual(model);
      }),
      { numRuns: 60 },
    );
  });
});
