// The recorder in random schedules of a modelled browser and service. RECORDER_SCHEDULES is the number
// of schedules of each kind, by default 150, or 3,000 in .ci/run.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { KINDS, play, scheduleOf } from './recorder-schedules.ts';
import { codeOf, DAY, dayOf, HOUR, MINUTE, World } from './recorder-world.ts';

const code = codeOf(process.env.RECORDER);
const SCHEDULES = Number(process.env.RECORDER_SCHEDULES ?? (process.env.CI === undefined ? 150 : 3000));

test.each(KINDS)('counts each use at most once, and on its day: %s', async (kind) => {
  let uses = 0;
  const property = fc.asyncProperty(scheduleOf(kind), fc.integer({ min: 1, max: 2 ** 31 - 2 }), async (steps, seed) => {
    const world = await play(code, kind, steps, seed);
    uses += world.counted.length;
  });
  await fc.assert(property, { numRuns: SCHEDULES });
  expect(uses).toBeGreaterThan(SCHEDULES);
});

const open = async () => {
  const world = new World(code);
  return { world, tab: await world.open() };
};

test.each([0, -3 * HOUR])(
  'a use that had to wait beyond midnight counts on its day: clock %d ms ahead',
  async (ahead) => {
    const { world, tab } = await open();
    world.ahead = ahead;
    await world.pass(12 * HOUR - 40_000);
    world.fates = ['503'];
    const first = await world.use(tab);
    await world.pass(10_000);
    const others = [await world.use(tab), await world.use(tab)];
    await world.pass(10 * MINUTE);
    expect([first, ...others].map(({ settled }) => settled?.value)).toMatchObject(
      Array(3).fill({ date: '2026-03-10' }),
    );
    expect(dayOf(world.now)).toBe('2026-03-11');
  },
);

test.each([[17], [17n], ['17'], [-0.5]])('the id %s counts once, in whatever type it is repeated', async (id) => {
  const { world, tab } = await open();
  for (const each of [id, id, `${id}`]) await Promise.all([tab.record(each), world.pass(HOUR)]);
  expect(world.counted).toHaveLength(1);
});

test.each([
  [null],
  [true],
  [{}],
  [{ id: 1 }],
  [Symbol('a')],
  [Number.NaN],
  [Number.POSITIVE_INFINITY],
  [2 ** 53],
  [[]],
])('the id %s throws a TypeError, and is not sent', async (id) => {
  const { tab } = await open();
  expect(() => tab.record(id)).toThrow(TypeError);
  expect(tab.requests).toBe(0);
});

test.each(['', ' ', 'a b', 'é', 'x'.repeat(256), 'a\nb'])('the id %j is rejected, and is not sent', async (id) => {
  const { tab, world } = await open();
  await expect(tab.record(id)).rejects.toMatchObject({ status: 0, code: 'invalid' });
  expect([tab.requests, world.keys]).toEqual([0, []]);
});

test('an event, also of React, is no id', async () => {
  const { world, tab } = await open();
  for (const event of [new Event('click'), new Event('click'), { currentTarget: null, nativeEvent: {} }, undefined])
    await Promise.all([tab.record(event), world.pass(MINUTE)]);
  expect(world.counted).toHaveLength(4);
});

test('a page with the old token deletes nothing, and asks once', async () => {
  const { world, tab } = await open();
  await world.online(false);
  for (let use = 0; use < 100; use++) await world.use(tab);
  world.close(tab);
  world.token = 'token-1';
  await world.online(true);
  const old = await world.open('token-0');
  await world.pass(HOUR);
  expect([old.requests, world.keys.length]).toEqual([1, 100]);
  const { settled } = await world.use(old);
  expect(settled).toBeUndefined();
  await world.pass(HOUR);
  const { id, settled: answer } = world.uses[100] ?? {};
  expect(answer).toMatchObject({ error: { status: 401, code: 'unauthenticated', message: 'Unauthenticated.' } });
  expect([old.requests, world.keys.length, world.keys.filter((key) => key.endsWith(` ${id}`)).length]).toEqual([
    2, 100, 1,
  ]);
  await world.open();
  await world.pass(HOUR);
  expect([world.counted.length, world.keys]).toEqual([100, []]);
});

test('in a refused page, the oldest of 100 stored uses makes room for a new one', async () => {
  const { world } = await open();
  const prefix = `usage-recorder ${world.url} `;
  for (let use = 0; use < 100; use++)
    world.put(`${prefix}stored-${use}`, `${world.now - (use === 57 ? HOUR : MINUTE)}`);
  const old = await world.open('token-old');
  await world.pass(MINUTE);
  await world.use(old);
  expect(world.keys).toHaveLength(100);
  expect(world.keys).toContain(`${prefix}use-0`);
  expect(world.keys).not.toContain(`${prefix}stored-57`);
});

test.each([
  ['busy', 'works'],
  ['absent', 'works'],
] as const)('a use stays stored while storage is %s', async (first, then) => {
  const { world, tab } = await open();
  await world.online(false);
  await world.use(tab);
  world.close(tab);
  await world.online(true);
  world.storageState = first;
  await world.open();
  await world.pass(MINUTE);
  expect(world.keys).toHaveLength(1);
  world.storageState = then;
  await world.pass(10 * MINUTE);
  expect([world.counted.length, world.keys]).toEqual([1, []]);
});

test.each(['page of a proxy', 'portal', 'other JSON', 'server error', '503', '429', 'never answered'])(
  'an answer is temporary: %s',
  async (fate) => {
    const { world, tab } = await open();
    world.fates = Array(5).fill(fate);
    const use = await world.use(tab);
    await world.pass(HOUR);
    expect(use.settled?.value).toMatchObject({ date: '2026-03-10' });
    expect(world.counted).toHaveLength(1);
  },
);

test('a use that is sent just before midnight counts on its day, although its request arrives later', async () => {
  const { world, tab } = await open();
  await world.pass(12 * HOUR - 15);
  const use = await world.use(tab);
  await world.pass(MINUTE);
  expect(dayOf(world.counted[0]?.at ?? 0)).toBe('2026-03-11');
  expect(use.settled?.value).toMatchObject({ date: '2026-03-10' });
});

test('a use whose last attempt arrives after 24 hours has expired, and does not count on the next day', async () => {
  const { world, tab } = await open();
  await world.online(false);
  const use = await world.use(tab);
  await world.pass(DAY - 10);
  await world.online(true);
  await world.pass(MINUTE);
  expect(use.settled).toMatchObject({ error: { status: 0, code: 'expired' } });
  expect(tab.answers).toMatchObject({ misdated: 1, counted: 0 });
  expect([world.counted, world.keys]).toEqual([[], []]);
});

test('a clock that was never set, so that it shows the first hours of 1970, loses no use', async () => {
  const { world, tab } = await open();
  world.ahead = 5 * HOUR - world.now;
  const use = await world.use(tab);
  await world.pass(MINUTE);
  expect(use.settled?.value).toMatchObject({ date: '2026-03-10' });
});

test('a use that could not be stored at first is stored when an attempt fails', async () => {
  const { world, tab } = await open();
  world.storageState = 'full';
  await world.online(false);
  await world.use(tab);
  expect(world.keys).toEqual([]);
  world.storageState = 'works';
  await world.pass(HOUR);
  world.close(tab);
  await world.online(true);
  await world.open();
  await world.pass(MINUTE);
  expect([world.counted.length, world.keys]).toEqual([1, []]);
});

test('a page whose storage is blocked for hours repeats a request as soon as any other page', async () => {
  const { world, tab } = await open();
  world.storageState = 'absent';
  tab.emit('online');
  await world.pass(7 * HOUR);
  world.fates = ['request lost'];
  await world.use(tab);
  await world.pass(1100 + 3100);
  expect(world.counted).toHaveLength(1);
});

test('a counted use that cannot be removed is not sent each time the page is shown', async () => {
  const { world, tab } = await open();
  world.storageState = 'cannot remove';
  await world.use(tab);
  await world.pass(MINUTE);
  for (let each = 0; each < 5; each++) {
    tab.emit('pageshow');
    await world.pass(MINUTE);
  }
  expect([world.keys.length, tab.requests]).toEqual([1, 1]);
});

test.each([-6 * DAY, -2 * DAY, -HOUR, HOUR, 2 * DAY])(
  'a use that was recorded offline with a clock that is %d ms ahead counts once it is corrected',
  async (ahead) => {
    const { world, tab } = await open();
    world.ahead = ahead;
    await world.online(false);
    const use = await world.use(tab);
    await world.pass(MINUTE);
    world.ahead = 0;
    await world.online(true);
    await world.pass(MINUTE);
    expect(use.settled).toMatchObject({ value: { count: 1 } });
    expect(world.counted).toHaveLength(1);
  },
);

test('a clock that stood still for five days does not count a use twice', async () => {
  const { world, tab } = await open();
  world.fates = ['answer lost'];
  await world.use(tab);
  world.off(5 * DAY, true);
  await world.open();
  await world.pass(HOUR);
  expect([world.counted.length, world.keys]).toEqual([1, []]);
});

test('a device that slept for 30 hours gives a use up, because its day is over', async () => {
  const { world, tab } = await open();
  await world.online(false);
  const use = await world.use(tab);
  await world.sleep(30 * HOUR);
  await world.online(true);
  await world.pass(HOUR);
  expect(use.settled).toMatchObject({ error: { status: 0, code: 'expired' } });
  expect(world.counted).toEqual([]);
});

test('a device that slept for three days while it showed the page does not count a use twice', async () => {
  const { world, tab } = await open();
  world.fates = ['answer lost'];
  const use = await world.use(tab);
  await world.pass(3000);
  world.now += 3 * DAY;
  await world.pass(HOUR);
  expect(use.settled).toMatchObject({ error: { status: 0, code: 'expired' } });
  expect(world.counted).toHaveLength(1);
});

test('a use that was stored more than 24 hours ago is deleted, and not sent', async () => {
  const { world, tab } = await open();
  await world.online(false);
  await world.use(tab);
  world.off(25 * HOUR, false);
  await world.online(true);
  const next = await world.open();
  await world.pass(HOUR);
  expect([next.requests, world.keys]).toEqual([0, []]);
});

test('twenty recorders share one queue: ten uses offline for an hour are not many requests', async () => {
  const { world } = await open();
  const tab = await world.open(world.token, 20);
  await world.online(false);
  for (let use = 0; use < 10; use++) await world.use(tab);
  await world.pass(HOUR);
  expect(tab.requests).toBeLessThan(10 + 35);
  await world.online(true);
  await world.pass(MINUTE);
  expect(world.counted).toHaveLength(10);
});

test('fifty recorders send a stored use once, and once more after a 503', async () => {
  const { world, tab: first } = await open();
  await world.online(false);
  await world.use(first);
  world.close(first);
  await world.online(true);
  world.fates = ['503'];
  const tab = await world.open(world.token, 50);
  await world.pass(10 * MINUTE);
  expect([tab.requests, world.counted.length]).toEqual([2, 1]);
});

test('browsers do not return at the same time after Retry-After', async () => {
  const times: number[] = [];
  for (const seed of [1, 2 ** 20, 2 ** 30]) {
    const world = new World(code, seed);
    const tab = await world.open();
    world.fates = ['503'];
    await world.use(tab);
    await world.pass(10 * MINUTE);
    times.push((world.counted[0]?.at ?? 0) - (world.uses[0]?.happened ?? 0));
  }
  expect(Math.min(...times)).toBeGreaterThan(60_000);
  expect(new Set(times.map((ms) => Math.round(ms / 1000))).size).toBe(3);
});
