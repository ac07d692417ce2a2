import { CHAIN_ROOT, type ChainLink } from './format.js';
import { type LiveLedger, PositionIndex } from './position-index.js';
import type { HardState } from './types.js';

/** The entry that the log starts after. */
export type LogBase = { readonly index: number; readonly term: number; readonly link: ChainLink };

export const EMPTY_BASE: LogBase = { index: 0, term: 0, link: CHAIN_ROOT };

/** The place of a single record; segment 0 for nowhere. */
export type RecordPlace = { readonly segment: number; readonly length: number };

const NOWHERE: RecordPlace = { segment: 0, length: 0 };

/** An entry that is kept in memory. */
export type TailEntry = {
  readonly term: number;
  readonly type: number;
  readonly previousHash: number;
  readonly hash: number;
  readonly payload: Uint8Array;
};

/**
 * The durable log of one group: its base, the places and terms of its entries, its hard state, and the
 * entries that are still in memory. It knows nothing of files.
 */
export class GroupLog {
  readonly id: number;
  private currentBase: LogBase = EMPTY_BASE;
  private basePlace: RecordPlace = NOWHERE;
  private currentHardState: HardState | undefined;
  private hardStatePlace: RecordPlace = NOWHERE;
  private endLink = CHAIN_ROOT;
  /**
   * Runs of equal terms, by the index of their first entry. Both rise: 0 <= runs[i].first < runs[i +
   * 1].first.
   */
  private runs: { first: number; term: number }[] = [];
  private index = new PositionIndex(1);
  /** The newest entries, up to `lastIndex`; older ones are read from the disk. */
  private tail: TailEntry[] = [];
  private tailHead = 0;

  constructor(id: number) {
    this.id = id;
  }

  get base(): LogBase {
    return this.currentBase;
  }

  get hardState(): HardState | undefined {
    return this.currentHardState;
  }

  get firstIndex(): number {
    return this.currentBase.index + 1;
  }

  get lastIndex(): number {
    return this.index.last;
  }

  get lastTerm(): number {
    return this.runs.at(-1)?.term ?? this.currentBase.term;
  }

  /** Of the last entry, or of the base. */
  get lastLink(): ChainLink {
    return this.endLink;
  }

  get positions(): PositionIndex {
    return this.index;
  }

  /** Something of this group is on the disk. */
  get exists(): boolean {
    return this.currentHardState !== undefined || this.currentBase.index > 0 || this.lastIndex > 0;
  }

  /** The term of an entry or of the base. */
  term(index: number): number | undefined {
    if (index === this.currentBase.index) return this.currentBase.term;
    if (index < this.firstIndex || index > this.lastIndex) return undefined;
    let low = 0;
    for (let high = this.runs.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if (this.runs[middle]!.first <= index) low = middle;
      else high = middle - 1;
    }
    return this.runs[low]!.term;
  }

  /** The entry after the last. `link` is its own. */
  push(
    term: number,
    link: ChainLink,
    segment: number,
    position: number,
    length: number,
    ledger: LiveLedger,
  ): void {
    if (this.runs.length === 0 || term !== this.runs[this.runs.length - 1]!.term) {
      this.runs.push({ first: this.lastIndex + 1, term });
    }
    this.index.push(segment, position, length);
    this.endLink = link;
    ledger.add(segment, length);
  }

  /** Keeps the entry that was just pushed in memory. */
  remember(entry: TailEntry): void {
    this.tail.push(entry);
  }

  /** Forgets the entries after `last`, whose link is `link`. Gives the bytes that left the memory. */
  truncateAfter(last: number, link: ChainLink, ledger: LiveLedger): number {
    let freed = 0;
    for (let index = this.lastIndex; index > last && this.tail.length > this.tailHead; index--) {
      freed += tailBytes(this.tail.pop()!);
    }
    this.index.cutAfter(last, ledger);
    while (this.runs.length > 0 && this.runs[this.runs.length - 1]!.first > last) this.runs.pop();
    this.endLink = link;
    return freed;
  }

  /** Lets the log start after `base`. Gives the bytes that left the memory. */
  compactTo(base: LogBase, place: RecordPlace, ledger: LiveLedger): number {
    const freed = this.forgetUpTo(base.index);
    this.index.cutUpTo(base.index, ledger);
    let covered = 0;
    while (covered + 1 < this.runs.length && this.runs[covered + 1]!.first <= base.index + 1) covered++;
    if (covered > 0) this.runs.splice(0, covered);
    if (this.index.last <= base.index) this.endLink = base.link;
    if (this.index.last === base.index) this.runs = [];
    this.setBase(base, place, ledger);
    return freed;
  }

  /** Empties the log, which goes on after `base`. Gives the bytes that left the memory. */
  reset(base: LogBase, place: RecordPlace, ledger: LiveLedger): number {
    const freed = this.forgetUpTo(this.lastIndex);
    this.index.cutAfter(this.index.first - 1, ledger);
    this.index = new PositionIndex(base.index + 1);
    this.runs = [];
    this.endLink = base.link;
    this.setBase(base, place, ledger);
    return freed;
  }

  setHardState(state: HardState, place: RecordPlace, ledger: LiveLedger): void {
    replacePlace(this.hardStatePlace, place, ledger);
    this.currentHardState = state;
    this.hardStatePlace = place;
  }

  /** Forgets everything. Gives the bytes that left the memory. */
  drop(ledger: LiveLedger): number {
    const freed = this.reset(EMPTY_BASE, NOWHERE, ledger);
    replacePlace(this.hardStatePlace, NOWHERE, ledger);
    this.currentHardState = undefined;
    this.hardStatePlace = NOWHERE;
    return freed;
  }

  get baseSegment(): number {
    return this.basePlace.segment;
  }

  get hardStateSegment(): number {
    return this.hardStatePlace.segment;
  }

  /** Bytes of the hard state's record. */
  get hardStateLength(): number {
    return this.hardStatePlace.length;
  }

  /** An entry that is in memory. */
  remembered(index: number): TailEntry | undefined {
    const slot = this.tail.length - 1 - (this.lastIndex - index);
    return slot >= this.tailHead ? this.tail[slot] : undefined;
  }

  /** Lets the entries up to `index` leave the memory; gives their bytes. */
  forgetUpTo(index: number): number {
    let freed = 0;
    const oldest = this.lastIndex - (this.tail.length - this.tailHead) + 1;
    const count = Math.min(this.tail.length - this.tailHead, index - oldest + 1);
    for (let i = 0; i < count; i++) {
      freed += tailBytes(this.tail[this.tailHead]!);
      this.tail[this.tailHead++] = FORGOTTEN;
    }
    if (this.tailHead > 0 && this.tailHead * 2 >= this.tail.length) {
      this.tail = this.tail.slice(this.tailHead);
      this.tailHead = 0;
    }
    return freed;
  }

  /** Tells a ledger all that this group needs. */
  report(ledger: LiveLedger): void {
    this.index.report(ledger);
    replacePlace(NOWHERE, this.basePlace, ledger);
    replacePlace(NOWHERE, this.hardStatePlace, ledger);
  }

  private setBase(base: LogBase, place: RecordPlace, ledger: LiveLedger): void {
    replacePlace(this.basePlace, place, ledger);
    this.currentBase = base;
    this.basePlace = place;
  }
}

/** The weight of an entry in memory: an entry without a payload is not free. */
export function tailBytes(entry: TailEntry): number {
  return entry.payload.length + TAIL_ENTRY_OVERHEAD_BYTES;
}

const TAIL_ENTRY_OVERHEAD_BYTES = 96;

const FORGOTTEN: TailEntry = { term: 0, type: 0, previousHash: 0, hash: 0, payload: new Uint8Array(0) };

function replacePlace(before: RecordPlace, after: RecordPlace, ledger: LiveLedger): void {
  if (before.segment !== 0) ledger.add(before.segment, -before.length);
  if (after.segment !== 0) ledger.add(after.segment, after.length);
}
