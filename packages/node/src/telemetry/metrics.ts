/**
 * The figures of a node, in memory that both threads see, so that the status port can tell them even while
 * the engine thread is busy. Each cell has one writer; a reader may see a histogram in the middle of an
 * observation.
 */
import {
  cellsOf,
  FAMILIES,
  FAMILY_NAMES,
  type Family,
  type FamilyName,
  type FiguresOf,
  type SeriesOf,
  seriesCount,
  seriesNumber,
  THREADS,
} from './families.js';

export class Metrics {
  readonly buffer: SharedArrayBuffer;
  private readonly cells: Float64Array;
  /** The longest delay of each thread since it was last taken, in microseconds. */
  private readonly peaks: Int32Array;
  private readonly bases: Readonly<Record<FamilyName, number>>;

  constructor(buffer?: SharedArrayBuffer) {
    const bases: Partial<Record<FamilyName, number>> = {};
    let count = 0;
    for (const name of FAMILY_NAMES) {
      bases[name] = count;
      count += seriesCount(FAMILIES[name]) * cellsOf(FAMILIES[name]);
    }
    this.bases = bases as Record<FamilyName, number>;
    this.buffer = buffer ?? new SharedArrayBuffer(count * 8 + THREADS.length * 4);
    this.cells = new Float64Array(this.buffer, 0, count);
    this.peaks = new Int32Array(this.buffer, count * 8);
  }

  count<Name extends FamilyName>(name: Name, series: SeriesOf<Name>, count = 1): void {
    this.add(name, seriesNumber(FAMILIES[name], series), count);
  }

  tell<Name extends FamilyName>(name: Name, series: SeriesOf<Name>, value: number): void {
    this.set(name, value, seriesNumber(FAMILIES[name], series));
  }

  /** Sets all series of a family with one label. */
  setEach<Name extends FamilyName>(name: Name, figures: FiguresOf<Name>): void {
    const [values = []] = Object.values<readonly string[]>(FAMILIES[name].labels);
    const numbers: Readonly<Record<string, number>> = figures;
    values.forEach((value, i) => {
      this.set(name, numbers[value] ?? 0, i);
    });
  }

  /** @param series its number: see `seriesNumber` */
  add(name: FamilyName, series = 0, count = 1): void {
    this.cells[this.bases[name] + series]! += count;
  }

  set(name: FamilyName, value: number, series = 0): void {
    this.cells[this.bases[name] + series] = value;
  }

  get(name: FamilyName, series = 0): number {
    return this.cells[this.bases[name] + series] ?? 0;
  }

  observe(name: FamilyName, value: number, series = 0): void {
    const { bounds }: Family = FAMILIES[name];
    observeIn(this.cells, this.bases[name] + series * (bounds.length + 2), bounds, value);
  }

  /** Notes a delay of a thread, for who takes the longest now and then. */
  notePeak(thread: number, ms: number): void {
    const us = Math.min(Math.round(ms * 1000), PEAK_MAX);
    let known = Atomics.load(this.peaks, thread);
    while (us > known) {
      const found = Atomics.compareExchange(this.peaks, thread, known, us);
      if (found === known) return;
      known = found;
    }
  }

  /** The longest delay of a thread since this was called last, in milliseconds. */
  takePeak(thread: number): number {
    return Atomics.exchange(this.peaks, thread, 0) / 1000;
  }

  /** A histogram whose place is looked up once, for what is observed all the time. */
  observer(name: FamilyName): (value: number, series: number) => void {
    const { cells } = this;
    const base = this.bases[name];
    const { bounds }: Family = FAMILIES[name];
    const width = bounds.length + 2;
    return (value, series) => observeIn(cells, base + series * width, bounds, value);
  }

  /** A counter whose place is looked up once. */
  counter(name: FamilyName): (series: number) => void {
    const { cells } = this;
    const base = this.bases[name];
    return (series) => {
      cells[base + series]! += 1;
    };
  }

  /** The cells of a series of a histogram: buckets, the one without a bound, and the sum. */
  histogram(name: FamilyName, series: number): Float64Array {
    const width = cellsOf(FAMILIES[name]);
    const base = this.bases[name] + series * width;
    return this.cells.subarray(base, base + width);
  }
}

/** Microseconds at most: half an hour. */
const PEAK_MAX = 2 ** 31 - 1;

/** A histogram that only one thread knows. */
export class Histogram {
  readonly cells: Float64Array;

  constructor(private readonly bounds: readonly number[]) {
    this.cells = new Float64Array(bounds.length + 2);
  }

  observe(value: number): void {
    observeIn(this.cells, 0, this.bounds, value);
  }
}

/** Adds to the bucket that a value belongs to. Buckets don't hold what smaller ones hold. */
function observeIn(cells: Float64Array, base: number, bounds: readonly number[], value: number): void {
  let bucket = 0;
  while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
  cells[base + bucket]! += 1;
  cells[base + bounds.length + 1]! += value;
}
