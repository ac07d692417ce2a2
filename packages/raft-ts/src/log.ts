/**
 * The log as the core sees it: the host's durable part, read through {@link LogView}, and in front of it a *tail* in
 * memory. The tail holds every entry that is not yet durable or not yet handed out for applying, so that on the usual
 * path (propose, write, commit, apply) nothing is read back.
 *
 *     border        stable      handed              last
 *       |  in the view |  being    | not yet handed   |
 *       |              |  written  | out for writing  |
 *     first = border + 1           applied <= applying <= commit <= last,  applying <= stable
 */
import { assert } from './assert.js';
import type { LogView } from './hostlog.js';
import { type Entry, entryBytes, type HardState, type Index, type SnapshotMeta, type Term } from './types.js';

/** A batch that was handed out for applying and not yet reported as applied. */
interface ApplyBatch {
  readonly last: Index;
  readonly bytes: number;
  /** The part of `bytes` that `unappliedBytes` holds. */
  readonly counted: number;
}

export class RaftLog {
  readonly #view: LogView;
  /** The entry before the first available one. */
  #borderIndex: Index;
  #borderTerm: Term;
  #borderHash: number;
  #lastIndex: Index;
  #lastTerm: Term;
  #lastHash: number;
  /** Entries `tailFirst..last` are `#tail[#head..]`. */
  #tail: Entry[] = [];
  #head = 0;
  #tailFirst: Index;
  #tailBytes = 0;
  #handed: Index;
  #stable: Index;
  #commit: Index;
  #applying: Index;
  #applied: Index;
  #applyBatches: ApplyBatch[] = [];
  #applyBytes = 0;
  /** Entries from here on were added in this process's life, so that their sizes are known without reading them. */
  readonly #countedFrom: Index;
  #unappliedBytes = 0;
  /** A snapshot that replaced the log and is yet to be handed out for installing. */
  #snapshotToWrite: SnapshotMeta | null = null;
  /** Index of the snapshot that the state machine is being switched to, 0 if none. */
  #installing: Index = 0;
  /** Indexes of `change` entries that are not committed, ascending. */
  readonly #changes: Index[] = [];

  /** `lossy`: entries that were there once may be missing at the end, and the commit index may speak of them. */
  constructor(view: LogView, hardState: HardState, applied: Index, lossy: boolean) {
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
    this.#view = view;
    this.#borderIndex = border;
    this.#borderTerm = view.term(border);
    this.#borderHash = view.hash(border);
    this.#lastIndex = last;
    this.#lastTerm = view.term(last);
    this.#lastHash = view.hash(last);
    this.#tailFirst = last + 1;
    this.#countedFrom = last + 1;
    this.#handed = last;
    this.#stable = last;
    this.#commit = Math.max(Math.min(hardState.commit, last), applied);
    this.#applying = applied;
    this.#applied = applied;
    assert(
      this.#lastTerm >= this.#borderTerm,
      'Terms go back in the log view',
      this.#borderTerm,
      this.#lastTerm,
    );
    this.#findChanges(applied);
  }

  /** The first index whose entry is available. */
  get first(): Index {
    return this.#borderIndex + 1;
  }

  get last(): Index {
    return this.#lastIndex;
  }

  get lastTerm(): Term {
    return this.#lastTerm;
  }

  get lastHash(): number {
    return this.#lastHash;
  }

  /** Everything up to here is durable. */
  get stable(): Index {
    return this.#stable;
  }

  /** Everything up to here was handed out for writing. */
  get handed(): Index {
    return this.#handed;
  }

  get commit(): Index {
    return this.#commit;
  }

  get applied(): Index {
    return this.#applied;
  }

  /** The last index that was handed out for applying. */
  get applying(): Index {
    return this.#applying;
  }

  /** Index of the snapshot that the host is installing, 0 if none. */
  get installing(): Index {
    return this.#installing;
  }

  /** Bytes of the entries kept in memory. */
  get tailBytes(): number {
    return this.#tailBytes;
  }

  /** Bytes handed out for applying and not yet reported as applied. */
  get applyBytes(): number {
    return this.#applyBytes;
  }

  /** Bytes of the entries that are not applied, as far as they were added in this process's life. */
  get unappliedBytes(): number {
    return this.#unappliedBytes;
  }

  /** Index of the first membership change that is not committed, 0 if there is none. */
  get firstPendingChange(): Index {
    return this.#changes[0] ?? 0;
  }

  /** Whether a membership change is committed and not yet taken by {@link shiftChange}. */
  get hasCommittedChange(): boolean {
    return this.#changes.length > 0 && this.#changes[0]! <= this.#commit;
  }

  /** Term of the entry at `index`; -1 if it is compacted or not there. */
  termAt(index: Index): Term {
    if (index === this.#lastIndex) return this.#lastTerm;
    if (index === this.#borderIndex) return this.#borderTerm;
    if (index < this.#borderIndex || index > this.#lastIndex) return -1;
    return index >= this.#tailFirst ? this.#tailEntry(index).term : this.#view.term(index);
  }

  /** Chain hash of the entry at `index`, which must be available. */
  hashAt(index: Index): number {
    if (index === this.#lastIndex) return this.#lastHash;
    if (index === this.#borderIndex) return this.#borderHash;
    assert(index > this.#borderIndex && index < this.#lastIndex, 'Hash of an entry that is not there', index);
    return index >= this.#tailFirst ? this.#tailEntry(index).hash : this.#view.hash(index);
  }

  /** Whether the log has an entry with this index and term. */
  matches(index: Index, term: Term): boolean {
    return this.termAt(index) === term;
  }

  /** Whether a log that ends with (`index`, `term`) holds at least as much as this one (Raft paper, section 5.4.1). */
  isUpToDate(index: Index, term: Term): boolean {
    return term > this.#lastTerm || (term === this.#lastTerm && index >= this.#lastIndex);
  }

  /**
   * The highest index up to `index` whose term is at most `term`: where a log that has `term` at `index` may agree with
   * this one. Stops at the border, whose entry is committed and so agrees in any case.
   */
  lastIndexWithTermUpTo(index: Index, term: Term): { readonly index: Index; readonly term: Term } {
    let at = Math.min(index, this.#lastIndex);
    while (at > this.#borderIndex && this.termAt(at) > term) at -= 1;
    return { index: at, term: Math.max(this.termAt(at), 0) };
  }

  /** Adds the entry behind the last one. */
  push(entry: Entry): void {
    assert(entry.index === this.#lastIndex + 1, 'Gap in the log', entry.index, this.#lastIndex);
    assert(entry.term >= this.#lastTerm, 'Terms go back in the log', entry.term, this.#lastTerm);
    const bytes = entryBytes(entry);
    this.#tail.push(entry);
    this.#tailBytes += bytes;
    this.#unappliedBytes += bytes;
    this.#lastIndex = entry.index;
    this.#lastTerm = entry.term;
    this.#lastHash = entry.hash;
    if (entry.kind === 'change') this.#changes.push(entry.index);
  }

  /** Removes the entries from `index` on. Committed entries are never removed (`planted` is for the planted bug alone). */
  truncateFrom(index: Index, planted: boolean): void {
    assert(index > this.#commit || planted, 'A committed entry is to be overwritten', index, this.#commit);
    assert(
      index > this.#borderIndex && index <= this.#lastIndex,
      'Truncation outside the log',
      index,
      this.#lastIndex,
    );
    const term = this.termAt(index - 1);
    const hash = this.hashAt(index - 1);
    const keep = Math.max(this.#head + index - this.#tailFirst, this.#head);
    for (let at = keep; at < this.#tail.length; at += 1) {
      const bytes = entryBytes(this.#tail[at]!);
      this.#tailBytes -= bytes;
      this.#unappliedBytes = Math.max(this.#unappliedBytes - bytes, 0);
    }
    this.#tail.length = keep;
    this.#tailFirst = Math.min(this.#tailFirst, index);
    this.#lastIndex = index - 1;
    this.#lastTerm = term;
    this.#lastHash = hash;
    this.#handed = Math.min(this.#handed, index - 1);
    this.#stable = Math.min(this.#stable, index - 1);
    while (this.#changes.length > 0 && this.#changes[this.#changes.length - 1]! >= index) this.#changes.pop();
  }

  /** Raises the commit index; it never falls. */
  commitTo(index: Index): void {
    assert(index <= this.#lastIndex, 'Commit beyond the log', index, this.#lastIndex);
    assert(index >= this.#commit, 'The commit index falls', index, this.#commit);
    this.#commit = index;
  }

  /** Takes the first pending change off the list, once it is committed. */
  shiftChange(): Entry {
    const index = this.#changes.shift();
    assert(index !== undefined && index <= this.#commit, 'No committed change to take');
    const entry = this.slice(index, 0, 1)[0];
    assert(entry !== undefined && entry.kind === 'change', 'A membership change is not in memory', index);
    return entry;
  }

  /**
   * Entries from `low` on: at least one, and as many as fit in `maxBytes` and `maxEntries`. Empty if the host has them not
   * in memory.
   */
  slice(low: Index, maxBytes: number, maxEntries: number): readonly Entry[] {
    assert(low > this.#borderIndex, 'Read before the first entry', low, this.#borderIndex);
    assert(low <= this.#lastIndex, 'Read behind the last entry', low, this.#lastIndex);
    const high = Math.min(this.#lastIndex + 1, low + maxEntries);
    if (low < this.#tailFirst) return this.#sliceView(low, Math.min(high, this.#tailFirst), maxBytes);
    const start = this.#head + low - this.#tailFirst;
    const end = this.#head + high - this.#tailFirst;
    let bytes = entryBytes(this.#tail[start]!);
    let stop = start + 1;
    while (stop < end && (bytes += entryBytes(this.#tail[stop]!)) <= maxBytes) stop += 1;
    return this.#tail.slice(start, stop);
  }

  hasUnwritten(): boolean {
    return this.#handed < this.#lastIndex || this.#snapshotToWrite !== null;
  }

  /** Hands out what is to be written next: a snapshot that replaces the log, and the entries not yet handed out. */
  takeUnwritten(): { readonly snapshot: SnapshotMeta | null; readonly entries: readonly Entry[] } {
    const snapshot = this.#snapshotToWrite;
    const start = this.#head + this.#handed + 1 - this.#tailFirst;
    assert(start >= this.#head, 'Entries to write are not in the tail', this.#handed, this.#tailFirst);
    const entries = this.#handed < this.#lastIndex ? this.#tail.slice(start) : NO_ENTRIES;
    this.#snapshotToWrite = null;
    this.#handed = this.#lastIndex;
    return { snapshot, entries };
  }

  /** Notes that the log is durable up to `index`. */
  stableTo(index: Index): void {
    assert(index <= this.#handed, 'An acknowledgement for what was not handed out', index, this.#handed);
    if (index > this.#stable) this.#stable = index;
  }

  /** Whether there are committed entries to apply, up to `limit`. */
  hasCommitted(maxBytes: number, limit: Index): boolean {
    if (this.#installing !== 0 || this.#applyBytes >= maxBytes) return false;
    return this.#applying < Math.min(this.#commit, this.#stable, limit);
  }

  /**
   * Hands out committed entries up to `limit`, so that at most about `maxBytes` are outstanding. Only durable entries: what
   * was applied must never be missing from the log after a restart.
   */
  takeCommitted(maxBytes: number, limit: Index): readonly Entry[] {
    if (!this.hasCommitted(maxBytes, limit)) return NO_ENTRIES;
    const high = Math.min(this.#commit, this.#stable, limit);
    const low = this.#applying + 1;
    const entries = this.slice(low, maxBytes - this.#applyBytes, high - this.#applying);
    const last = entries[entries.length - 1];
    assert(last !== undefined, 'Entries that are yet to be applied must be at hand in the log view', low);
    assert(
      entries[0]!.index === low && last.index <= high,
      'Committed entries out of order',
      low,
      last.index,
    );
    let bytes = 0;
    let counted = 0;
    for (const entry of entries) {
      bytes += entryBytes(entry);
      if (entry.index >= this.#countedFrom) counted += entryBytes(entry);
    }
    this.#applying = last.index;
    this.#applyBytes += bytes;
    this.#applyBatches.push({ last: last.index, bytes, counted });
    return entries;
  }

  /** Notes that the state machine has applied everything up to `index`. */
  appliedTo(index: Index): void {
    assert(index >= this.#applied, 'The applied index falls', index, this.#applied);
    assert(index <= this.#applying, 'Applied what was not handed out', index, this.#applying);
    this.#applied = index;
    let done = 0;
    while (done < this.#applyBatches.length && this.#applyBatches[done]!.last <= index) {
      const batch = this.#applyBatches[done]!;
      this.#applyBytes -= batch.bytes;
      this.#unappliedBytes = Math.max(this.#unappliedBytes - batch.counted, 0);
      done += 1;
    }
    if (done > 0) this.#applyBatches.splice(0, done);
    if (index === this.#lastIndex) this.#unappliedBytes = 0;
  }

  /** Forgets entries of the tail that are durable and handed out; beyond `maxBytes`, all that are durable. */
  trim(maxBytes: number): void {
    const limit = this.#tailBytes > maxBytes ? this.#stable : Math.min(this.#stable, this.#applying);
    if (limit < this.#tailFirst) return;
    const count = limit + 1 - this.#tailFirst;
    if (count === this.#tail.length - this.#head) {
      this.#tail = [];
      this.#head = 0;
      this.#tailBytes = 0;
    } else {
      for (let at = this.#head; at < this.#head + count; at += 1)
        this.#tailBytes -= entryBytes(this.#tail[at]!);
      this.#head += count;
      if (this.#head > 64 && this.#head * 2 > this.#tail.length) {
        this.#tail = this.#tail.slice(this.#head);
        this.#head = 0;
      }
    }
    this.#tailFirst = limit + 1;
  }

  /** Notes that the host removed the entries up to `index` from its part of the log. */
  compactedTo(index: Index): void {
    if (index <= this.#borderIndex) return;
    assert(
      index <= this.#applied && index <= this.#stable,
      'Compaction of what is still needed',
      index,
      this.#applied,
    );
    const term = this.termAt(index);
    const hash = this.hashAt(index);
    this.#borderIndex = index;
    this.#borderTerm = term;
    this.#borderHash = hash;
  }

  /** Replaces the log by a snapshot (`gap` is for the planted bug alone). */
  restore(snapshot: SnapshotMeta, gap: boolean): void {
    const index = snapshot.index + (gap ? 1 : 0);
    this.#borderIndex = index;
    this.#borderTerm = snapshot.term;
    this.#borderHash = snapshot.hash;
    this.#lastIndex = index;
    this.#lastTerm = snapshot.term;
    this.#lastHash = snapshot.hash;
    this.#tail = [];
    this.#head = 0;
    this.#tailBytes = 0;
    this.#unappliedBytes = 0;
    this.#tailFirst = index + 1;
    this.#handed = index;
    this.#stable = 0;
    this.#commit = index;
    this.#applying = index;
    this.#snapshotToWrite = snapshot;
    this.#installing = snapshot.index;
    this.#changes.length = 0;
  }

  /** Notes that the state machine is now at the snapshot with `index`. */
  installedTo(index: Index): void {
    assert(this.#installing !== 0 && index <= this.#installing, 'No such snapshot is being installed', index);
    if (index < this.#installing) return;
    this.#installing = 0;
    this.appliedTo(this.#applying);
  }

  /** The invariants that hold between any two calls (I5). */
  check(): void {
    assert(this.#applied <= this.#applying, 'applied <= applying', this.#applied, this.#applying);
    assert(this.#applying <= this.#commit, 'applying <= commit', this.#applying, this.#commit);
    assert(this.#commit <= this.#lastIndex, 'commit <= last', this.#commit, this.#lastIndex);
    assert(this.#handed <= this.#lastIndex, 'handed <= last', this.#handed, this.#lastIndex);
    assert(this.#stable <= this.#handed, 'stable <= handed', this.#stable, this.#handed);
    assert(this.#borderIndex <= this.#commit, 'border <= commit', this.#borderIndex, this.#commit);
    const inTail = this.#tail.length - this.#head;
    assert(this.#tailFirst + inTail === this.#lastIndex + 1, 'The tail ends with the last entry', inTail);
  }

  #tailEntry(index: Index): Entry {
    return this.#tail[this.#head + index - this.#tailFirst]!;
  }

  #sliceView(low: Index, high: Index, maxBytes: number): readonly Entry[] {
    const entries = this.#view.entries(low, high, maxBytes);
    assert(
      entries.length <= high - low,
      'The log view gave more than was asked for',
      entries.length,
      high - low,
    );
    assert(entries.length === 0 || entries[0]!.index === low, 'The log view gave other entries', low);
    return entries;
  }

  #findChanges(from: Index): void {
    for (let at = from + 1; at <= this.#lastIndex; ) {
      const entries = this.#view.entries(at, this.#lastIndex + 1, SCAN_BYTES);
      assert(entries.length > 0, 'The log view must have unapplied entries at hand when a node starts', at);
      for (const entry of entries) {
        if (entry.kind === 'change') this.#changes.push(entry.index);
      }
      at += entries.length;
    }
  }
}

const NO_ENTRIES: readonly Entry[] = Object.freeze([]);
const SCAN_BYTES = 1 << 20;
