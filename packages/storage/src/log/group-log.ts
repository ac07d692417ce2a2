import { CHAIN_ROOT, type ChainLink } from './format.js';
import { type LiveLedger, PositionIndex } from './position-index.js';
import type { HardState } from './types.js';

/** The entry that the log starts after. */
export type LogBase = { readonly index: number; readonly term: number; readonly link: ChainLink };

export const EMPTY_BASE: LogBase = { index: 0, term: 0, link: CHAIN_ROOT };

/** The place of a single record; segment 0 for nowhere. */
export type RecordPlace = { readonly segment: number; readonly length: number };

const NOWHERE: RecordPlace = { segment: 0, length: 0 };

/**
 * The durable log of one group: its base, the places and terms of its entries, and its hard state. It knows nothing
 * of files.
 */
export class GroupLog {
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

  constructor(readonly id: number) {}

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

  /** The link of the last entry, or of the base. */
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

  /** Forgets the entries after `last`, whose link is `link`. */
  truncateAfter(last: number, link: ChainLink, ledger: LiveLedger): void {
    this.index.cutAfter(last, ledger);
    while (this.runs.length > 0 && this.runs[this.runs.length - 1]!.first > last) this.runs.pop();
    this.endLink = link;
  }

  /** Lets the log start after `base`. */
  compactTo(base: LogBase, place: RecordPlace, ledger: LiveLedger): void {
    this.index.cutUpTo(base.index, ledger);
    let covered = 0;
    while (covered + 1 < this.runs.length && this.runs[covered + 1]!.first <= base.index + 1) covered++;
    if (covered > 0) this.runs.splice(0, covered);
    if (this.index.last <= base.index) this.endLink = base.link;
    if (this.index.last === base.index) this.runs = [];
    this.setBase(base, place, ledger);
  }

  /** Empties the log, which goes on after `base`. */
  reset(base: LogBase, place: RecordPlace, ledger: LiveLedger): void {
    this.index.cutAfter(this.index.first - 1, ledger);
    this.index = new PositionIndex(base.index + 1);
    this.runs = [];
    this.endLink = base.link;
    this.setBase(base, place, ledger);
  }

  setHardState(state: HardState, place: RecordPlace, ledger: LiveLedger): void {
    replacePlace(this.hardStatePlace, place, ledger);
    this.currentHardState = state;
    this.hardStatePlace = place;
  }

  /** Forgets everything. */
  drop(ledger: LiveLedger): void {
    this.reset(EMPTY_BASE, NOWHERE, ledger);
    replacePlace(this.hardStatePlace, NOWHERE, ledger);
    this.currentHardState = undefined;
    this.hardStatePlace = NOWHERE;
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

function replacePlace(before: RecordPlace, after: RecordPlace, ledger: LiveLedger): void {
  if (before.segment !== 0) ledger.add(before.segment, -before.length);
  if (after.segment !== 0) ledger.add(after.segment, after.length);
}
