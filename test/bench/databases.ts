// Compares three databases with a single one. Both have the same owners, receive the same load, and run in the same workerd.
import { IDS_PER_DATABASE } from '../../src/core/database.ts';
import { RANGE_DAYS, recordOf, reportOf } from './calls.ts';
import { BUSINESS, prefixOf, type Size, SMALL } from './data.ts';
import type { Duel, Outcome, Scene } from './duel.ts';
import type { Call } from './load.ts';

const THREE = ['first', 'second', 'third'];
const SIZE: Size = { ...SMALL, businesses: 1000 };
const OWNERS = 24;

/** The requests of each owner's page. Owners are spread over the databases round-robin. */
const callsOf = (call: (headers: Record<string, string>, id: number) => Call, databases: number) =>
  Array.from({ length: OWNERS }, (_, owner) => {
    const [database, index] = [owner % databases, 1 + Math.floor(owner / databases)];
    const token = `${prefixOf(database)}${`${index}`.padStart(33, '0')}`;
    return call({ Authorization: `Bearer ${token}`, Origin: BUSINESS.origin }, database * IDS_PER_DATABASE + index);
  });

const duel = (name: string, call: Parameters<typeof callsOf>[0]): Duel => ({
  ...{ table: 'databases', name: `3 databases: ${name}` },
  side: { contender: 'three', call: callsOf(call, THREE.length) },
  against: { contender: 'one', call: callsOf(call, 1) },
});

export const threeBesideOne = (text: string): Scene => ({
  contenders: [
    { name: 'one', code: { text }, databases: ['one'] },
    { name: 'three', code: { text }, databases: THREE },
  ],
  sizes: { one: SIZE, ...Object.fromEntries(THREE.map((name, database) => [name, { ...SIZE, database }])) },
  duels: [
    duel('record a use', recordOf),
    duel(`report, ${RANGE_DAYS} days`, (headers, id) => reportOf(RANGE_DAYS, headers, id)),
  ],
});

/** The rows in which three databases are slower than one by more than can be explained by noise between rounds. */
export const slower = (rows: Outcome[]): string[] =>
  rows
    .filter(({ ratio }) => ratio.high < 1)
    .map(({ name, ratio }) => `${name}: ${ratio.median.toFixed(2)} times the throughput of one database`);
