/**
 * The log of one group as Raft reads it, on top of the log store. An entry lies there as
 *
 *   payload := previous:u32 hash:u32 payload        (big endian)
 *
 * with the chain hashes of its predecessor and its own, and its kind as the record's type: 1 normal, 2 noop,
 * 3 change.
 */
import type { LogOperation, LogView as StoreView } from '@althing/storage';
import type { Entry, EntryKind, LogView, SnapshotMeta, Write } from 'raft-ts';

const KINDS: readonly (EntryKind | undefined)[] = [undefined, 'normal', 'noop', 'change'];
const CODES: Readonly<Record<EntryKind, number>> = { normal: 1, noop: 2, change: 3 };
const PREFIX_BYTES = 8;

export class GroupLog implements LogView {
  private readonly view: StoreView;
  /** The newest checkpoint: what a follower gets that is too far behind for entries. */
  private checkpoint: SnapshotMeta;

  constructor(view: StoreView, checkpoint: SnapshotMeta) {
    this.view = view;
    this.checkpoint = checkpoint;
  }

  firstIndex(): number {
    return this.view.firstIndex;
  }

  lastIndex(): number {
    return this.view.lastIndex;
  }

  term(index: number): number {
    const term = this.view.term(index);
    if (term === undefined) throw new Error(`the log has no entry ${index}`);
    return term;
  }

  hash(index: number): number {
    if (index === this.checkpoint.index) return this.checkpoint.hash;
    if (index >= this.firstIndex()) return this.prefix(index).readUInt32BE(4);
    return this.prefix(index + 1).readUInt32BE(0);
  }

  entries(low: number, high: number, maxBytes: number): readonly Entry[] {
    return this.view.entries(low, high, maxBytes).map(({ index, term, type, payload }) => {
      const kind = KINDS[type];
      if (kind === undefined) throw new Error(`entry ${index} is of the unknown kind ${type}`);
      const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
      return { index, term, kind, hash: bytes.readUInt32BE(4), payload: bytes.subarray(PREFIX_BYTES) };
    });
  }

  snapshot(): SnapshotMeta {
    return this.checkpoint;
  }

  /** Notes a newer checkpoint. */
  checkpointed(checkpoint: SnapshotMeta): void {
    if (checkpoint.index > this.checkpoint.index) this.checkpoint = checkpoint;
  }

  private prefix(index: number): Buffer {
    const [entry] = this.view.entries(index, index + 1, 1);
    if (entry === undefined) throw new Error(`the log has no entry ${index}`);
    const { payload } = entry;
    return Buffer.from(payload.buffer, payload.byteOffset, PREFIX_BYTES);
  }
}

/** The chain hash at an index, as the entry behind it tells it; null when there is none. */
export function hashBehind(view: StoreView, index: number): number | null {
  if (index + 1 < view.firstIndex || index + 1 > view.lastIndex) return null;
  const [entry] = view.entries(index + 1, index + 2, 1);
  if (entry === undefined) return null;
  const { payload } = entry;
  return Buffer.from(payload.buffer, payload.byteOffset, PREFIX_BYTES).readUInt32BE(0);
}

/**
 * The operations of the log store for a write that Raft asks for.
 *
 * @param previous the chain hash before the first entry of the write
 */
export function operationsOf(group: number, write: Write, previous: number): LogOperation[] {
  const operations: LogOperation[] = [];
  if (write.snapshot !== null) {
    const { index, term } = write.snapshot;
    operations.push({ kind: 'reset', group, index, term });
  }
  let before = previous;
  for (const { index, term, kind, hash, payload } of write.entries) {
    const bytes = Buffer.allocUnsafe(PREFIX_BYTES + payload.length);
    bytes.writeUInt32BE(before, 0);
    bytes.writeUInt32BE(hash, 4);
    bytes.set(payload, PREFIX_BYTES);
    operations.push({ kind: 'entry', group, index, term, type: CODES[kind], payload: bytes });
    before = hash;
  }
  if (write.hardState !== null) operations.push({ kind: 'hardState', group, ...write.hardState });
  return operations;
}
