// Measures in rounds: in each, every contender right beside the one it is compared with, so that what else the machine
// does meanwhile meets both.
import { type Call, load, type Slice, type Span } from './load.ts';
import { quantile, type Spread, spreadOf } from './stats.ts';

export type Side = { url: string; call: Call; status: number; span: Span };
export type Duel = { name: string; side: Side; against: Side };

export type Timing = { perSecond: number; p50: number; p99: number };
export type Outcome = {
  name: string;
  side: Timing;
  against: Timing;
  /** Throughput of the side by that of the other, round by round. */
  ratio: Spread;
};

/** How long to measure, and which rows: those whose name contains `only`. */
export type Effort = { only: string; rounds: number; span: Span };
export type Progress = (text: string) => void;

/** Runs each duel in each round, and in one before them that is for warming up. */
export async function measure(duels: Duel[], rounds: number, progress: Progress): Promise<Outcome[]> {
  const samples = duels.map((duel) => ({ duel, side: newSample(), against: newSample(), ratios: [] as number[] }));
  for (let round = 0; round <= rounds; round++) {
    for (const { duel, side, against, ratios } of samples) {
      progress(`${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}: ${duel.name}`);
      const [mine, theirs] = await both(duel, round % 2 === 0);
      if (round === 0) continue;
      add(side, mine);
      add(against, theirs);
      ratios.push(mine.perSecond / theirs.perSecond);
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
async function both({ side, against }: Duel, first: boolean): Promise<[Slice, Slice]> {
  if (first) return [await one(side), await one(against)];
  const theirs = await one(against);
  return [await one(side), theirs];
}

const one = ({ url, call, status, span }: Side) => load(url, call, status, span);

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
