// A model of many databases. Real databases in one workerd share a processor, so they cannot show how several machines scale. Here the
// production bundle queries stand-ins (workers/modelled.js), which respond so slowly that this machine mostly waits.
import { createHash } from 'node:crypto';
import { newCredential } from '../../src/core/credential.ts';
import { BINDINGS, IDS_PER_DATABASE } from '../../src/core/database.ts';
import { BUSINESS, CALLS, fill, recordOf, SMALL } from './data.ts';
import { table } from './duel.ts';
import { type Call, send } from './load.ts';
import { open } from './stage.ts';

/** The time that a deployed database needs to record a use, in milliseconds (docs/performance.md, "What one database holds"). */
const USE_MS = 5;
/** How many times slower a stand-in is than a deployed database. */
const SCALE = 10;
/** Concurrent requests per database. */
const IN_FLIGHT = 16;
/** The number of owners, who each have one business. Divisible by every number of databases, so that each stores the same number. */
const OWNERS = 1024;

/** At most ten seconds in all, or the service would give up waiting for the busiest database. */
type Effort = { warmUpSeconds: number; seconds: number };
/** Uses per second, scaled to databases that need `USE_MS`, and the share of uses that go to the busiest database. */
type Modelled = { databases: number; skewed: boolean; perSecond: number; hottest: number };
type Owner = { call: Call; database: number; weight: number };

export async function model(
  code: string,
  numbers: number[],
  skews: boolean[],
  effort: Effort,
  progress: (text: string) => void,
): Promise<Modelled[]> {
  await using stage = await open(
    numbers.map((number) => {
      const bindings = { DATABASES: BINDINGS.slice(0, number), MS: USE_MS * SCALE };
      return { name: `${number}`, code: { text: code }, database: 'small', bindings, around: 'modelled' };
    }),
  );
  await fill(await stage.database('small'), SMALL);
  const rows: Modelled[] = [];
  for (const databases of numbers) {
    for (const skewed of skews) {
      progress(`${databases} databases${skewed ? ', skewed' : ''}`);
      const owners = ownersOf(databases, skewed);
      const callers = owners.slice(0, databases * IN_FLIGHT);
      // With skewed load, nearly all callers end up waiting for the busiest database, so they start there.
      if (skewed) callers.fill(owners.reduce((a, b) => (a.weight > b.weight ? a : b)));
      const perSecond = (await throughputOf(stage.url(`${databases}`), owners, callers, effort)) * SCALE;
      rows.push({ databases, skewed, perSecond, hottest: hottestOf(owners) });
    }
  }
  return rows;
}

/** Spreads owners round-robin, as the service does: a new owner gets the database with the fewest owners. */
function ownersOf(databases: number, skewed: boolean): Owner[] {
  const digest = (owner: number) => createHash('sha256').update(`${owner}`).digest('hex');
  const indexes = Array.from({ length: OWNERS }, (_, index) => index);
  // A Zipf distribution: the n-th owner sends 1/n as many uses as the first. An owner's rank does not depend on the owner's database.
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
  const shares = Map.groupBy(owners, ({ database }) => database).values();
  return Math.max(...Array.from(shares, sum)) / sum(owners);
}

/** Returns uses per second. Callers send uses sequentially: the first for their own owner, the others for owners drawn by weight. */
async function throughputOf(url: string, owners: Owner[], callers: Owner[], { warmUpSeconds, seconds }: Effort) {
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
  async function record(first: Owner) {
    for (let { call } = first; !end.aborted; { call } = chosen()) {
      await send(url, call, {}, end);
      const now = performance.now();
      if (now >= from && now < until) recorded += 1;
    }
  }
  const orEnd = (error: unknown) => end.aborted || Promise.reject(error);
  await Promise.all(callers.map((first) => record(first).catch(orEnd)));
  return recorded / seconds;
}

export const printed = (rows: Modelled[]): string =>
  table(
    ['databases', 'load', 'uses/s', 'hottest database’s share'],
    rows.map(({ databases, skewed, perSecond, hottest }) => [
      ...[`${databases}`, skewed ? 'skewed' : 'even', Math.round(perSecond).toLocaleString('en')],
      `${(hottest * 100).toFixed(1)}%`,
    ]),
  );
