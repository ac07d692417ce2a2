/**
 * The log of one group as Raft reads it, on top of the log store. The kind of an entry is the record's type:
 * 1 normal, 2 noop, 3 change.
 */
import type { ChainHash, LogOperation, LogView as StoreView } from '@althing/storage';
import {
  chainHash,
  type Entry,
  type EntryKind,
  type LogView,
  murmur3,
  type SnapshotMeta,
  type Write,
} from 'raft-ts';
import type { LogPart, LogPosition } from '../between/protocol.js';

const KINDS: readonly (EntryKind | undefined)[] = [undefined, 'normal', 'noop', 'change'];
const CODES: Readonly<Record<EntryKind, number>> = { normal: 1, noop: 2, change: 3 };

/** Raft's way to compute the chain hashes, for the log store, which computes them again when it reads. */
export const logChainHash: ChainHash = (previous, index, term, type, payload) =>
  chainHash(previous, index, term, kindOf(index, type), payload, murmur3);

export class GroupLog implements LogView {
  constructor(
    private readonly view: StoreView,
    /** The newest checkpoint: what a follower gets that is too far behind for entries. */
    private checkpoint: SnapshotMeta,
  ) {}

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
    const hash = this.view.hash(index);
    if (hash === undefined) throw new Error(`the log does not know the chain hash of entry ${index}`);
    return hash;
  }

  entries(low: number, high: number, maxBytes: number): readonly Entry[] {
    return this.view.entries(low, high, maxBytes).map(({ index, term, type, hash, payload }) => {
      return { index, term, kind: kindOf(index, type), hash, payload };
    });
  }

  /**
   * Reads a part of the log: see the command `read_log`.
   *
   * @param upTo is committed
   */
  readPart(after: number, upTo: number, bytes: number): LogPart {
    const oldest = this.positionAt(this.firstIndex() - 1);
    const end = Math.min(upTo, this.lastIndex());
    if (after < oldest.index || after > this.lastIndex())
      return { before: null, oldest, entries: [], last: oldest };
    const before = this.positionAt(after);
    const read = end <= after ? [] : this.entries(after + 1, end + 1, bytes);
    const entries = read
      .filter(({ kind }) => kind === 'normal')
      .map(({ index, term, hash, payload }) => ({ index, term, hash, payload }));
    const { index, term, hash } = read.at(-1) ?? before;
    return { before, oldest, entries, last: { index, term, hash } };
  }

  /** A hash of 0 where a log that release 0.1.0 began does not tell it. */
  private positionAt(index: number): LogPosition {
    const known = index === this.checkpoint.index ? this.checkpoint.hash : this.view.hash(index);
    return { index, term: this.term(index), hash: known ?? 0 };
  }

  snapshot(): SnapshotMeta {
    return this.checkpoint;
  }

  /** Notes a newer checkpoint. */
  checkpointed(checkpoint: SnapshotMeta): void {
    if (checkpoint.index > this.checkpoint.index) this.checkpoint = checkpoint;
  }
}

function kindOf(index: number, type: number): EntryKind {
  const kind = KINDS[type];
  if (kind === undefined) throw new Error(`entry ${index} is of the unknown kind ${type}`);
  return kind;
}

/**
 * The operations of the log store for a write that Raft asks for.
 *
 * @param previous the chain hash before the first entry of the write
 */
export function operationsOf(group: number, write: Write, previous: number): LogOperation[] {
  const operations: LogOperation[] = [];
  if (write.snapshot !== null) {
    const { index, term, hash } = write.snapshot;
    operations.push({ kind: 'reset', group, index, term, hash });
  }
  let previousHash = previous;
  for (const { index, term, kind, hash, payload } of write.entries) {
    operations.push({ kind: 'entry', group, index, term, type: CODES[kind], previousHash, hash, payload });
    previousHash = hash;
  }
  if (write.hardState !== null) operations.push({ kind: 'hardState', group, ...write.hardState });
  return operations;
}
