// npm run bench: the service beside floors that do as little as can be done, in one run, on one machine.
import { parseArgs } from 'node:util';
import { compareWith } from './against.ts';
import { build, codeOf } from './bundle.ts';
import { slower, threeBesideOne } from './databases.ts';
import type { Effort } from './duel.ts';
import { compare } from './floors.ts';
import { grow } from './growth.ts';
import { type ModelEffort, missing, model, NUMBERS } from './model.ts';
import { bundles, databases, floors, growth } from './print.ts';

const HELP = `npm run bench -- [--quick] [--growth | --databases | --against DIR_OR_COMMIT] [--json] [--only TEXT]
  --quick                  one start of workerd and fewer rounds: about a minute
  --growth                 instead: the same operations where little is stored and where much is
  --databases              instead: three databases beside one, and a model of up to 32; fails if several are too slow
  --against DIR_OR_COMMIT  instead: this service beside that of another checkout or commit with the same tables
  --json                   one JSON object on stdout instead of tables
  --only TEXT              only the rows whose name contains TEXT`;

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
const effort: Effort = {
  only: options.only,
  starts: options.quick ? 1 : 5,
  rounds: options.quick ? 3 : 8,
  span: { seconds: 0.25 },
};
const modelEffort: ModelEffort = {
  only: options.only,
  rounds: options.quick ? 1 : 3,
  warmUpSeconds: options.quick ? 1 : 3,
  seconds: options.quick ? 2 : 5,
};

/** A line that is written over, or where nobody watches, one for each step. */
const progress = (text: string) => process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);

if (options.help) {
  console.log(HELP);
} else {
  progress('building');
  const bundle = build();
  const { code: _, ...weight } = bundle;
  const about = { date: new Date().toISOString(), bundle: weight };
  if (options.growth) {
    const rows = await grow(bundle, effort, progress);
    progress('done');
    console.log(options.json ? JSON.stringify({ ...about, growth: rows }, null, 2) : growth(rows));
  } else if (options.databases) {
    const twice = { ...effort, rounds: effort.rounds * 2 }; // the ratio is close to 1
    const rows = await threeBesideOne(bundle, twice, progress);
    const modelled = await model(bundle.code, NUMBERS, modelEffort, progress);
    progress('done');
    console.log(options.json ? JSON.stringify({ ...about, rows, modelled }, null, 2) : databases(rows, modelled));
    for (const failure of [...slower(rows), ...missing(modelled)]) {
      console.error(failure);
      process.exitCode = 1;
    }
  } else if (options.against !== undefined) {
    const { rows, own } = await compareWith(codeOf(options.against), bundle.code, effort, progress);
    progress('done');
    console.log(options.json ? JSON.stringify({ ...about, rows, own }, null, 2) : bundles(rows, own));
  } else {
    const { rows, own, usual } = await compare(bundle, effort, progress);
    progress('done');
    console.log(
      options.json ? JSON.stringify({ ...about, rows, own, usual }, null, 2) : floors(rows, own, usual, bundle),
    );
  }
}
