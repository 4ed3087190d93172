// The few numbers that a sample is told by.

/** The value below which `share` of the sample lies. */
export function quantile(sample: readonly number[], share: number): number {
  const sorted = Float64Array.from(sample).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (sample: readonly number[]): number => quantile(sample, 0.5);

/** The middle of the sample, and between what the middle half of it lies. */
export type Spread = { median: number; low: number; high: number };

export const spreadOf = (sample: readonly number[]): Spread => ({
  median: median(sample),
  low: quantile(sample, 0.25),
  high: quantile(sample, 0.75),
});

/** The spread of a ratio the other way round. */
export const inverse = ({ median, low, high }: Spread): Spread => ({
  median: 1 / median,
  low: 1 / high,
  high: 1 / low,
});
