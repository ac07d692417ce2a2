import { ZERO_HASH } from './format.js';
import { type LiveLedger, PositionIndex } from './position-index.js';
import type { HardState } from './types.js';

/** What the log starts after. */
export type LogBase = { readonly index: number; readonly term: number; readonly hash: string };

export const EMPTY_BASE: LogBase = { index: 0, term: 0, hash: ZERO_HASH };

/** Where a single record lies; segment 0 for nowhere. */
export type RecordPlace = { readonly segment: number; readonly length: number };

const NOWHERE: RecordPlace = { segment: 0, length: 0 };

/** An entry that is kept in memory. */
export type TailEntry = { readonly term: number; readonly type: number; readonly payload: Uint8Array };

/**
 * What is durable of one group: its base, the places and terms of its entries, its hard state, and the entries that
 * are still in memory. It knows nothing of files.
 */
export class GroupLog {
  readonly id: number;
  #base: LogBase = EMPTY_BASE;
  #basePlace: RecordPlace = NOWHERE;
  #hardState: HardState | undefined;
  #hardStatePlace: RecordPlace = NOWHERE;
  #lastHash = ZERO_HASH;
  /** Runs of equal terms, by the index of their first entry. Both rise: 0 <= #runs[i].first < #runs[i + 1].first. */
  #runs: { first: number; term: number }[] = [];
  #positions = new PositionIndex(1);
  /** The newest entries, up to `lastIndex`; older ones are read from the disk. */
  #tail: TailEntry[] = [];
  #tailHead = 0;

  constructor(id: number) {
    this.id = id;
  }

  get base(): LogBase {
    return this.#base;
  }

  get hardState(): HardState | undefined {
    return this.#hardState;
  }

  get firstIndex(): number {
    return this.#base.index + 1;
  }

  get lastIndex(): number {
    return this.#positions.last;
  }

  get lastTerm(): number {
    return this.#runs.at(-1)?.term ?? this.#base.term;
  }

  get lastHash(): string {
    return this.#lastHash;
  }

  get positions(): PositionIndex {
    return this.#positions;
  }

  /** Something of this group is on the disk. */
  get exists(): boolean {
    return this.#hardState !== undefined || this.#base.index > 0 || this.lastIndex > 0;
  }

  /** The term of an entry or of the base. */
  term(index: number): number | undefined {
    if (index === this.#base.index) return this.#base.term;
    if (index < this.firstIndex || index > this.lastIndex) return undefined;
    let low = 0;
    for (let high = this.#runs.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if (this.#runs[middle]!.first <= index) low = middle;
      else high = middle - 1;
    }
    return this.#runs[low]!.term;
  }

  /** The entry after the last. `hash` is its own chain hash. */
  push(
    term: number,
    hash: string,
    segment: number,
    position: number,
    length: number,
    ledger: LiveLedger,
  ): void {
    if (this.#runs.length === 0 || term !== this.#runs[this.#runs.length - 1]!.term) {
      this.#runs.push({ first: this.lastIndex + 1, term });
    }
    this.#positions.push(segment, position, length);
    this.#lastHash = hash;
    ledger.add(segment, length);
  }

  /** Keeps the entry that was just pushed in memory. */
  remember(entry: TailEntry): void {
    this.#tail.push(entry);
  }

  /** Forgets the entries after `last`, whose chain hash is `hash`. Gives the bytes that left the memory. */
  truncateAfter(last: number, hash: string, ledger: LiveLedger): number {
    let freed = 0;
    for (let index = this.lastIndex; index > last && this.#tail.length > this.#tailHead; index--) {
      freed += tailBytes(this.#tail.pop()!);
    }
    this.#positions.cutAfter(last, ledger);
    while (this.#runs.length > 0 && this.#runs[this.#runs.length - 1]!.first > last) this.#runs.pop();
    this.#lastHash = hash;
    return freed;
  }

  /** Lets the log start after `base`. Gives the bytes that left the memory. */
  compactTo(base: LogBase, place: RecordPlace, ledger: LiveLedger): number {
    const freed = this.forgetUpTo(base.index);
    this.#positions.cutUpTo(base.index, ledger);
    let covered = 0;
    while (covered + 1 < this.#runs.length && this.#runs[covered + 1]!.first <= base.index + 1) covered++;
    if (covered > 0) this.#runs.splice(0, covered);
    if (this.#positions.last <= base.index) this.#lastHash = base.hash;
    if (this.#positions.last === base.index) this.#runs = [];
    this.#setBase(base, place, ledger);
    return freed;
  }

  /** Empties the log, which goes on after `base`. Gives the bytes that left the memory. */
  reset(base: LogBase, place: RecordPlace, ledger: LiveLedger): number {
    const freed = this.forgetUpTo(this.lastIndex);
    this.#positions.cutAfter(this.#positions.first - 1, ledger);
    this.#positions = new PositionIndex(base.index + 1);
    this.#runs = [];
    this.#lastHash = base.hash;
    this.#setBase(base, place, ledger);
    return freed;
  }

  setHardState(state: HardState, place: RecordPlace, ledger: LiveLedger): void {
    replacePlace(this.#hardStatePlace, place, ledger);
    this.#hardState = state;
    this.#hardStatePlace = place;
  }

  /** Forgets everything. Gives the bytes that left the memory. */
  drop(ledger: LiveLedger): number {
    const freed = this.reset(EMPTY_BASE, NOWHERE, ledger);
    replacePlace(this.#hardStatePlace, NOWHERE, ledger);
    this.#hardState = undefined;
    this.#hardStatePlace = NOWHERE;
    return freed;
  }

  get baseSegment(): number {
    return this.#basePlace.segment;
  }

  get hardStateSegment(): number {
    return this.#hardStatePlace.segment;
  }

  /** An entry that is in memory. */
  remembered(index: number): TailEntry | undefined {
    const slot = this.#tail.length - 1 - (this.lastIndex - index);
    return slot >= this.#tailHead ? this.#tail[slot] : undefined;
  }

  /** Lets the entries up to `index` leave the memory; gives their bytes. */
  forgetUpTo(index: number): number {
    let freed = 0;
    const oldest = this.lastIndex - (this.#tail.length - this.#tailHead) + 1;
    const count = Math.min(this.#tail.length - this.#tailHead, index - oldest + 1);
    for (let i = 0; i < count; i++) {
      freed += tailBytes(this.#tail[this.#tailHead]!);
      this.#tail[this.#tailHead++] = FORGOTTEN;
    }
    if (this.#tailHead > 0 && this.#tailHead * 2 >= this.#tail.length) {
      this.#tail = this.#tail.slice(this.#tailHead);
      this.#tailHead = 0;
    }
    return freed;
  }

  /** Tells a ledger all that this group needs. */
  report(ledger: LiveLedger): void {
    this.#positions.report(ledger);
    replacePlace(NOWHERE, this.#basePlace, ledger);
    replacePlace(NOWHERE, this.#hardStatePlace, ledger);
  }

  #setBase(base: LogBase, place: RecordPlace, ledger: LiveLedger): void {
    replacePlace(this.#basePlace, place, ledger);
    this.#base = base;
    this.#basePlace = place;
  }
}

/** What an entry in memory counts for: an entry without a payload is not free. */
export function tailBytes(entry: TailEntry): number {
  return entry.payload.length + TAIL_ENTRY_OVERHEAD_BYTES;
}

const TAIL_ENTRY_OVERHEAD_BYTES = 96;

const FORGOTTEN: TailEntry = { term: 0, type: 0, payload: new Uint8Array(0) };

function replacePlace(before: RecordPlace, after: RecordPlace, ledger: LiveLedger): void {
  if (before.segment !== 0) ledger.add(before.segment, -before.length);
  if (after.segment !== 0) ledger.add(after.segment, after.length);
}
