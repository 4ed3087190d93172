// A model of many databases. Real databases in one workerd share a processor, so they cannot show how several machines scale. Here the
// production bundle queries stand-ins (workers/modelled.js), which respond so slowly that this machine mostly waits.
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
/** The time that a deployed database needs to record a use, in milliseconds (docs/performance.md, "What one database holds"). */
const USE_MS = 5;
/** How many times slower a stand-in is than a deployed database. */
const SCALE = 10;
/** Concurrent requests per database. */
const IN_FLIGHT = 16;
/**
 * The number of owners, who each have one business. It is divisible by every number of databases in the model, so that each database stores
 * the same number of owners.
 */
const OWNERS = 1024;
/** The minimum throughput per database, relative to a single database, with evenly distributed load. */
const GOAL = 0.95;

export type ModelEffort = { rounds: number; warmUpSeconds: number; seconds: number; isSkewed: boolean };
export type Modelled = {
  name: string;
  databases: number;
  skewed: boolean;
  /** Uses per second, scaled to databases that need `USE_MS`. */
  perSecond: number;
  /** Throughput relative to a single database, per round. */
  ratio: Spread;
  /** The share of uses that go to the busiest database. */
  hottest: number;
};

type Owner = { call: Call; database: number; weight: number };

export async function model(
  code: string,
  numbers: number[],
  { rounds, isSkewed, ...time }: ModelEffort,
  progress: Progress,
): Promise<Modelled[]> {
  const rows = numbers
    .flatMap((databases) => [false, true].map((skewed) => ({ databases, skewed, name: nameOf(databases, skewed) })))
    .filter(({ databases, skewed }) => !skewed || (isSkewed && databases > 1))
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
      // With skewed load, nearly all callers end up waiting for the busiest database, so they start there.
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

/** Spreads owners round-robin, as the service does: a new owner gets the database with the fewest owners. */
function ownersOf(databases: number, skewed: boolean): Owner[] {
  const digest = (owner: number) => createHash('sha256').update(`${owner}`).digest('hex');
  const indexes = Array.from({ length: OWNERS }, (_, index) => index);
  // A Zipf distribution: the second owner sends half as many uses as the first, the third owner sends a third as many, and so on. An
  // owner's rank does not depend on the owner's database.
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

/** Returns uses per second. Callers send uses sequentially: the first for their own owner, the others for owners drawn by weight. */
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
  const orEnd = (error: unknown) => {
    if (!end.aborted) throw error;
  };
  await Promise.all(callers.map((first) => record(first).catch(orEnd)));
  return recorded / seconds;
}

/** The rows that miss their target. */
export const missedTargets = (rows: Modelled[]): string[] =>
  rows
    .filter(({ databases, skewed, ratio }) => !skewed && ratio.median < GOAL * databases)
    .map(
      ({ name, databases, ratio }) =>
        `${name}: ${ratio.median.toFixed(2)} times the throughput of one database, less than ${GOAL} × ${databases}`,
    );
