/** A log in memory, for examples, tests, and hosts that keep the live part of the log in memory anyway. */
import { assert } from './assert.js';
import { ROOT_HASH } from './hash.js';
import type { LogView } from './hostlog.js';
import { type Entry, entryBytes, type Index, type SnapshotMeta, type Term } from './types.js';

/** A log in memory. A host that keeps its log on disk reads it into one of these at the start. */
export class MemoryLog implements LogView {
  private kept: Entry[] = [];
  /** Index, term and hash of the entry before the first one. */
  private border: { readonly index: Index; readonly term: Term; readonly hash: number } = {
    index: 0,
    term: 0,
    hash: ROOT_HASH,
  };
  private offered: SnapshotMeta | null = null;

  /** See {@link LogView}. */
  firstIndex(): Index {
    return this.border.index + 1;
  }

  /** See {@link LogView}. */
  lastIndex(): Index {
    return this.border.index + this.kept.length;
  }

  /** See {@link LogView}. */
  term(index: Index): Term {
    return index === this.border.index ? this.border.term : this.at(index).term;
  }

  /** See {@link LogView}. */
  hash(index: Index): number {
    return index === this.border.index ? this.border.hash : this.at(index).hash;
  }

  /** See {@link LogView}. */
  entries(low: Index, high: Index, maxBytes: number): readonly Entry[] {
    assert(low > this.border.index && high <= this.lastIndex() + 1, 'Read beyond the log', low, high);
    const start = low - this.border.index - 1;
    const end = high - this.border.index - 1;
    let bytes = 0;
    let stop = start;
    while (stop < end) {
      bytes += entryBytes(this.kept[stop]!);
      if (bytes > maxBytes && stop > start) break;
      stop += 1;
    }
    return this.kept.slice(start, stop);
  }

  /** The snapshot that was offered last, or null. */
  snapshot(): SnapshotMeta | null {
    return this.offered;
  }

  /** Appends entries; whatever stands at or behind the first one's index goes. */
  append(entries: readonly Entry[]): void {
    const first = entries[0];
    if (first === undefined) return;
    assert(
      first.index > this.border.index && first.index <= this.lastIndex() + 1,
      'Gap in the log',
      first.index,
    );
    this.cutFrom(first.index);
    for (const entry of entries) this.kept.push(entry);
  }

  /** Removes the entries from `index` on. */
  cutFrom(index: Index): void {
    assert(index > this.border.index, 'Cut before the first entry', index, this.border.index);
    this.kept.length = Math.min(this.kept.length, index - this.border.index - 1);
  }

  /** Notes that a snapshot may be sent to followers. */
  offerSnapshot(snapshot: SnapshotMeta): void {
    this.offered = snapshot;
  }

  /** Forgets the entries up to `index`. */
  compact(index: Index): void {
    if (index <= this.border.index) return;
    const { term, hash } = this.at(index);
    this.kept.splice(0, index - this.border.index);
    this.border = { index, term, hash };
  }

  /** Replaces everything by a snapshot that was installed. */
  reset(snapshot: SnapshotMeta): void {
    this.kept = [];
    this.border = { index: snapshot.index, term: snapshot.term, hash: snapshot.hash };
    this.offered = snapshot;
  }

  /** An independent copy. */
  clone(): MemoryLog {
    const copy = new MemoryLog();
    copy.kept = this.kept.slice();
    copy.border = this.border;
    copy.offered = this.offered;
    return copy;
  }

  private at(index: Index): Entry {
    const entry = this.kept[index - this.border.index - 1];
    assert(entry !== undefined, 'Read beyond the log', index, this.lastIndex());
    return entry;
  }
}
