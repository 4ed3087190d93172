// npm run bench: compares the service with floors, which do the least possible work, in the same run on the same machine.
import { parseArgs } from 'node:util';
import { against } from './against.ts';
import { build, codeOf } from './bundle.ts';
import { slower, threeBesideOne } from './databases.ts';
import { measure } from './duel.ts';
import { floors } from './floors.ts';
import { growth } from './growth.ts';
import { missedTargets, model, NUMBERS } from './model.ts';
import { printed } from './print.ts';

const HELP = `npm run bench -- [--quick] [--growth | --databases | --against DIR_OR_COMMIT] [--json] [--only TEXT]
  --quick                  uses one start of workerd and fewer rounds (about a minute)
  --growth                 compares a small and a large database instead
  --databases              compares three databases with one instead, and models up to 32; fails if they are too slow
  --against DIR_OR_COMMIT  compares another checkout or commit with the same tables instead
  --json                   prints one JSON object instead of tables
  --only TEXT              runs only the rows whose name contains TEXT`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    databases: { type: 'boolean', default: false },
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});
const { only, quick } = options;

/** Overwrites one line on a terminal. Otherwise, prints one line per step. */
const progress = (text: string) => process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);

async function run(): Promise<void> {
  progress('building');
  const bundle = build();
  const { code, ...weight } = bundle;
  const rounds = (quick ? 3 : 8) * (options.databases ? 2 : 1); // with --databases, the ratios are close to 1 and need more rounds
  let scene = options.growth ? growth(code) : options.databases ? threeBesideOne(code) : null;
  if (options.against !== undefined) scene ??= against(codeOf(options.against), code);
  const outcomes = await measure(scene ?? (await floors(code)), { only, starts: quick ? 1 : 5, rounds }, progress);
  const modelEffort = quick ? { rounds: 1, warmUpSeconds: 1, seconds: 2 } : { rounds: 3, warmUpSeconds: 3, seconds: 5 };
  const modelled = options.databases ? await model(code, NUMBERS, { only, ...modelEffort }, progress) : [];
  progress('done');
  const found = { date: new Date().toISOString(), bundle: weight, outcomes, modelled };
  console.log(options.json ? JSON.stringify(found, null, 2) : printed(outcomes, modelled, bundle));
  for (const failure of options.databases ? [...slower(outcomes), ...missedTargets(modelled)] : []) {
    console.error(failure);
    process.exitCode = 1;
  }
}

if (options.help) console.log(HELP);
else await run();
