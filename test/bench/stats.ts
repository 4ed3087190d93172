// Summary statistics of a sample.

/** The quantile: the value below which `share` of the sample lies. */
export function quantile(sample: readonly number[], share: number): number {
  const sorted = Float64Array.from(sample).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (sample: readonly number[]): number => quantile(sample, 0.5);

/** The median and the interquartile range. */
export type Spread = { median: number; low: number; high: number };

export const spreadOf = (sample: readonly number[]): Spread => ({
  median: median(sample),
  low: quantile(sample, 0.25),
  high: quantile(sample, 0.75),
});

/** The spread of the inverse ratio. */
export const inverse = ({ median, low, high }: Spread): Spread => ({
  median: 1 / median,
  low: 1 / high,
  high: 1 / low,
});
