/**
 * Counts of times, kept in buckets that grow with the time, so that each is known to about 3 % (the idea of HdrHistogram,
 * Gil Tene): below 64 units a bucket a unit, above that 32 buckets for each doubling. A unit is 0.1 µs.
 */
const bucketCount = 27 * 32 + 64;
const unitsPerMs = 10_000;
const unitsMax = 2 ** 31 - 1;

export class Histogram {
  readonly #counts: Uint32Array;

  constructor(counts: ArrayLike<number> = []) {
    this.#counts = new Uint32Array(bucketCount);
    this.#counts.set(Array.from(counts).slice(0, bucketCount));
  }

  /** Notes one time, in milliseconds. */
  add(ms: number): void {
    const units = Math.min(unitsMax, Math.max(0, ms * unitsPerMs)) | 0;
    const index = bucketOf(units);
    this.#counts[index] = this.#counts[index]! + 1;
  }

  /** Adds what another one counted. */
  merge(other: Histogram): void {
    for (const [index, count] of other.#counts.entries()) {
      this.#counts[index] = this.#counts[index]! + count;
    }
  }

  /** The number of times that were noted. */
  get total(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** The time in milliseconds that a share of all times (0 to 1) does not exceed; 0 when there are none. */
  quantile(share: number): number {
    const wanted = Math.max(1, Math.ceil(this.total * share));
    let seen = 0;
    for (const [index, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= wanted) return middleOf(index) / unitsPerMs;
    }
    return 0;
  }

  /** The counts, for another process; the constructor takes them. */
  counts(): Uint32Array {
    return this.#counts.slice();
  }

  clear(): void {
    this.#counts.fill(0);
  }
}

function bucketOf(units: number): number {
  if (units < 64) return units;
  const shift = 26 - Math.clz32(units);
  return shift * 32 + (units >>> shift);
}

function middleOf(index: number): number {
  if (index < 64) return index;
  const shift = (index >>> 5) - 1;
  const lowest = (32 + (index & 31)) * 2 ** shift;
  return lowest + (2 ** shift - 1) / 2;
}
