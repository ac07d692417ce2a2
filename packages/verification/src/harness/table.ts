/** Figures as text. */

/** Columns that line up: the first to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  const lines = rows.map((row) =>
    row
      .map((cell, index) =>
        index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}

/** The middle of some numbers; of an even count the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The smallest of some numbers that a share of them (0 to 1) does not exceed; NaN where there are none. */
export function quantile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** The longest time between two neighbours among some moments, as far as it touches the time between two others. */
export function longestGap(moments: readonly number[], from: number, to: number): number {
  const sorted = [...moments].sort((a, b) => a - b);
  return sorted.reduce((longest, moment, at) => {
    const before = sorted[at - 1] ?? moment;
    return moment >= from && before <= to ? Math.max(longest, moment - before) : longest;
  }, 0);
}

/** Both ends of an interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * Where the median lies of that of which the values are a sample, with a certainty of at least 95 %, whatever its distribution:
 * the values whose ranks the binomial distribution gives. Fewer than six values say less; then from the least to the largest.
 */
export function medianInterval(values: readonly number[]): Interval {
  const sorted = [...values].sort((a, b) => a - b);
  const count = sorted.length;
  // The chance that so many, or fewer, of the values lie below the median.
  let chance = 0.5 ** count;
  let term = chance;
  let below = 0;
  while (2 * chance <= 0.05) {
    below += 1;
    term *= (count - below + 1) / below;
    chance += term;
  }
  const rank = Math.max(0, below - 1);
  return { low: sorted[rank] ?? Number.NaN, high: sorted[count - 1 - rank] ?? Number.NaN };
}

export function intervalText({ low, high }: Interval): string {
  return `${low.toFixed(3)} to ${high.toFixed(3)}`;
}

/** Milliseconds as µs below one, else as ms. */
export function timeText(ms: number): string {
  return ms < 1 ? `${(1000 * ms).toFixed(0)} µs` : `${ms.toFixed(ms < 10 ? 2 : 1)} ms`;
}
