// Rotating a business's token: how long the old one is kept, what that costs, and wrong bodies. The simulator (test/sim) checks the rest.
import { expect, test } from 'vitest';
import { answerOf, invalid } from './answers.ts';
import { type Business, call, dumpAll, newBusiness } from './support.ts';

const formerTokens = async ({ id, key }: Business) =>
  (await call('GET', `/api/v1/business/${id}`, { as: key })).body.data.former_tokens;
const rotate = ({ id, key }: Business, body: unknown) =>
  call('POST', `/api/v1/business/${id}/token`, { as: key, body });

test.each([
  ['1h', '2026-03-15T13:00:00.000000Z'],
  ['24h', '2026-03-16T12:00:00.000000Z'],
  ['720h', '2026-04-14T12:00:00.000000Z'],
  ['1d', '2026-03-16T12:00:00.000000Z'],
  ['30d', '2026-04-14T12:00:00.000000Z'],
])('with keep_old %s, the old token expires at that time', async (keep_old, expires_at) => {
  const business = await newBusiness();
  expect((await rotate(business, { keep_old })).status).toBe(200);
  expect(await formerTokens(business)).toEqual([
    { last_four: business.token.slice(-4), expires_at, last_used_on: null },
  ]);
});

test('a former token shows the day of its last permitted call, which is written once a day, and reads at most four rows more', async () => {
  const business = await newBusiness({ sites: ['https://a.example'] });
  const visit = async (day: string, origin = 'https://a.example') => {
    const at = new Date(`${day}T13:00:00Z`);
    const { cost, later } = await call('POST', business.usage, { as: business.token, origin, at });
    return { read: cost.rows_read, written: later.rows_written };
  };
  await visit('2026-03-14');
  const { read, written } = await visit('2026-03-14'); // the current token
  expect(written).toBe(0);
  await rotate(business, { keep_old: '7d' });
  await visit('2026-03-14', 'https://evil.example');
  expect(await formerTokens(business)).toMatchObject([{ last_used_on: null }]);
  const marks: number[] = [];
  for (const day of ['2026-03-15', '2026-03-15', '2026-03-16']) {
    const cost = await visit(day);
    marks.push(cost.written);
    expect(cost.read).toBeLessThanOrEqual(read + 4);
  }
  expect(marks).toEqual([1, 0, 1]);
  expect(await formerTokens(business)).toMatchObject([{ last_used_on: '2026-03-16' }]);
});

test('a rotation with a wrong body gets 422 and does not change the token', async () => {
  const BODY = 'body must be empty, or a JSON object with keep_old only, such as {"keep_old":"24h"}';
  const KEEP = 'keep_old must be a whole number of hours or days, from 1h to 30d, such as 24h';
  const unknown = (name: string) => `${name} is not a member of this object, which accepts keep_old`;
  const durations = [
    '',
    '0h',
    '00h',
    '01h',
    '1',
    'h',
    '1m',
    '1H',
    '1.5h',
    '-1h',
    ' 1h',
    '1h ',
    '+1h',
    '721h',
    '31d',
    '999d',
  ];
  const business = await newBusiness();
  const before = await dumpAll();
  for (const [field, message, bodies] of [
    ['keep_old', KEEP, [...durations, 24, null, true, ['24h'], { h: 24 }].map((keep_old) => ({ keep_old }))],
    ['keep_Old', unknown('keep_Old'), [{ keep_Old: '24h' }]],
    ['keepold', unknown('keepold'), [{ keep_old: '24h', keepold: '24h' }]],
    ['__proto__', unknown('__proto__'), ['{"__proto__":"24h"}']],
    ['body', BODY, [[], [{ keep_old: '24h' }], 'null', 'true', '24', '"24h"', '"keep_old"']],
    [
      'body',
      'body must be valid JSON',
      ['24h', 'keep_old=24h', '{', '{"keep_old":"24h"', '{}{}', "{'keep_old':'24h'}"],
    ],
  ] as const)
    for (const body of bodies) {
      const answer = await rotate(business, body);
      expect(answerOf(answer), JSON.stringify(body)).toEqual(invalid(field, message));
      expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    }
  expect(await dumpAll()).toBe(before);
});
