// Rotating a business's token: how long the old one is kept, what that costs, which pages use it, stopping it, and wrong bodies. The simulator (test/sim) checks the rest.
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { formerTokens as stored } from '../src/db/schema.ts';
import { answerOf, granted, invalid } from './answers.ts';
import { addFormerToken, type Business, call, dumpAll, newBusiness } from './support.ts';

const formerTokens = async ({ id, key }: Business) =>
  (await call('GET', `/api/v1/business/${id}`, { as: key })).body.data.former_tokens;
const UNUSED = { last_used_on: null, used_from: [] };
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
    { ...{ id: expect.any(Number), last_four: business.token.slice(-4), expires_at }, ...UNUSED },
  ]);
});

test('a former token shows the day and the pages of its permitted calls, which are written once a day for each page, and reads at most four rows more', async () => {
  const B = 'https://b.example';
  const business = await newBusiness({ sites: ['https://a.example', B] });
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
  expect(await formerTokens(business)).toMatchObject([UNUSED]);
  const marks: number[] = [];
  for (const [day, origin] of [
    ...[['2026-03-15'], ['2026-03-15'], ['2026-03-16'], ['2026-03-16', B], ['2026-03-16', B], ['2026-03-16']],
  ] as [string, string?][]) {
    const cost = await visit(day, origin);
    marks.push(cost.written);
    expect(cost.read).toBeLessThanOrEqual(read + 4);
  }
  expect(marks).toEqual([1, 0, 1, 1, 0, 0]);
  expect(await formerTokens(business)).toMatchObject([
    {
      last_used_on: '2026-03-16',
      used_from: [
        { origin: 'https://a.example', last_used_on: '2026-03-16' },
        { origin: B, last_used_on: '2026-03-16' },
      ],
    },
  ]);
});

test('a former token shows its last ten pages, the latest first, and none that cannot be registered', async () => {
  const business = await newBusiness();
  await rotate(business, { keep_old: '7d' });
  const shop = (number: number) => `https://s${number}.example`;
  const visits = async (day: string, origins: (string | undefined)[]) => {
    const at = new Date(`${day}T13:00:00Z`);
    for (const origin of origins) await call('GET', business.usage, { as: business.token, origin, at });
    const [{ last_used_on, used_from }] = await formerTokens(business);
    expect(last_used_on).toBe(day);
    return used_from.map((page: Record<string, string>) => `${page.origin} ${page.last_used_on}`);
  };
  const page = (number: number, day: string) => `${shop(number)} ${day}`;
  expect(await visits('2026-03-15', ['null', undefined])).toEqual([]);
  expect(await visits('2026-03-16', [shop(1), shop(3)])).toEqual([page(1, '2026-03-16'), page(3, '2026-03-16')]);
  expect(await visits('2026-03-17', [shop(2), shop(3)])).toEqual([
    ...[page(2, '2026-03-17'), page(3, '2026-03-17'), page(1, '2026-03-16')],
  ]);
  const ten = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
  expect(await visits('2026-03-18', ten.map(shop))).toEqual(ten.map((number) => page(number, '2026-03-18')));
  const before = await business.db.select().from(stored).where(eq(stored.business_id, business.id));
  await visits('2026-03-18', [shop(20), shop(1)]); // no more are written on that day
  expect(await business.db.select().from(stored).where(eq(stored.business_id, business.id))).toEqual(before);
  expect((await visits('2026-03-19', [shop(1)]))[0]).toBe(page(1, '2026-03-19'));
});

test('one former token is stopped at once, and the others go on', async () => {
  const [business, other] = [await newBusiness(), await newBusiness()];
  const path = `/api/v1/business/${business.id}/token/former`;
  const tokens = await Promise.all([1, 2, 3].map(() => addFormerToken(business)));
  const expired = await addFormerToken(business, '2026-03-15T12:00:00.000000Z');
  const foreign = await addFormerToken(other);
  const idOf = async (token: string) => {
    const [row] = await business.db.select().from(stored).where(eq(stored.token, token));
    return row?.id;
  };
  const before = await formerTokens(business);
  const stopped = before.find(({ last_four }: { last_four: string }) => tokens[1]?.endsWith(last_four));
  const others = before.filter(({ id }: { id: number }) => id !== stopped.id);
  const answer = await call('DELETE', `${path}/${stopped.id}`, { as: business.key });
  expect(answerOf(answer)).toMatchObject(granted({ token: business.token, former_tokens: others }));
  expect(await formerTokens(business)).toEqual(others);
  const statusOf = async (as: string | undefined) => (await call('GET', business.usage, { as })).status;
  expect(await Promise.all([business.token, ...tokens].map(statusOf))).toEqual([200, 200, 401, 200]);
  const { body } = await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key });
  const { last_four, expires_at } = stopped;
  expect(body.data.changes).toMatchObject([
    { action: 'stop_former_tokens', before: { tokens: [{ last_four, expires_at }] }, after: null },
  ]);
  const unchanged = await dumpAll();
  const unknown = { status: 404, body: { status: false, message: 'Former id is not valid' } };
  for (const id of [stopped.id, await idOf(expired), await idOf(foreign), 999_999_999, 0, 'x', ' 1'])
    expect(answerOf(await call('DELETE', `${path}/${id}`, { as: business.key })), `${id}`).toEqual(unknown);
  expect(await dumpAll()).toBe(unchanged);
});

test('an id of a former token is never given again', async () => {
  const business = await newBusiness();
  const ids: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    await rotate(business, { keep_old: '7d' });
    const [{ id }] = await formerTokens(business);
    ids.push(id);
    await call('DELETE', `/api/v1/business/${business.id}/token/former/${id}`, { as: business.key });
  }
  expect(new Set(ids).size).toBe(3);
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
