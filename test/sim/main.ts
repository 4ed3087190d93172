// npm run sim -- --seed 7 --steps 100000 (or --seconds 60): plays worlds, each from the next seed. --workers 2 plays in two processes.
// --days 450 --businesses 2 plays one world of that many days, and judges at each midnight what is kept. For a failure, prints a short list
// of steps as a test.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { play, shrunk } from './play.ts';

const STEPS_PER_WORLD = 4000;
const SHRINK_MS = 60_000;
/** Distance between the first seeds of two workers. */
const SEEDS_PER_WORKER = 1_000_000;

const number = { type: 'string' } as const;
const { values } = parseArgs({
  options: { seed: number, steps: number, seconds: number, days: number, businesses: number, workers: number },
});
const { workers = '1', businesses = '3', ...given } = values;
const seed = Number(given.seed ?? Date.now() % 2 ** 31);
if (Number(workers) > 1) {
  const rest = Object.entries({ ...given, businesses }).flatMap(([name, value]) => [`--${name}`, value]);
  const played = Array.from({ length: Number(workers) }, (_, worker) =>
    once(fork(import.meta.filename, [...rest, '--seed', `${seed + worker * SEEDS_PER_WORKER}`]), 'exit'),
  );
  process.exit((await Promise.all(played)).some(([code]) => code !== 0) ? 1 : 0);
}

const days = Number(given.days ?? Number.POSITIVE_INFINITY);
const isOneWorld = given.days !== undefined;
const isLimited = isOneWorld || given.seconds !== undefined;
const most = Number(given.steps ?? (isLimited ? Number.POSITIVE_INFINITY : 20_000));
const end = Date.now() + 1000 * Number(given.seconds ?? Number.POSITIVE_INFINITY);
console.log(`Seed ${seed}`);

const began = performance.now();
let steps = 0;
for (let world = 0; steps < most && Date.now() < end && !(isOneWorld && world > 0); world++) {
  const size = {
    steps: Math.min(isOneWorld ? most : STEPS_PER_WORLD, most - steps),
    businesses: Number(businesses),
    days,
  };
  const played = await play(seed + world, size);
  const { setting, taken, failure, hash } = played;
  steps += taken.length;
  if (failure === null) continue;
  console.log(`\nSeed ${setting.seed} fails at step ${taken.length} (trace ${hash.slice(0, 8)}):\n${failure}\n`);
  const short = await shrunk(played, SHRINK_MS);
  console.log(`A test for test/sim/found.test.ts:\n${testOf(setting, short.steps)}\n\n${short.failure}`);
  process.exit(1);
}
const seconds = (performance.now() - began) / 1000;
console.log(`${steps} steps in ${seconds.toFixed(1)} s, ${Math.round((steps / seconds) * 60)} a minute`);

function testOf(setting: object, list: object[]): string {
  const lines = list.map((step) => `    ${JSON.stringify(step)},`).join('\n');
  return `test('…', async () => {\n  expect(await replay(${JSON.stringify(setting)}, [\n${lines}\n  ])).toBeNull();\n});`;
}
