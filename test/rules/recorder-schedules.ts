// Random schedules of what can happen to uses of pages, and what must hold after each (docs/embedding.md, "Recording from a page").
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { DAY, dayOf, FATES, HOUR, MINUTE, STORAGES, type StorageState, type Tab, World } from './recorder-world.ts';

/** Clocks are right, and devices sleep; or clocks are wrong by less than a day; or by days. */
export type Kind = 'right clock' | 'wrong clock' | 'very wrong clock';
export const KINDS: Kind[] = ['right clock', 'wrong clock', 'very wrong clock'];

type Step = { what: string; number: number; amount: number };
const COMMON = [
  'record',
  'record',
  'record',
  'pass',
  'pass',
  'midnight',
  'open',
  'close',
  'crash',
  'reload',
  'network',
  'network',
];
const MORE = ['storage', 'clear', 'token', 'old page', 'offline', 'online', 'again', 'burst'];
const OF_KIND: Record<Kind, string[]> = {
  'right clock': ['sleep', 'off', 'hide', 'show'],
  'wrong clock': ['clock', 'clock', 'off'],
  'very wrong clock': ['clock', 'clock', 'stop', 'stop'],
};
const PASSES = [100, 900, 5000, 40_000, 10 * MINUTE, HOUR, 7 * HOUR, 16 * HOUR];

export const scheduleOf = (kind: Kind): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record({
      what: fc.constantFrom(...COMMON, ...MORE, ...OF_KIND[kind]),
      number: fc.nat(1000),
      amount: fc.nat(1000),
    }),
    { minLength: 4, maxLength: 30 },
  );

async function take(world: World, { what, number, amount }: Step, kind: Kind): Promise<void> {
  const open = world.tabs.filter(({ isOpen }) => isOpen);
  const tab = open[number % Math.max(1, open.length)] as Tab | undefined;
  const ms = PASSES[amount % PASSES.length] ?? 0;
  if (what === 'open') await world.open(world.token, 1 + (number % 3));
  else if (what === 'old page') await world.open('token-old');
  else if (what === 'token') world.token = `token-${number}`;
  else if (what === 'pass') await world.pass(ms);
  else if (what === 'midnight') await world.pass(DAY - (world.now % DAY) - 4 * number);
  else if (what === 'network')
    for (let each = 0; each <= number % 4; each++)
      world.fates.push(FATES[(amount + each * 7) % FATES.length] ?? 'pass');
  else if (what === 'storage') world.storageState = STORAGES[number % STORAGES.length] as StorageState;
  else if (what === 'clear') world.clear();
  else if (what === 'offline' || what === 'online') await world.online(what === 'online');
  else if (what === 'off') world.off(ms, false);
  else if (what === 'stop') world.off((amount % 6) * DAY + number * MINUTE, true);
  else if (what === 'sleep') await world.sleep(ms * 5);
  else if (what === 'clock')
    world.ahead = Math.round(((number - 500) / 500) * (kind === 'wrong clock' ? 22 * HOUR : 6 * DAY));
  else if (tab === undefined) await world.open();
  else if (what === 'record') await world.use(tab);
  else if (what === 'burst') for (let each = 0; each < 5; each++) await world.use(tab);
  else if (what === 'again' && world.uses.length > 0 && kind === 'right clock')
    void tab.record(world.uses[number % world.uses.length]?.id).catch(() => {});
  else if (what === 'hide' || what === 'show') await world.show(tab, what === 'show');
  else if (what === 'close' || what === 'crash') world.close(tab);
  else if (what === 'reload') {
    world.close(tab);
    await world.open(tab.token);
  }
}

/** A request is repeated after 0.5 s at least, then after twice as long, up to 150 s. */
const MIN_WAITS = 9;
const MIN_LAST_WAIT = 150_000;

/**
 * No more requests than uses plus retries allow. In its whole life of `t` ms, a page sends one for each use that it records or finds, one more
 * for each whose time is not accepted, and repeats those that fail one at a time: when it is opened or woken, when the service asked to wait,
 * and otherwise 9 + t / 150 s times, as often as an answer says that the outage is over.
 */
function expectFewRequests(tab: Tab, now: number): void {
  const { calls, found, wakes, asks, answers } = tab;
  const { counted, misdated, refused } = answers;
  const uses = calls + found.size;
  const answered = counted + misdated + refused;
  const said = JSON.stringify({ ...tab, found: found.size });
  expect(answered, `once a use: ${said}`).toBeLessThanOrEqual(uses + misdated + Math.min(refused, counted));
  // A refused page asks for itself once, not for each stored use, and again when it was accepted meanwhile.
  expect(refused, `refused: ${said}`).toBeLessThanOrEqual(calls + 1 + counted);
  const waits = MIN_WAITS * (answered + 1) + ((tab.closed ?? now) - tab.opened) / MIN_LAST_WAIT;
  expect(tab.requests - answered, `retries: ${said}`).toBeLessThanOrEqual(uses + wakes + asks + waits);
}

/** Plays a schedule, then a time without faults, and checks what is promised. */
export async function play(code: string, kind: Kind, steps: Step[], seed: number): Promise<World> {
  const world = new World(code, seed);
  await world.open();
  const again = new Set<string>();
  for (const step of steps) {
    if (step.what === 'again' && world.uses.length > 0)
      again.add(world.uses[step.number % world.uses.length]?.id ?? '');
    await take(world, step, kind);
  }
  // A clock that is more than a day ahead and set back is what embedding.md excludes.
  const isExcluded = (ahead: number) => kind === 'very wrong clock' && ahead > DAY;
  world.storageState = 'works';
  world.fates = [];
  await world.online(true);
  const opened = world.now;
  const last = await world.open();
  await world.pass(2 * HOUR + 15 * MINUTE);

  for (const { id, happened, ahead, tab, isDurable, settled } of world.uses) {
    const counts = world.countsOf(id);
    if (!isExcluded(ahead) && !again.has(id)) expect(counts.length, `${id} is counted at most once`).toBeLessThan(2);
    const [count] = counts;
    const said = JSON.stringify({ id, settled, happened: new Date(happened).toISOString(), counts });
    if (kind === 'right clock') {
      const isDurably = isDurable && opened - happened < 23 * HOUR;
      if (isDurably && !again.has(id)) expect(counts.length, `is counted: ${said}`).toBe(1);
      if (count !== undefined && !again.has(id)) expect(count.day, `its day: ${said}`).toBe(dayOf(happened));
    }
    const isAlive = tab.isOpen && tab.token === world.token && opened - happened < 20 * HOUR;
    if (kind !== 'very wrong clock' && isAlive && tab.isVisible && !again.has(id)) {
      expect(settled, `is settled: ${said}`).toBeDefined();
      const wasRefused = (settled?.error as { status?: number } | undefined)?.status === 401;
      if (!wasRefused && kind === 'wrong clock') expect(counts.length, `is counted: ${said}`).toBe(1);
      if (settled?.value) expect(settled.value).toMatchObject({ date: count?.day });
    }
  }
  for (const tab of world.tabs) expectFewRequests(tab, world.ticks);
  // Without faults, a page sends each use that it finds at most once.
  expect(last.requests).toBeLessThanOrEqual(world.uses.length);
  // Without a fault and anything to send, nothing is sent.
  const before = last.requests;
  await world.pass(HOUR);
  expect(last.requests).toBe(before);
  return world;
}
