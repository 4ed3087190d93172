// npm run bench: compares the service with floors, which do the least possible work, in the same run on the same machine.
import { parseArgs } from 'node:util';
import { build } from './bundle.ts';
import { measure } from './duel.ts';
import { floors } from './floors.ts';
import { growth } from './growth.ts';
import { missedTargets, model, NUMBERS } from './model.ts';
import { printedModel, printedOutcomes, weightOf } from './print.ts';

const HELP = `npm run bench -- [--quick] [--growth | --databases]
  --quick      uses one start of workerd and fewer rounds (about a minute)
  --growth     compares a small and a large database instead
  --databases  models up to 32 databases instead; fails if they are too slow`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    databases: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** Overwrites one line on a terminal. Otherwise, prints one line per step. */
const progress = (text: string) => process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);

async function run(isQuick: boolean): Promise<void> {
  progress('building');
  const { code, ...weight } = build();
  if (options.databases) {
    const effort = isQuick
      ? { rounds: 1, warmUpSeconds: 1, seconds: 2, isSkewed: true }
      : { rounds: 3, warmUpSeconds: 3, seconds: 5, isSkewed: true };
    const rows = await model(code, NUMBERS, effort, progress);
    console.log(printedModel(rows));
    for (const failure of missedTargets(rows)) {
      console.error(failure);
      process.exitCode = 1;
    }
    return;
  }
  const scene = options.growth ? growth(code) : await floors(code);
  console.log(
    printedOutcomes(await measure(scene, isQuick ? { starts: 1, rounds: 3 } : { starts: 5, rounds: 8 }, progress)),
  );
  if (!options.growth) console.log(weightOf(weight));
}

if (options.help) console.log(HELP);
else await run(options.quick);
