// npm run bench: compares the service with floors, which do the least possible work, in the same run on the same machine.
import { parseArgs } from 'node:util';
import { codeOf } from './bundle.ts';
import { measure } from './duel.ts';
import { honest } from './honest.ts';
import { model, printed } from './model.ts';
import { neighbours } from './neighbours.ts';
import { prices } from './prices.ts';
import { floors, growth } from './scenes.ts';

const HELP = `npm run bench -- [--quick] [--growth | --databases | --neighbours | --prices | --honest]
  --quick      uses one start of workerd and fewer rounds (about a minute)
  --growth     compares a large database with a small one instead
  --databases  models up to 32 databases instead
  --neighbours measures a use beside another owner’s costly calls instead
  --prices     measures what costly calls take and spend, and what a day can store, instead
  --honest     sends honest loads, which no limit may refuse, instead`;

const flag = { type: 'boolean', default: false } as const;
const { values: options } = parseArgs({
  options: { quick: flag, growth: flag, databases: flag, neighbours: flag, prices: flag, honest: flag, help: flag },
});

/** Overwrites one line on a terminal. Otherwise, prints one line per step. */
const progress = (text: string) => process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);

async function run(isQuick: boolean): Promise<string> {
  progress('building');
  const code = codeOf();
  if (options.databases) {
    const effort = isQuick ? { warmUpSeconds: 1, seconds: 2 } : { warmUpSeconds: 3, seconds: 6 };
    return printed(await model(code, [1, 2, 4, 8, 16, 32], [false, true], effort, progress));
  }
  if (options.neighbours) return neighbours(code, progress);
  if (options.honest) return honest(code, progress);
  if (options.prices) return prices(code, progress);
  const effort = isQuick ? { starts: 1, rounds: 3 } : { starts: 5, rounds: 8 };
  if (options.growth) return measure(growth(code), effort, progress);
  return measure(await floors(code), effort, progress);
}

console.log(options.help ? HELP : await run(options.quick));
