/** Counts what is still needed of each segment. */
export type LiveLedger = {
  /** `bytes` of `segment` became needed (positive) or not needed any more (negative). */
  add(segment: number, bytes: number): void;
};

/**
 * The places of the entries of one group: for each index of a dense range the segment, the position in it,
 * and the length of the record. Twelve bytes an entry, grown by doubling, cut at both ends in constant time.
 */
export class PositionIndex {
  private segments = new Uint32Array(INITIAL_ENTRIES);
  private positions = new Uint32Array(INITIAL_ENTRIES);
  private lengths = new Uint32Array(INITIAL_ENTRIES);
  private head = 0;
  private count = 0;
  private firstIndex: number;
  private totalBytes = 0;

  /** @param first the index that the first entry will have */
  constructor(first: number) {
    this.firstIndex = first;
  }

  /** The index of the first entry; of the next one if there is none. */
  get first(): number {
    return this.firstIndex;
  }

  /** The index of the last entry; `first - 1` if there is none. */
  get last(): number {
    return this.firstIndex + this.count - 1;
  }

  segmentOf(index: number): number {
    return this.segments[this.slot(index)]!;
  }

  positionOf(index: number): number {
    return this.positions[this.slot(index)]!;
  }

  lengthOf(index: number): number {
    return this.lengths[this.slot(index)]!;
  }

  /** Adds the entry after the last. */
  push(segment: number, position: number, length: number): void {
    if (this.head + this.count === this.segments.length) this.makeRoom();
    const slot = this.head + this.count++;
    this.segments[slot] = segment;
    this.positions[slot] = position;
    this.lengths[slot] = length;
    this.totalBytes += length;
  }

  /** Says that the record of an entry lies elsewhere now, where it may have another length. */
  move(index: number, segment: number, position: number, length: number, ledger: LiveLedger): void {
    const slot = this.slot(index);
    ledger.add(this.segments[slot]!, -this.lengths[slot]!);
    ledger.add(segment, length);
    this.totalBytes += length - this.lengths[slot]!;
    this.lengths[slot] = length;
    this.segments[slot] = segment;
    this.positions[slot] = position;
  }

  /** Forgets all entries after `last`. */
  cutAfter(last: number, ledger: LiveLedger): void {
    const kept = Math.max(0, Math.min(this.count, last - this.firstIndex + 1));
    this.release(this.head + kept, this.head + this.count, ledger);
    this.count = kept;
  }

  /** Forgets all entries up to `upTo`; the range then starts after it, also if it was shorter. */
  cutUpTo(upTo: number, ledger: LiveLedger): void {
    if (upTo < this.firstIndex) return;
    const dropped = Math.min(this.count, upTo - this.firstIndex + 1);
    this.release(this.head, this.head + dropped, ledger);
    this.head += dropped;
    this.count -= dropped;
    this.firstIndex = upTo + 1;
  }

  /** Tells a ledger all that this index holds. */
  report(ledger: LiveLedger): void {
    this.sum(this.head, this.head + this.count, ledger, 1);
  }

  private slot(index: number): number {
    return this.head + index - this.firstIndex;
  }

  private release(from: number, to: number, ledger: LiveLedger): void {
    this.totalBytes -= this.sum(from, to, ledger, -1);
  }

  /** Runs of the same segment are told in one call. */
  private sum(from: number, to: number, ledger: LiveLedger, sign: 1 | -1): number {
    let total = 0;
    for (let slot = from; slot < to; ) {
      const segment = this.segments[slot]!;
      let run = 0;
      for (; slot < to && this.segments[slot] === segment; slot++) run += this.lengths[slot]!;
      ledger.add(segment, sign * run);
      total += run;
    }
    return total;
  }

  /** Moves the entries to the front, into larger arrays if they are more than half full. */
  private makeRoom(): void {
    const size = this.count * 2 > this.segments.length ? this.segments.length * 2 : this.segments.length;
    this.segments = moved(this.segments, this.head, this.count, size);
    this.positions = moved(this.positions, this.head, this.count, size);
    this.lengths = moved(this.lengths, this.head, this.count, size);
    this.head = 0;
  }
}

/** Small: a thousand groups, most of them quiet, must cost little. */
const INITIAL_ENTRIES = 8;

function moved(from: Uint32Array, head: number, count: number, size: number): Uint32Array<ArrayBuffer> {
  const to = new Uint32Array(size);
  to.set(from.subarray(head, head + count));
  return to;
}
