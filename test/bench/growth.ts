// Compares each operation on a small and a large database.
import { CALLS, RANGE_DAYS, reportOf } from './calls.ts';
import { type Size, SMALL } from './data.ts';
import { countedOf, type Duel, duel, type Scene } from './duel.ts';
import type { Contender } from './stage.ts';

const ALL = { uses: 1_000_000, businesses: 10_000, sites: 500, keys: 100, days: 366 };
const GROWN: Record<string, Partial<Size>> = {
  '1,000,000 uses in the ledger instead of 10': { uses: ALL.uses },
  '10,000 businesses instead of 1': { businesses: ALL.businesses },
  '500 sites instead of 1': { sites: ALL.sites },
  '100 keys instead of 1': { keys: ALL.keys },
  '366 days with counts instead of 31': { days: ALL.days },
  'all of these': ALL,
};
const OPERATIONS = {
  report: CALLS.report,
  'report by a server': CALLS.reportByServer,
  record: CALLS.record,
  'record with an id': CALLS.recordOnce,
};

/** The name of a database and of its contender. */
const nameOf = (index: number) => `grown-${index}`;

export function growth(code: string): Scene {
  const grown = Object.values(GROWN).map((more, index) => [nameOf(index), { ...SMALL, ...more }]);
  const sizes = { small: SMALL, ...Object.fromEntries(grown) };
  return {
    contenders: Object.keys(sizes).flatMap((name) => {
      const service: Contender = { name, code: { text: code }, databases: [name] };
      return [service, countedOf(service)];
    }),
    sizes,
    duels: [
      ...Object.entries(OPERATIONS).flatMap(([operation, call]) =>
        Object.keys(GROWN).map((name, index) =>
          duel('growth', `${operation}: ${name}`, call, [nameOf(index), 'small']),
        ),
      ),
      // Only the cost of the report grows. It depends on the number of stored days in the report's range.
      ...[1, 366].map((days): Duel => {
        const name = `report: ${days} day${days === 1 ? '' : 's'} instead of ${RANGE_DAYS}`;
        const contender = nameOf(Object.keys(GROWN).indexOf('all of these'));
        const sides = { side: { contender, call: reportOf(days) }, against: { contender, call: CALLS.report } };
        return { table: 'growth', name, ...sides };
      }),
    ],
  };
}
