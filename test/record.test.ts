// The bodies, ids and times of uses. The simulator (test/sim) checks how they count.
import { describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf, invalid } from './answers.ts';
import { type Business, type CallOptions, call, dumpAll, newBusiness, TODAY } from './support.ts';

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
});

describe('an Idempotency-Key', () => {
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
    for (const [index, [at, day = '']] of TIMES.entries()) {
      const before = (await counts(business))[day] ?? 0;
      await report(business, [{ id: `${index}`, at }]);
      expect([at, (await counts(business))[day]]).toEqual([at, before + 1]);
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
    );
  test('is refused as a whole, with an error for each use whose `at` is wrong', async () => {
    const business = await newBusiness();
    const uses = WRONG_TIMES.map(([at], index) => ({ id: `${index}`, at }));
    const { status, body } = await report(business, [{ id: 'good' }, ...uses]);
    const errors = WRONG_TIMES.map(([at, rule], index) => [at, [`uses.${index + 1}.at ${rule}`]]);
    expect(status).toBe(422);
    expect(WRONG_TIMES.map(([at], index) => [at, body.errors[`uses.${index + 1}.at`]])).toEqual(errors);
    expect(Object.keys(body.errors)).toHaveLength(errors.length);
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
    const isMeantAsOne = !body.startsWith('{"uses":') || field === 'body';
    for (const as of [business.key, ...(isMeantAsOne ? [business.token] : [])])
      for (const key of isMeantAsOne ? [{}, { 'Idempotency-Key': 'order-1' }] : [{}])
        expect(answerOf(await use(business, { as, body, headers: { ...key, 'Content-Type': type } }))).toEqual(
          invalid(field, message),
        );
    expect(await counts(business)).toEqual({});
  });

  test('can begin with a byte order mark', async () => {
    const business = await newBusiness();
    expect(
      (await use(business, { body: `\ufeff${good}`, headers: { 'Content-Type': 'text/plain' } })).body.data,
    ).toEqual({ recorded: 1, duplicates: 0 });
  });
});
