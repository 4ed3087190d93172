// The uses of each source on full days, with those of today beside them, which no total includes.
import type { Range } from '../../core/time.ts';
import type { SourceUses } from '../../usage/description.ts';

/** `count` and the order are those of the full days. `today` counts today's uses so far. */
export type Uses = SourceUses & { today: number };

export function withToday(uses: readonly SourceUses[], ofToday: readonly SourceUses[]): Uses[] {
  const before = uses.map((one) => ({ ...one, today: 0 }));
  const known = new Map(before.map((one) => [one.source, one]));
  for (const { source, count, last_day } of ofToday)
    known.set(source, { source, count: known.get(source)?.count ?? 0, last_day, today: count });
  return [...known.values()];
}

type Read = (days: Range) => Promise<SourceUses[]>;

/** `today` is null if it is not shown. */
export async function readSources(read: Read, full: Range, today: string | null): Promise<Uses[]> {
  const [uses, ofToday] = await Promise.all([read(full), today === null ? [] : read({ from: today, to: today })]);
  return withToday(uses, ofToday);
}
