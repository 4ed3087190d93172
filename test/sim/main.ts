// npm run sim -- --seed 7 --steps 100000 (or --seconds 60): plays worlds, each from the next seed. For a failure, prints a short list of
// steps as a test.
import { parseArgs } from 'node:util';
import { play, shrunk } from './play.ts';

const STEPS_PER_WORLD = 4000;
const SHRINK_MS = 60_000;

const { values } = parseArgs({
  options: { seed: { type: 'string' }, steps: { type: 'string' }, seconds: { type: 'string' } },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const most = Number(values.steps ?? (values.seconds === undefined ? 20_000 : Number.POSITIVE_INFINITY));
const end = Date.now() + 1000 * Number(values.seconds ?? Number.POSITIVE_INFINITY);
console.log(`Seed ${seed}`);

const began = performance.now();
let steps = 0;
for (let number = 0; steps < most && Date.now() < end; number++) {
  const played = await play(seed + number, Math.min(STEPS_PER_WORLD, most - steps));
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
