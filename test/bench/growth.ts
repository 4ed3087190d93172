// The same operations where little is stored and where much is: what does not depend on it costs the same.
import type { Bundle } from './bundle.ts';
import { CALLS, dayAgo, RANGE_DAYS, reportOf } from './calls.ts';
import { fill, type Size, SMALL } from './data.ts';
import { type Duel, type Effort, measure, type Outcome, type Progress, type Side } from './duel.ts';
import type { Call } from './load.ts';
import { type Contender, type Cost, costOf, open } from './stage.ts';

const GROWN: Record<string, { name: string; size: Partial<Size> }> = {
  uses: { name: '1,000,000 uses in the ledger instead of 10', size: { uses: 1_000_000 } },
  businesses: { name: '10,000 businesses instead of 1', size: { businesses: 10_000 } },
  sites: { name: '500 sites instead of 1', size: { sites: 500 } },
  keys: { name: '100 keys instead of 1', size: { keys: 100 } },
  days: { name: '366 days with counts instead of 31', size: { days: 366 } },
  all: { name: 'all of these', size: { uses: 1_000_000, businesses: 10_000, sites: 500, keys: 100, days: 366 } },
};
const OPERATIONS: Record<string, Call> = {
  report: CALLS.report,
  'report by a server': CALLS.reportByServer,
  record: CALLS.record,
  'record with an id': CALLS.recordOnce,
};
/** Of the report, where all of these are stored: the one thing that an answer grows with. */
const RANGES = [1, 366];

/** An operation at two sizes. */
export type Grown = Outcome & { small: Cost; large: Cost };
type Comparison = { name: string; small: [database: string, call: Call]; large: [database: string, call: Call] };

export async function grow({ code }: Bundle, how: Effort, progress: Progress): Promise<Grown[]> {
  const databases = ['small', ...Object.keys(GROWN)];
  const stage = await open(
    databases.flatMap((database): Contender[] => {
      const service = { name: database, code: { text: code }, databases: [database] };
      return [service, { ...service, name: `${database}-counted`, around: 'counted' }];
    }),
  );
  const comparisons: Comparison[] = [
    ...Object.entries(OPERATIONS).flatMap(([operation, call]) =>
      Object.entries(GROWN).map(([database, { name }]): Comparison => {
        return { name: `${operation}: ${name}`, small: ['small', call], large: [database, call] };
      }),
    ),
    ...RANGES.map((days): Comparison => {
      const name = `report: ${days} day${days === 1 ? '' : 's'} instead of ${RANGE_DAYS}`;
      return { name, small: ['all', CALLS.report], large: ['all', reportOf(days)] };
    }),
  ].filter(({ name }) => name.includes(how.only));
  try {
    for (const database of databases) {
      progress(`filling the database: ${GROWN[database]?.name ?? 'small'}`);
      await fill(await stage.database(database), { ...SMALL, ...GROWN[database]?.size }, dayAgo(0));
    }
    const side = ([database, call]: [string, Call]): Side => {
      return { contender: database, call, status: 200, span: how.span };
    };
    const duels = comparisons.map(({ name, small, large }): Duel => {
      return { name, side: side(large), against: side(small) };
    });
    const outcomes = await measure(stage, duels, how, progress);
    const cost = ([database, call]: [string, Call]) => costOf(stage.url(`${database}-counted`), call);
    const grown: Grown[] = [];
    for (const [index, { small, large }] of comparisons.entries()) {
      grown.push({ ...(outcomes[index] as Outcome), small: await cost(small), large: await cost(large) });
    }
    return grown;
  } finally {
    await stage.dispose();
  }
}
