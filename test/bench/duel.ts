// Measures in rounds: in each, every contender right beside the one it is compared with, so that what else the machine
// does meanwhile meets both. And in several starts of workerd: for as long as it runs, one and the same Worker is a tenth
// faster or slower than in another start.
import { type Call, load, type Slice, type Span } from './load.ts';
import type { Stage } from './stage.ts';
import { quantile, type Spread, spreadOf } from './stats.ts';

export type Side = { contender: string; call: Call | Call[]; status: number; span: Span };
export type Duel = { name: string; side: Side; against: Side };

export type Timing = { perSecond: number; p50: number; p99: number };
export type Outcome = {
  name: string;
  side: Timing;
  against: Timing;
  /** Throughput of the side by that of the other, round by round. */
  ratio: Spread;
};

/** How long to measure, with so many rounds in each start, and which rows: those whose name contains `only`. */
export type Effort = { only: string; starts: number; rounds: number; span: Span };
export type Progress = (text: string) => void;

/** Runs each duel in each round, and in one before those of each start that is for warming up. */
export async function measure(
  stage: Stage,
  duels: Duel[],
  { starts, rounds }: Effort,
  progress: Progress,
): Promise<Outcome[]> {
  const samples = duels.map((duel) => ({ duel, side: newSample(), against: newSample(), ratios: [] as number[] }));
  for (let start = 1; start <= starts; start++) {
    if (start > 1) await stage.restart();
    for (let round = 0; round <= rounds; round++) {
      for (const { duel, side, against, ratios } of samples) {
        progress(
          `start ${start} of ${starts}, ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}: ${duel.name}`,
        );
        const [mine, theirs] = await both(stage, duel, (start + round) % 2 === 0);
        if (round === 0) continue;
        add(side, mine);
        add(against, theirs);
        ratios.push(mine.perSecond / theirs.perSecond);
      }
    }
  }
  return samples.map(({ duel, side, against, ratios }) => ({
    name: duel.name,
    side: timing(side),
    against: timing(against),
    ratio: spreadOf(ratios),
  }));
}

/** Who is first changes from round to round. */
async function both(stage: Stage, { side, against }: Duel, first: boolean): Promise<[Slice, Slice]> {
  const one = ({ contender, call, status, span }: Side) => load(stage.url(contender), call, status, span);
  if (first) return [await one(side), await one(against)];
  const theirs = await one(against);
  return [await one(side), theirs];
}

type Sample = { perSecond: number[]; latencies: number[] };
const newSample = (): Sample => ({ perSecond: [], latencies: [] });

function add(sample: Sample, slice: Slice) {
  sample.perSecond.push(slice.perSecond);
  for (const latency of slice.latencies) sample.latencies.push(latency);
}

const timing = ({ perSecond, latencies }: Sample): Timing => ({
  perSecond: quantile(perSecond, 0.5),
  p50: quantile(latencies, 0.5),
  p99: quantile(latencies, 0.99),
});
