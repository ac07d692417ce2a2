/**
 * The log as the core sees it: the host's durable part, read through {@link LogView}, and in front of it a
 * *tail* in memory. The tail holds every entry that is not yet durable or not yet handed out for applying, so
 * that on the usual path (propose, write, commit, apply) nothing is read back.
 *
 *     border        stable      handed              last
 *       |  in the view |  being    | not yet handed   |
 *       |              |  written  | out for writing  |
 *     first = border + 1           applied <= applying <= commit <= last,  applying <= stable
 */
import { ApplyWindow } from './applywindow.js';
import { assert } from './assert.js';
import type { LogView } from './hostlog.js';
import { type Entry, entryBytes, type HardState, type Index, type SnapshotMeta, type Term } from './types.js';

export class RaftLog {
  /** The entry before the first available one. */
  private borderIndex: Index;
  private borderTerm: Term;
  private borderHash: number;
  private endIndex: Index;
  private endTerm: Term;
  private endHash: number;
  /** Entries `tailFirst..last` are `tail[#head..]`. */
  private tail: Entry[] = [];
  private head = 0;
  private tailFirst: Index;
  private bytesInTail = 0;
  private handedIndex: Index;
  private stableIndex: Index;
  private commitIndex: Index;
  private applyingIndex: Index;
  private appliedIndex: Index;
  private readonly beingApplied = new ApplyWindow();
  /**
   * Entries from here on were added in this process's life, so that their sizes are known without reading
   * them.
   */
  private readonly countedFrom: Index;
  private bytesUnapplied = 0;
  /** A snapshot that replaced the log and is yet to be handed out for installing. */
  private snapshotToWrite: SnapshotMeta | null = null;
  /** Index of the snapshot that the state machine is being switched to, 0 if none. */
  private installingIndex: Index = 0;
  /** Indexes of `change` entries that are not committed, ascending. */
  private readonly changes: Index[] = [];

  /**
   * `lossy`: entries that were there once may be missing at the end, and the commit index may speak of them.
   */
  constructor(
    private readonly view: LogView,
    hardState: HardState,
    applied: Index,
    lossy: boolean,
  ) {
    const border = view.firstIndex() - 1;
    const last = view.lastIndex();
    assert(border >= 0 && last >= border, 'The log view ends before it begins', border, last);
    assert(
      applied >= border,
      'The log begins after what was applied: entries between are missing',
      applied,
      border,
    );
    assert(applied <= last, 'More was applied than the log holds', applied, last);
    assert(hardState.commit <= last || lossy, 'More is committed than the log holds', hardState.commit, last);
    this.borderIndex = border;
    this.borderTerm = view.term(border);
    this.borderHash = view.hash(border);
    this.endIndex = last;
    this.endTerm = view.term(last);
    this.endHash = view.hash(last);
    this.tailFirst = last + 1;
    this.countedFrom = last + 1;
    this.handedIndex = last;
    this.stableIndex = last;
    this.commitIndex = Math.max(Math.min(hardState.commit, last), applied);
    this.applyingIndex = applied;
    this.appliedIndex = applied;
    assert(this.endTerm >= this.borderTerm, 'Terms go back in the log view', this.borderTerm, this.endTerm);
    this.findChanges(applied);
  }

  /** The first index whose entry is available. */
  get first(): Index {
    return this.borderIndex + 1;
  }

  get last(): Index {
    return this.endIndex;
  }

  get lastTerm(): Term {
    return this.endTerm;
  }

  get lastHash(): number {
    return this.endHash;
  }

  /** Everything up to here is durable. */
  get stable(): Index {
    return this.stableIndex;
  }

  /** Everything up to here was handed out for writing. */
  get handed(): Index {
    return this.handedIndex;
  }

  get commit(): Index {
    return this.commitIndex;
  }

  get applied(): Index {
    return this.appliedIndex;
  }

  /** The last index that was handed out for applying. */
  get applying(): Index {
    return this.applyingIndex;
  }

  /** Index of the snapshot that the host is installing, 0 if none. */
  get installing(): Index {
    return this.installingIndex;
  }

  /** Bytes of the entries kept in memory. */
  get tailBytes(): number {
    return this.bytesInTail;
  }

  /** Bytes of the entries that are not applied, as far as they were added in this process's life. */
  get unappliedBytes(): number {
    return this.bytesUnapplied;
  }

  /** Index of the first membership change that is not committed, 0 if there is none. */
  get firstPendingChange(): Index {
    return this.changes[0] ?? 0;
  }

  /** True if a membership change is committed and not yet taken by {@link shiftChange}. */
  get hasCommittedChange(): boolean {
    return this.changes.length > 0 && this.changes[0]! <= this.commitIndex;
  }

  /** Term of the entry at `index`; -1 if it is compacted or not there. */
  termAt(index: Index): Term {
    if (index === this.endIndex) return this.endTerm;
    if (index === this.borderIndex) return this.borderTerm;
    if (index < this.borderIndex || index > this.endIndex) return -1;
    return index >= this.tailFirst ? this.tailEntry(index).term : this.view.term(index);
  }

  /** Chain hash of the entry at `index`, which must be available. */
  hashAt(index: Index): number {
    if (index === this.endIndex) return this.endHash;
    if (index === this.borderIndex) return this.borderHash;
    assert(index > this.borderIndex && index < this.endIndex, 'Hash of an entry that is not there', index);
    return index >= this.tailFirst ? this.tailEntry(index).hash : this.view.hash(index);
  }

  /** True if the log has an entry with this index and term. */
  matches(index: Index, term: Term): boolean {
    return this.termAt(index) === term;
  }

  /**
   * True if a log that ends with (`index`, `term`) holds at least as much as this one (Raft paper, section
   * 5.4.1).
   */
  isUpToDate(index: Index, term: Term): boolean {
    return term > this.endTerm || (term === this.endTerm && index >= this.endIndex);
  }

  /**
   * The highest index up to `index` whose term is at most `term`: where a log that has `term` at `index` may
   * agree with this one. Stops at the border, whose entry is committed and so agrees in any case.
   */
  lastIndexWithTermUpTo(index: Index, term: Term): { readonly index: Index; readonly term: Term } {
    let at = Math.min(index, this.endIndex);
    while (at > this.borderIndex && this.termAt(at) > term) at -= 1;
    return { index: at, term: Math.max(this.termAt(at), 0) };
  }

  /** Adds the entry behind the last one. */
  push(entry: Entry): void {
    assert(entry.index === this.endIndex + 1, 'Gap in the log', entry.index, this.endIndex);
    assert(entry.term >= this.endTerm, 'Terms go back in the log', entry.term, this.endTerm);
    const bytes = entryBytes(entry);
    this.tail.push(entry);
    this.bytesInTail += bytes;
    this.bytesUnapplied += bytes;
    this.endIndex = entry.index;
    this.endTerm = entry.term;
    this.endHash = entry.hash;
    if (entry.kind === 'change') this.changes.push(entry.index);
  }

  /** Removes the entries from `index` on. Committed entries are never removed. */
  truncateFrom(index: Index): void {
    assert(index > this.commitIndex, 'A committed entry is to be overwritten', index, this.commitIndex);
    assert(
      index > this.borderIndex && index <= this.endIndex,
      'Truncation outside the log',
      index,
      this.endIndex,
    );
    const term = this.termAt(index - 1);
    const hash = this.hashAt(index - 1);
    const keep = Math.max(this.head + index - this.tailFirst, this.head);
    for (let at = keep; at < this.tail.length; at += 1) {
      const bytes = entryBytes(this.tail[at]!);
      this.bytesInTail -= bytes;
      this.bytesUnapplied = Math.max(this.bytesUnapplied - bytes, 0);
    }
    this.tail.length = keep;
    this.tailFirst = Math.min(this.tailFirst, index);
    this.endIndex = index - 1;
    this.endTerm = term;
    this.endHash = hash;
    this.handedIndex = Math.min(this.handedIndex, index - 1);
    this.stableIndex = Math.min(this.stableIndex, index - 1);
    while (this.changes.length > 0 && this.changes[this.changes.length - 1]! >= index) this.changes.pop();
  }

  /** Raises the commit index; it never falls. */
  commitTo(index: Index): void {
    assert(index <= this.endIndex, 'Commit beyond the log', index, this.endIndex);
    assert(index >= this.commitIndex, 'The commit index falls', index, this.commitIndex);
    this.commitIndex = index;
  }

  /** Takes the first pending change off the list, once it is committed. */
  shiftChange(): Entry {
    const index = this.changes.shift();
    assert(index !== undefined && index <= this.commitIndex, 'No committed change to take');
    const entry = this.slice(index, 0, 1)[0];
    assert(entry !== undefined && entry.kind === 'change', 'A membership change is not in memory', index);
    return entry;
  }

  /**
   * Entries from `low` on: at least one, and as many as fit in `maxBytes` and `maxEntries`. Empty if the host
   * has them not in memory.
   */
  slice(low: Index, maxBytes: number, maxEntries: number): readonly Entry[] {
    assert(low > this.borderIndex, 'Read before the first entry', low, this.borderIndex);
    assert(low <= this.endIndex, 'Read behind the last entry', low, this.endIndex);
    const high = Math.min(this.endIndex + 1, low + maxEntries);
    if (low < this.tailFirst) return this.sliceView(low, Math.min(high, this.tailFirst), maxBytes);
    const start = this.head + low - this.tailFirst;
    const end = this.head + high - this.tailFirst;
    let bytes = entryBytes(this.tail[start]!);
    let stop = start + 1;
    while (stop < end && (bytes += entryBytes(this.tail[stop]!)) <= maxBytes) stop += 1;
    return this.tail.slice(start, stop);
  }

  hasUnwritten(): boolean {
    return this.handedIndex < this.endIndex || this.snapshotToWrite !== null;
  }

  /**
   * Hands out what is to be written next: a snapshot that replaces the log, and the entries not yet handed
   * out.
   */
  takeUnwritten(): { readonly snapshot: SnapshotMeta | null; readonly entries: readonly Entry[] } {
    const snapshot = this.snapshotToWrite;
    const start = this.head + this.handedIndex + 1 - this.tailFirst;
    assert(start >= this.head, 'Entries to write are not in the tail', this.handedIndex, this.tailFirst);
    const entries = this.handedIndex < this.endIndex ? this.tail.slice(start) : NO_ENTRIES;
    this.snapshotToWrite = null;
    this.handedIndex = this.endIndex;
    return { snapshot, entries };
  }

  /** Notes that the log is durable up to `index`. */
  stableTo(index: Index): void {
    assert(
      index <= this.handedIndex,
      'An acknowledgement for what was not handed out',
      index,
      this.handedIndex,
    );
    if (index > this.stableIndex) this.stableIndex = index;
  }

  /** True if there are committed entries to apply, up to `limit`. */
  hasCommitted(maxBytes: number, limit: Index): boolean {
    if (this.installingIndex !== 0 || this.beingApplied.bytes >= maxBytes) return false;
    return this.applyingIndex < Math.min(this.commitIndex, this.stableIndex, limit);
  }

  /**
   * Hands out committed entries up to `limit`, so that at most about `maxBytes` are outstanding. Only durable
   * entries: what was applied must never be missing from the log after a restart.
   */
  takeCommitted(maxBytes: number, limit: Index): readonly Entry[] {
    if (!this.hasCommitted(maxBytes, limit)) return NO_ENTRIES;
    const high = Math.min(this.commitIndex, this.stableIndex, limit);
    const low = this.applyingIndex + 1;
    const entries = this.slice(low, maxBytes - this.beingApplied.bytes, high - this.applyingIndex);
    const last = entries[entries.length - 1];
    assert(last !== undefined, 'Entries that are yet to be applied must be at hand in the log view', low);
    assert(
      entries[0]!.index === low && last.index <= high,
      'Committed entries out of order',
      low,
      last.index,
    );
    this.applyingIndex = last.index;
    this.beingApplied.add(entries, this.countedFrom);
    return entries;
  }

  /** Notes that the state machine has applied everything up to `index`. */
  appliedTo(index: Index): void {
    assert(index >= this.appliedIndex, 'The applied index falls', index, this.appliedIndex);
    assert(index <= this.applyingIndex, 'Applied what was not handed out', index, this.applyingIndex);
    this.appliedIndex = index;
    this.bytesUnapplied = Math.max(this.bytesUnapplied - this.beingApplied.appliedTo(index), 0);
    if (index === this.endIndex) this.bytesUnapplied = 0;
  }

  /** Forgets entries of the tail that are durable and handed out; beyond `maxBytes`, all that are durable. */
  trim(maxBytes: number): void {
    const limit =
      this.bytesInTail > maxBytes ? this.stableIndex : Math.min(this.stableIndex, this.applyingIndex);
    if (limit < this.tailFirst) return;
    const count = limit + 1 - this.tailFirst;
    if (count === this.tail.length - this.head) {
      this.tail = [];
      this.head = 0;
      this.bytesInTail = 0;
    } else {
      for (let at = this.head; at < this.head + count; at += 1)
        this.bytesInTail -= entryBytes(this.tail[at]!);
      this.head += count;
      if (this.head > 64 && this.head * 2 > this.tail.length) {
        this.tail = this.tail.slice(this.head);
        this.head = 0;
      }
    }
    this.tailFirst = limit + 1;
  }

  /** Notes that the host removed the entries up to `index` from its part of the log. */
  compactedTo(index: Index): void {
    if (index <= this.borderIndex) return;
    assert(
      index <= this.appliedIndex && index <= this.stableIndex,
      'Compaction of what is still needed',
      index,
      this.appliedIndex,
    );
    const term = this.termAt(index);
    const hash = this.hashAt(index);
    this.borderIndex = index;
    this.borderTerm = term;
    this.borderHash = hash;
  }

  /** Replaces the log by a snapshot. */
  restore(snapshot: SnapshotMeta): void {
    const { index } = snapshot;
    this.borderIndex = index;
    this.borderTerm = snapshot.term;
    this.borderHash = snapshot.hash;
    this.endIndex = index;
    this.endTerm = snapshot.term;
    this.endHash = snapshot.hash;
    this.tail = [];
    this.head = 0;
    this.bytesInTail = 0;
    this.bytesUnapplied = 0;
    this.tailFirst = index + 1;
    this.handedIndex = index;
    this.stableIndex = 0;
    this.commitIndex = index;
    this.applyingIndex = index;
    this.snapshotToWrite = snapshot;
    this.installingIndex = snapshot.index;
    this.changes.length = 0;
  }

  /** Notes that the state machine is now at the snapshot with `index`. */
  installedTo(index: Index): void {
    assert(
      this.installingIndex !== 0 && index <= this.installingIndex,
      'No such snapshot is being installed',
      index,
    );
    if (index < this.installingIndex) return;
    this.installingIndex = 0;
    this.appliedTo(this.applyingIndex);
  }

  /** The invariants that hold between any two calls (I5). */
  check(): void {
    const { appliedIndex: applied, applyingIndex: applying, commitIndex: commit, endIndex: last } = this;
    assert(applied <= applying, 'applied <= applying', applied, applying);
    assert(applying <= commit, 'applying <= commit', applying, commit);
    assert(commit <= last, 'commit <= last', commit, last);
    assert(this.handedIndex <= last, 'handed <= last', this.handedIndex, last);
    assert(this.stableIndex <= this.handedIndex, 'stable <= handed', this.stableIndex, this.handedIndex);
    assert(this.borderIndex <= commit, 'border <= commit', this.borderIndex, commit);
    const inTail = this.tail.length - this.head;
    assert(this.tailFirst + inTail === last + 1, 'The tail ends with the last entry', inTail);
  }

  private tailEntry(index: Index): Entry {
    return this.tail[this.head + index - this.tailFirst]!;
  }

  private sliceView(low: Index, high: Index, maxBytes: number): readonly Entry[] {
    const entries = this.view.entries(low, high, maxBytes);
    assert(
      entries.length <= high - low,
      'The log view gave more than was asked for',
      entries.length,
      high - low,
    );
    assert(entries.length === 0 || entries[0]!.index === low, 'The log view gave other entries', low);
    return entries;
  }

  private findChanges(from: Index): void {
    for (let at = from + 1; at <= this.endIndex; ) {
      const entries = this.view.entries(at, this.endIndex + 1, SCAN_BYTES);
      assert(entries.length > 0, 'The log view must have unapplied entries at hand when a node starts', at);
      for (const entry of entries) {
        if (entry.kind === 'change') this.changes.push(entry.index);
      }
      at += entries.length;
    }
  }
}

const NO_ENTRIES: readonly Entry[] = Object.freeze([]);
const SCAN_BYTES = 1 << 20;
