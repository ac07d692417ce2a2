/** A log in memory, for examples, tests, and hosts that keep the live part of the log in memory anyway. */
import { assert } from './assert.js';
import { ROOT_HASH } from './hash.js';
import type { LogView } from './hostlog.js';
import { type Entry, entryBytes, type Index, type SnapshotMeta, type Term } from './types.js';

export class MemoryLog implements LogView {
  #entries: Entry[] = [];
  /** Index, term and hash of the entry before the first one. */
  #border: { readonly index: Index; readonly term: Term; readonly hash: number } = {
    index: 0,
    term: 0,
    hash: ROOT_HASH,
  };
  #snapshot: SnapshotMeta | null = null;

  firstIndex(): Index {
    return this.#border.index + 1;
  }

  lastIndex(): Index {
    return this.#border.index + this.#entries.length;
  }

  term(index: Index): Term {
    return index === this.#border.index ? this.#border.term : this.#at(index).term;
  }

  hash(index: Index): number {
    return index === this.#border.index ? this.#border.hash : this.#at(index).hash;
  }

  entries(low: Index, high: Index, maxBytes: number): readonly Entry[] {
    assert(low > this.#border.index && high <= this.lastIndex() + 1, 'Read beyond the log', low, high);
    const start = low - this.#border.index - 1;
    const end = high - this.#border.index - 1;
    let bytes = 0;
    let stop = start;
    while (stop < end) {
      bytes += entryBytes(this.#entries[stop]!);
      if (bytes > maxBytes && stop > start) break;
      stop += 1;
    }
    return this.#entries.slice(start, stop);
  }

  snapshot(): SnapshotMeta | null {
    return this.#snapshot;
  }

  /** Appends entries; whatever stands at or behind the first one's index goes. */
  append(entries: readonly Entry[]): void {
    const first = entries[0];
    if (first === undefined) return;
    assert(
      first.index > this.#border.index && first.index <= this.lastIndex() + 1,
      'Gap in the log',
      first.index,
    );
    this.cutFrom(first.index);
    for (const entry of entries) this.#entries.push(entry);
  }

  /** Removes the entries from `index` on. */
  cutFrom(index: Index): void {
    assert(index > this.#border.index, 'Cut before the first entry', index, this.#border.index);
    this.#entries.length = Math.min(this.#entries.length, index - this.#border.index - 1);
  }

  /** Notes that a snapshot may be sent to followers. */
  offerSnapshot(snapshot: SnapshotMeta): void {
    this.#snapshot = snapshot;
  }

  /** Forgets the entries up to `index`. */
  compact(index: Index): void {
    if (index <= this.#border.index) return;
    const { term, hash } = this.#at(index);
    this.#entries.splice(0, index - this.#border.index);
    this.#border = { index, term, hash };
  }

  /** Replaces everything by a snapshot that was installed. */
  reset(snapshot: SnapshotMeta): void {
    this.#entries = [];
    this.#border = { index: snapshot.index, term: snapshot.term, hash: snapshot.hash };
    this.#snapshot = snapshot;
  }

  /** An independent copy. */
  clone(): MemoryLog {
    const copy = new MemoryLog();
    copy.#entries = this.#entries.slice();
    copy.#border = this.#border;
    copy.#snapshot = this.#snapshot;
    return copy;
  }

  #at(index: Index): Entry {
    const entry = this.#entries[index - this.#border.index - 1];
    assert(entry !== undefined, 'Read beyond the log', index, this.lastIndex());
    return entry;
  }
}
