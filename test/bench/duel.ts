// Measures in rounds. Each round runs two contenders back to back, so other load on the machine affects both. Repeats the measurement with
// several starts of workerd, because the same Worker can be 10 % faster or slower in another process.
import { dayAgo } from './calls.ts';
import { fill, type Size } from './data.ts';
import { type Call, load, type Slice, type Span } from './load.ts';
import { type Contender, type Cost, costOf, open, type Stage } from './stage.ts';
import { median, quantile, type Spread, spreadOf } from './stats.ts';

type Side = { contender: string; call: Call; span?: Span | undefined };
type Table = 'floors' | 'own' | 'growth';
export type Duel = { table: Table; name: string; side: Side; against: Side };
/** The Workers, the contents of their databases, and the pairs to compare. */
export type Scene = {
  contenders: Contender[];
  sizes: Record<string, Size>;
  duels: Duel[];
};

/** A contender's measurements. They include the database cost of a call if the contender is `counted`. */
type Timing = { contender: string; perSecond: number; p50: number; p99: number; cost?: Cost };
export type Outcome = {
  table: Table;
  name: string;
  side: Timing;
  against: Timing;
  /** The ratio of the throughputs per round. */
  ratio: Spread;
};

/** `rounds` is the number of rounds per start of workerd. */
export type Effort = { starts: number; rounds: number };
export type Progress = (text: string) => void;

export const countedOf = (contender: Contender): Contender => ({
  ...contender,
  name: `${contender.name}-counted`,
  around: 'counted',
});

/** Compares two contenders on the same call. */
export function duel(table: Table, name: string, call: Call, [side, against]: [string, string], span?: Span): Duel {
  const both = { call, span };
  return { table, name, side: { ...both, contender: side }, against: { ...both, contender: against } };
}

/** Runs each duel in each round, after one warm-up round per start. */
export async function measure(
  { contenders, sizes, duels }: Scene,
  { starts, rounds }: Effort,
  progress: Progress,
): Promise<Outcome[]> {
  await using stage = await open(contenders);
  for (const [database, size] of Object.entries(sizes)) {
    progress(`filling the database ${database}`);
    await fill(await stage.database(database), size, dayAgo(0));
  }
  const rows = duels.map((duel) => ({ ...duel, slices: [] as [Slice, Slice][] }));
  const slice = ({ contender, call, span }: Side) => load(stage.url(contender), call, span);
  for (let start = 1; start <= starts; start++) {
    if (start > 1) await stage.restart();
    for (let round = 0; round <= rounds; round++) {
      for (const { name, side, against, slices } of rows) {
        progress(`start ${start} of ${starts}, ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}: ${name}`);
        // The order alternates between rounds.
        const before = (start + round) % 2 === 0 ? null : await slice(against);
        const mine = await slice(side);
        const theirs = before ?? (await slice(against));
        if (round > 0) slices.push([mine, theirs]);
      }
    }
  }
  const outcomes: Outcome[] = [];
  for (const { table, name, side, against, slices } of rows) {
    const [mine, theirs] = [slices.map(([one]) => one), slices.map(([, other]) => other)];
    const ratio = spreadOf(slices.map(([one, other]) => one.perSecond / other.perSecond));
    outcomes.push({
      ...{ table, name, ratio },
      side: await timingOf(stage, side, mine),
      against: await timingOf(stage, against, theirs),
    });
  }
  return outcomes;
}

async function timingOf(stage: Stage, { contender, call }: Side, slices: Slice[]): Promise<Timing> {
  const latencies = slices.flatMap(({ latencies }) => latencies);
  const perSecond = median(slices.map(({ perSecond }) => perSecond));
  const timing = { contender, perSecond, p50: median(latencies), p99: quantile(latencies, 0.99) };
  const counted = `${contender}-counted`;
  return stage.has(counted) ? { ...timing, cost: await costOf(stage.url(counted), call) } : timing;
}
