// Measures in rounds. Each round runs two contenders back to back, so other load on the machine affects both. Repeats the measurement with
// several starts of workerd, because the same Worker can be 10 % faster or slower in another process.
import { fill, type Size } from './data.ts';
import { type Call, load, median, quantile, repeat, type Slice } from './load.ts';
import candidate from './release-candidate.json' with { type: 'json' };
import { type Contender, open } from './stage.ts';

/** The ratios of the last release candidate, by the name of the duel, so that a slow commit is noticed. Each release writes its own. */
const RATIOS: Record<string, number | undefined> = candidate.ratios;

/** A call, and the contender and the floor to send it to. Both may be `repeated`. */
export type Duel = { name: string; call: Call; sides: [contender: string, floor: string]; isRepeated?: boolean };
/** The Workers, the contents of their databases, and the pairs to compare. */
export type Scene = { contenders: Contender[]; sizes: Record<string, Size>; duels: Duel[] };

/** Runs each duel in each round, after one warm-up round per start, and returns a Markdown table. */
export async function measure(
  { contenders, sizes, duels }: Scene,
  { starts, rounds }: { starts: number; rounds: number },
  progress: (text: string) => void,
): Promise<string> {
  await using stage = await open(contenders);
  for (const [database, size] of Object.entries(sizes)) {
    progress(`filling the database ${database}`);
    await fill(await stage.database(database), size);
  }
  const rows = duels.map((duel) => ({ ...duel, slices: [] as [Slice, Slice][] }));
  for (let start = 1; start <= starts; start++) {
    if (start > 1) await stage.restart();
    for (let round = 0; round <= rounds; round++) {
      for (const { name, call, sides, isRepeated, slices } of rows) {
        progress(`start ${start} of ${starts}, round ${round} of ${rounds}: ${name}`);
        const slice = (side: 0 | 1) => (isRepeated ? repeat : load)(stage.url(sides[side]), call);
        // The order alternates between rounds.
        const before = (start + round) % 2 === 0 ? null : await slice(1);
        const mine = await slice(0);
        const theirs = before ?? (await slice(1));
        if (round > 0) slices.push([mine, theirs]);
      }
    }
  }
  const lines = rows.map(({ name, sides, slices }) => {
    const of = (side: 0 | 1, figure: keyof Slice) => median(slices.map((pair) => pair[side][figure]));
    const ratios = slices.map(([mine, theirs]) => mine.perSecond / theirs.perSecond);
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(2));
    const [own, floor] = ([0, 1] as const).map((side) => Math.round(of(side, 'perSecond')).toLocaleString('en'));
    const before = RATIOS[name]?.toFixed(2) ?? '';
    return [name, sides[1], own, floor, `${middle} (${low}–${high})`, before, `${(of(0, 'p50') * 1000).toFixed(1)} µs`];
  });
  const head = ['', 'floor', 'requests/s', 'floor’s requests/s', 'ratio (IQR)', `in ${candidate.commit}`, 'p50'];
  return table(head, lines);
}

/** Formats a Markdown table. */
export const table = (head: string[], lines: (string | undefined)[][]): string =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
