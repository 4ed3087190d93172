// A model of many databases. One workerd has one processor, so real databases in it cannot show what several machines do. Here the
// production bundle asks stand-ins (workers/modelled.js), which take so long that this machine mostly waits.
import { createHash } from 'node:crypto';
import { newCredential } from '../../src/core/credential.ts';
import { BINDINGS, IDS_PER_DATABASE } from '../../src/core/database.ts';
import { CALLS, dayAgo, recordOf } from './calls.ts';
import { BUSINESS, fill, SMALL } from './data.ts';
import type { Progress } from './duel.ts';
import { type Call, send } from './load.ts';
import { open } from './stage.ts';
import { median, type Spread, spreadOf } from './stats.ts';

export const NUMBERS = [1, 2, 4, 8, 16, 32];
/** What a deployed database takes for a use (docs/performance.md, "What one database holds"). */
const USE_MS = 5;
/** A stand-in takes so many times as long. */
const SCALE = 10;
/** For each database. */
const IN_FLIGHT = 16;
/** Each has one business in one database. A multiple of every number of databases, so that each holds as many. */
const OWNERS = 1024;
/** The least throughput for each database, compared with that of one, where all owners send as much. */
const GOAL = 0.95;

export type ModelEffort = { only: string; rounds: number; warmUpSeconds: number; seconds: number };
export type Modelled = {
  name: string;
  databases: number;
  skewed: boolean;
  /** Uses, as if a database took `USE_MS`. */
  perSecond: number;
  /** Throughput by that of one database, round by round. */
  ratio: Spread;
  /** The share of all uses that the busiest database gets. */
  hottest: number;
};

type Owner = { call: Call; database: number; weight: number };

export async function model(
  code: string,
  numbers: number[],
  { only, rounds, ...time }: ModelEffort,
  progress: Progress,
): Promise<Modelled[]> {
  const rows = numbers
    .flatMap((databases) => [false, true].map((skewed) => ({ databases, skewed, name: nameOf(databases, skewed) })))
    .filter(({ databases, skewed, name }) => (databases === 1 ? !skewed : name.includes(only)))
    .map((row) => ({ ...row, owners: ownersOf(row.databases, row.skewed), measured: [] as number[] }));
  await using stage = await open(
    numbers.map((number) => {
      const bindings = { DATABASES: BINDINGS.slice(0, number), MS: USE_MS * SCALE };
      return { name: `${number}`, code: { text: code }, databases: ['small'], bindings, around: 'modelled' };
    }),
  );
  await fill(await stage.database('small'), SMALL, dayAgo(0));
  for (let round = 1; round <= rounds; round++) {
    for (const { name, databases, skewed, owners, measured } of rows) {
      progress(`round ${round} of ${rounds}: ${name}`);
      const callers = owners.slice(0, databases * IN_FLIGHT);
      // Where owners are skewed, nearly all callers wait for the busiest database sooner or later: they begin there.
      if (skewed) callers.fill(owners.reduce((a, b) => (a.weight > b.weight ? a : b)));
      measured.push((await throughputOf(stage.url(`${databases}`), owners, callers, time)) * SCALE);
    }
  }
  const one = rows[0]?.measured ?? [];
  return rows.map(({ owners, measured, ...row }) => ({
    ...row,
    perSecond: median(measured),
    ratio: spreadOf(measured.map((uses, round) => uses / (one[round] as number))),
    hottest: hottestOf(owners),
  }));
}

const nameOf = (databases: number, skewed: boolean) =>
  `model: ${databases} database${databases === 1 ? '' : 's'}, ${skewed ? 'skewed' : 'uniform'}`;

/** Owners in the databases in turn, as new owners get the database with the fewest businesses. */
function ownersOf(databases: number, skewed: boolean): Owner[] {
  const digest = (owner: number) => createHash('sha256').update(`${owner}`).digest('hex');
  const indexes = Array.from({ length: OWNERS }, (_, index) => index);
  // Zipf: the second sends half as much as the first, the third a third. Who is which does not depend on the database.
  const ranked = indexes.toSorted((a, b) => (digest(a) < digest(b) ? -1 : 1));
  return indexes.map((index) => {
    const database = index % databases;
    const headers = { Authorization: `Bearer ${newCredential('bua_pk_', database)}`, Origin: BUSINESS.origin };
    const call = recordOf(headers, database * IDS_PER_DATABASE + 1 + Math.floor(index / databases));
    return { call, database, weight: skewed ? 1 / (1 + (ranked[index] as number)) : 1 };
  });
}

const sum = (owners: Owner[]) => owners.reduce((total, { weight }) => total + weight, 0);

function hottestOf(owners: Owner[]): number {
  const shares = [...Map.groupBy(owners, ({ database }) => database).values()].map(sum);
  return Math.max(...shares) / sum(owners);
}

/** Uses per second. Each caller records one use after the other: the first for its owner, the others for owners by their weight. */
async function throughputOf(
  url: string,
  owners: Owner[],
  callers: Owner[],
  { warmUpSeconds, seconds }: Pick<ModelEffort, 'warmUpSeconds' | 'seconds'>,
): Promise<number> {
  await send(url, CALLS.record, { 'Bench-Begin': 'yes' });
  let total = 0;
  const sums = owners.map(({ weight }) => (total += weight));
  const chosen = () => {
    const place = Math.random() * total;
    return owners[sums.findIndex((upTo) => place < upTo)] as Owner;
  };
  const from = performance.now() + warmUpSeconds * 1000;
  const until = from + seconds * 1000;
  const end = AbortSignal.timeout((warmUpSeconds + seconds) * 1000 + 50);
  let recorded = 0;
  const record = async (first: Owner) => {
    for (let { call } = first; !end.aborted; { call } = chosen()) {
      await send(url, call, {}, end);
      const now = performance.now();
      if (now >= from && now < until) recorded += 1;
    }
  };
  await Promise.all(
    callers.map((first) =>
      record(first).catch((error: unknown) => {
        if (!end.aborted) throw error;
      }),
    ),
  );
  return recorded / seconds;
}

/** The rows that miss the goal. */
export const missing = (rows: Modelled[]): string[] =>
  rows
    .filter(({ databases, skewed, ratio }) => !skewed && ratio.median < GOAL * databases)
    .map(
      ({ name, databases, ratio }) => `${name}: ${ratio.median.toFixed(2)} of one, less than ${GOAL} × ${databases}`,
    );
