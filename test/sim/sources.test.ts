// Sources stay exact at their bounds (docs/api.md, "Sources"): random lists, single uses, lowerings and imports, with more names than a day
// or a business can count. The model judges each answer and each row.
import { expect, test } from 'vitest';
import { NEW_BUSINESS } from '../routes.ts';
import { Random } from './random.ts';
import { Simulation } from './simulation.ts';
import type { RequestStep } from './steps.ts';

const USAGE = '/api/v1/business/usage/{business}';
const ACCESS = '/api/v1/business/{business}/access';
const DAY_MS = 86_400_000;
const step = (
  who: RequestStep['who'],
  method: string,
  path: string,
  body: unknown = null,
  headers = {},
): RequestStep => ({
  kind: 'request',
  who,
  method,
  path,
  body: body === null ? null : JSON.stringify(body),
  headers,
  pick: [0, 1, 0, 0, 1, 0],
});
const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `https://s${from + index}.example`);

/** Sends a step with the second key, which has a label. */
const byLabelled = (one: RequestStep): RequestStep => ({ ...one, who: 'key', pick: [0, 1, 0, 0, 1, 1] });

class Play {
  readonly simulation: Simulation;
  readonly random: Random;
  constructor(seed: number) {
    this.simulation = new Simulation({ seed, databases: 1 });
    this.random = new Random(seed);
  }
  async take(...steps: RequestStep[]) {
    for (const one of steps) {
      const difference = await this.simulation.take({ ...one, seed: this.random.next() });
      expect(difference, JSON.stringify(one).slice(0, 300)).toBeNull();
    }
  }
  async start() {
    // At noon, so that a use of a day does not become one of another.
    const { world } = this.simulation;
    world.now += DAY_MS * 1.5 - (world.now % DAY_MS);
    await this.take(
      step('operator', 'POST', '/api/v1/business', { ...NEW_BUSINESS, user_id: 1 }),
      step('operator', 'POST', '/api/v1/user/{user}/keys'),
    );
  }
  end() {
    expect(this.simulation.compareDatabases()).toBeNull();
    const [days] = Object.values(this.simulation.model.state.bySource);
    const [counts] = Object.values(this.simulation.model.state.counts);
    for (const [day, sources] of Object.entries(days ?? {})) {
      const uses = Object.values(sources);
      expect(Math.min(...uses, 0)).toBe(0);
      expect(uses.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(counts?.[day] ?? 0);
    }
    const perDay = Object.values(days ?? {}).map((sources) => Object.keys(sources).map(Number));
    const most = (isOf: (number: number) => boolean) => Math.max(...perDay.map((names) => names.filter(isOf).length));
    return { labels: most((number) => number > 0), sites: most((number) => number < 0) };
  }
}

test.each([1, 2, 3])('whatever is listed, lowered and imported, no source is wrong (seed %i)', async (seed) => {
  const play = new Play(seed);
  const { random } = play;
  await play.start();
  await play.take(
    step('key', 'POST', ACCESS, { sites: numbered(0, 60) }),
    step('operator', 'POST', '/api/v1/user/{user}/keys', { business_id: '{business}', label: 'key' }),
  );
  let last = 0;
  const at = (day: number) => `{at-${day * DAY_MS}}`;
  const label = () => `l${random.int(260)}`;
  const uses = (count: number, from: number, day: number) =>
    Array.from({ length: count }, (_, index) => ({
      id: `x${last++}`,
      label: random.int(20) === 0 ? undefined : `l${(from + index) % 260}`,
      at: at(day),
      quantity: 1 + random.int(9),
    }));
  for (let round = 0; round < 100; round++) {
    const day = random.int(3);
    const id = { 'Idempotency-Key': `x${random.int(3) === 0 ? random.int(last + 1) : last++}` };
    const kinds = [
      () =>
        step(random.pick(['key', 'operator']), 'POST', USAGE, {
          uses: uses(1 + random.int(200), random.int(260), day),
        }),
      () => step(random.pick(['key', 'operator']), 'POST', USAGE, { label: label(), quantity: 5, at: at(day) }, id),
      () => step('key', 'POST', USAGE, { label: label() }, random.pick([{}, id])),
      () => step('token', 'POST', USAGE, null, { Origin: numbered(random.int(60), 1)[0] }),
      () => step('key', 'POST', USAGE, null, { Origin: numbered(random.int(60), 1)[0], ...id }),
      () => {
        const ids = new Set(Array.from({ length: 40 }, () => `x${random.int(last + 1)}`));
        return step('operator', 'PATCH', USAGE, { uses: [...ids].map((id) => ({ id, quantity: random.int(4) })) });
      },
      () =>
        step('operator', 'PUT', '/api/v1/business/{business}/history', {
          days: [{ date: `{day-${1 + random.int(2)}}`, count: random.int(3) * 50 }],
          replace: true,
        }),
    ];
    // Imports are rare, because the uses of their days can no longer be lowered.
    const kind = random.int(40) === 0 ? 6 : random.int(6);
    const many = kind === 3 || kind === 4 ? 8 : 1;
    const isByLabelled = kind < 5 && kind !== 3 && random.int(3) === 0;
    for (let index = 0; index < many; index++) {
      const one = (kinds[kind] as () => RequestStep)();
      await play.take(isByLabelled ? byLabelled(one) : one);
    }
    await play.take(
      step('key', 'GET', `${USAGE}?by=source&from={day-3}`),
      step('key', 'GET', `${USAGE}?source=${encodeURIComponent(numbered(random.int(60), 1)[0] as string)}`),
    );
  }
  const [names] = Object.values(play.simulation.model.state.sources);
  expect(names?.filter(({ number }) => number > 0)).toHaveLength(200);
  expect(play.end()).toEqual({ labels: 80, sites: 40 });
});

test('labels of earlier uses come first, and a use that counted under no source lowers none', async () => {
  const play = new Play(4);
  await play.start();
  const list = (prefix: string, quantity: number, day: number) => ({
    uses: Array.from({ length: 150 }, (_, n) => ({
      id: `${prefix}${n + 1}`,
      label: `l${n + 1}`,
      quantity,
      at: `{at-${day * DAY_MS}}`,
    })),
  });
  await play.take(
    step('key', 'POST', USAGE, list('w', 1, 2)),
    step('key', 'POST', USAGE, { label: 'l150', quantity: 5, at: `{at-${DAY_MS}}` }, { 'Idempotency-Key': 'one' }),
    step('key', 'POST', USAGE, list('x', 10, 1)),
    step('key', 'GET', `${USAGE}?source=l150&from={day-1}`),
    step('operator', 'PATCH', USAGE, {
      uses: [
        { id: 'x150', quantity: 0 },
        { id: 'x100', quantity: 0 },
      ],
    }),
    step('key', 'GET', `${USAGE}?source=l150&from={day-1}`),
  );
  const [days] = Object.values(play.simulation.model.state.bySource);
  expect(Object.values(days ?? {}).map((day) => day[150])).toEqual([undefined, 5]);
  expect(play.end()).toEqual({ labels: 80, sites: 0 });
});

test('a business has 1,000 sites that are registered or have counted, and each registered site is a source', {
  tags: 'slow',
}, async () => {
  const play = new Play(5);
  await play.start();
  // 11 × 100 sites that never count make room for each other, and one of each hundred counts.
  for (let hundred = 0; hundred < 12; hundred++) {
    const sites = numbered(hundred * 100, 100);
    await play.take(
      step('key', 'POST', ACCESS, { sites }),
      step('token', 'POST', USAGE, null, { Origin: sites[7] }),
      step('key', 'GET', `${USAGE}?source=${encodeURIComponent(sites[99] as string)}`),
      step('key', 'DELETE', ACCESS),
    );
  }
  await play.take(step('key', 'GET', `${USAGE}?by=source`));
  // Until all have counted, on days with 40 each.
  for (let day = 0; day < 27; day++) {
    await play.take(step('key', 'POST', ACCESS, { sites: numbered(2000 + day * 40, 40) }));
    for (const Origin of numbered(2000 + day * 40, 40)) await play.take(step('token', 'POST', USAGE, null, { Origin }));
    await play.take(step('key', 'DELETE', ACCESS));
    play.simulation.world.now += DAY_MS;
  }
  const [names] = Object.values(play.simulation.model.state.sources);
  expect(names).toHaveLength(1000);
  await play.take(step('key', 'GET', `${USAGE}?by=source`));
  expect(play.end()).toEqual({ labels: 0, sites: 40 });
});
