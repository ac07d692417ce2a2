import { assert } from './assert.js';
import { type Entry, entryBytes, type Index } from './types.js';

/** Entries that were handed out for applying together and not yet reported as applied. */
interface Batch {
  readonly last: Index;
  readonly bytes: number;
  /** The part of `bytes` that belongs to entries whose sizes were counted when they were added. */
  readonly counted: number;
}

/** The bytes of the entries that were handed out for applying and not yet reported as applied. */
export class ApplyWindow {
  bytes = 0;
  private batches: Batch[] = [];

  /** @param countedFrom the first index whose size was counted when its entry was added */
  add(entries: readonly Entry[], countedFrom: Index): void {
    let bytes = 0;
    let counted = 0;
    let last = 0;
    for (const entry of entries) {
      const size = entryBytes(entry);
      bytes += size;
      if (entry.index >= countedFrom) counted += size;
      last = entry.index;
    }
    this.bytes += bytes;
    this.batches.push({ last, bytes, counted });
  }

  /**
   * Takes out the batches up to `index`.
   *
   * @returns the counted bytes in them
   */
  appliedTo(index: Index): number {
    let counted = 0;
    let done = 0;
    for (const batch of this.batches) {
      if (batch.last > index) break;
      this.bytes -= batch.bytes;
      counted += batch.counted;
      done += 1;
    }
    if (done > 0) this.batches = this.batches.slice(done);
    assert(this.bytes >= 0, 'More was applied than handed out', this.bytes);
    return counted;
  }
}
