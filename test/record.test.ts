// The bodies, ids and times of uses. The simulator (test/sim) checks how they count.
import { describe, expect, test } from 'vitest';
import { answerOf, invalid } from './answers.ts';
import { type Business, type CallOptions, call, countsByDay, dumpAll, newBusiness, TODAY } from './support.ts';

const use = (business: Business, options: CallOptions = {}) =>
  call('POST', business.usage, { as: business.key, ...options });
const keyed = (business: Business, id: string, options: CallOptions = {}) =>
  use(business, { ...options, headers: { ...options.headers, 'Idempotency-Key': id } });
const report = (business: Business, uses: unknown, options: CallOptions = {}) =>
  use(business, { body: { uses }, ...options });

test.each([
  ['{} between spaces, as text', ' { } ', 'text/plain'],
  ['white space, as a form', '\r\n', 'application/x-www-form-urlencoded'],
  ['1 MiB of white space', ' '.repeat(1024 * 1024), 'text/plain'],
  ['empty, as JSON', '', 'application/json'],
])('a single use is recorded if the body is %s', async (_, body, type) => {
  const business = await newBusiness();
  const answer = await use(business, { as: business.token, headers: { 'Content-Type': type }, body });
  expect(answer.body).toEqual({ status: true, data: { date: TODAY, count: 1 } });
});

describe('an Idempotency-Key', () => {
  test.each([
    ...['!'.repeat(255), '~\'"\\;--', '0', 'null', '{}'].map((id) => [id, id]),
    ['"a"', 'a'],
    ['"say-\\"hi\\"\\\\"', 'say-"hi"\\'],
    [`"${'!'.repeat(255)}"`, '!'.repeat(255)],
  ] as [string, string][])('can be %j, and is the id %j in a list', async (header, id) => {
    const business = await newBusiness();
    const { data } = (await keyed(business, header)).body;
    expect(data).toEqual({ date: TODAY, count: 1 });
    expect((await keyed(business, id)).body.data).toEqual({ ...data, duplicate: true });
    expect((await report(business, [{ id }])).body.data).toEqual({ recorded: 0, duplicates: 1 });
  });

  test('cannot be anything else, and a leading quote must begin a single quoted string', async () => {
    const business = await newBusiness();
    const inside = '1 to 255 printable ASCII characters without spaces';
    const quoted = `a single quoted string, such as "order-1", if it starts with a quote; the text inside must be ${inside}`;
    const before = await dumpAll();
    for (const id of [
      ...['"', '""', '"a', '"a"b', '"a"b"', '"a";v=1', '"a", "b"', '"a b"', '"\\a"', '"a\\"', `"${'a'.repeat(256)}"`],
      ...['a'.repeat(256), 'two words', 'a, b', 'tab\there', ''],
    ]) {
      const rule = id.startsWith('"') ? quoted : inside;
      const refused = invalid('Idempotency-Key', `Idempotency-Key must be ${rule}`);
      expect(answerOf(await keyed(business, id))).toEqual(refused);
    }
    expect(await dumpAll()).toBe(before);
  });
});

describe('a bulk report', () => {
  const FORMAT =
    'must be an RFC 3339 timestamp of at most 64 characters, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00';

  const TIMES = [
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
  ];
  test('counts each use on the UTC day of its `at`', async () => {
    const business = await newBusiness();
    const expected: Record<string, number> = {};
    for (const [index, [at, day = '']] of TIMES.entries()) {
      await report(business, [{ id: `${index}`, at }]);
      expected[day] = (expected[day] ?? 0) + 1;
      expect([at, await countsByDay(business)]).toEqual([at, expected]);
    }
  });

  const PAST = 'must be at most 35 days in the past: 2026-02-08T12:00:00.000Z or later';
  const AHEAD = 'must be at most 5 minutes in the future: 2026-03-15T12:05:00.000Z or earlier';
  const WRONG_TIMES = [
    ...['', 'now', '2026-03-15', '2026-03-15T12:00:00', '2026-03-15 12:00:00Z', '2026-03-15T11:59Z', '1773576000'],
    ...['2026-02-30T12:00:00Z', '2026-02-29T12:00:00+01:00', '2026-13-01T12:00:00Z', '2026-03-00T12:00:00Z'],
    ...['2026-03-15T24:00:00Z', '2026-03-15T11:60:00Z', '2026-03-15T11:59:60Z', '2026-03-14T23:59:60Z'],
    ...['2026-03-15T12:00:00.Z', '2026-03-15T12:00:00,5Z', ' 2026-03-15T12:00:00Z', '2026-03-15T12:00:00Z\n'],
    ...['2026-03-15T12:00:00+0100', '2026-03-15T12:00:00+01', '2026-03-15T12:00:00+24:00', '2026-03-15T12:00:00+00:60'],
    ...['2026-03-15T12:00:00+00:00Z', '2026-03-15T12:00:00 +01:00', '2026-03-15T12:00:00\u221201:00'],
    ...['-2026-03-15T12:00:00Z', `2026-03-14T23:59:59.${'9'.repeat(39)}+00:00`],
  ].map((at) => [at, FORMAT]);
  const PAST_TIMES = [
    '2026-02-08T11:59:59.999Z',
    '2026-02-08T12:59:59+01:00',
    '1969-12-31T23:59:59Z',
    '0001-01-01T00:00:00Z',
  ];
  const FUTURE_TIMES = ['2026-03-15T12:05:00.001Z', '2026-03-15T11:06:00-01:00', '9999-12-31T23:59:59-23:59'];
  WRONG_TIMES.push(...PAST_TIMES.map((at) => [at, PAST]), ...FUTURE_TIMES.map((at) => [at, AHEAD]));
  test('is refused as a whole, with an error for each use whose `at` is wrong', async () => {
    const business = await newBusiness();
    const uses = WRONG_TIMES.map(([at], index) => ({ id: `${index}`, at }));
    const { status, body } = await report(business, [{ id: 'good' }, ...uses]);
    const errors = WRONG_TIMES.map(([at, rule], index) => [at, [`uses.${index + 1}.at ${rule}`]]);
    expect(status).toBe(422);
    expect(WRONG_TIMES.map(([at], index) => [at, body.errors[`uses.${index + 1}.at`]])).toEqual(errors);
    expect(Object.keys(body.errors)).toHaveLength(errors.length);
    expect(await countsByDay(business)).toEqual({});
  });

  const BODY =
    'body must be empty for one use, or a JSON object such as {"quantity":350}, {"label":"sms"} or {"uses":[{"id":"order-1"}]}';
  const NOT_JSON = 'body must be valid JSON';
  test.each([
    ['form data', 'uses=a', NOT_JSON],
    ['JSON with a comma too many', '{"quantity":1,}', NOT_JSON],
    ['a byte order mark', '\ufeff', NOT_JSON],
    ['a no-break space', '\u00a0', NOT_JSON],
    ['white space and one letter', `${' '.repeat(1024 * 1024 - 1)}x`, NOT_JSON],
    ['a duplicate member', '{"at":1,"at":2}', 'body must not contain duplicate members in an object'],
    ['false', 'false', BODY],
    ['a list of an empty list', '[[]]', BODY],
    ['null', 'null', BODY],
    ['an unknown member', '{"use":1}', 'use is not a member of this object, which accepts at, label, quantity or uses'],
  ])('is refused and not counted as a single use if the body is %s', async (_, body, message) => {
    const business = await newBusiness();
    for (const as of [business.key, business.token])
      for (const headers of [{}, { 'Idempotency-Key': 'order-1' }])
        expect(answerOf(await use(business, { as, body, headers }))).toEqual(
          invalid(message.replace(/ .*/, ''), message),
        );
    expect(await countsByDay(business)).toEqual({});
  });

  test('can begin with a byte order mark', async () => {
    const headers = { 'Content-Type': 'text/plain' };
    const { body } = await use(await newBusiness(), { body: '\ufeff{"uses":[{"id":"a"}]}', headers });
    expect(body.data).toEqual({ recorded: 1, duplicates: 0 });
  });
});
