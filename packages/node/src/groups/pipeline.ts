import type { CollectionEvent, QueryError, RoomEvent, Undo } from '@althing/engine';
import { assert } from '../base/assert.js';
import { elementAt } from '../base/element.js';
import type { EntryHead, RequestIdentity } from './entry.js';
import { WAITING_BYTES_MAX, WAITING_CHANGES_MAX } from './limits.js';
import { type ClientNames, isNamed } from './names.js';
import type { Reply, Respond } from './request.js';

/** A change that was proposed. */
export interface PendingWrite {
  readonly kind: 'write';
  readonly undo: readonly Undo[];
  readonly collectionEvents: readonly CollectionEvent[];
  /** Events that clients get when it is committed. */
  readonly roomEvents: readonly RoomEvent[];
  /** The size of its entry. */
  readonly bytes: number;
  readonly head: EntryHead;
  /** Effects that the state gets with the commit, because it does not hold them yet; null for none. */
  readonly imposed: Uint8Array | null;
  readonly reply: Reply;
  readonly respond: Respond;
}

/** Elements of the pipeline, which wait for the group's log. */
export type PipelineElement =
  | PendingWrite
  /** An answer that was computed on changes which are not committed yet. */
  | { readonly kind: 'barrier'; readonly reply: Reply; readonly respond: Respond };

/**
 * The pipeline of a session: what it computed and has not answered yet, in that order: changes that wait for
 * their commit, and answers that wait for the changes before them.
 */
export class Pipeline {
  private waiting: PipelineElement[] = [];
  /** Index of the first element of `waiting` that still waits. */
  private head = 0;
  private writes = 0;
  private bytes = 0;
  /** Elements of `waiting` before this index were answered already: their outcome is not known. */
  private toldUpTo = 0;

  /** The number of changes and answers that wait. */
  get length(): number {
    return this.waiting.length - this.head;
  }

  /** The number of changes that wait: the state holds them, and they are not committed. */
  get changes(): number {
    return this.writes;
  }

  /** Why no further change may wait, in words; null when one may. */
  get fullText(): string | null {
    const isFull = this.writes >= WAITING_CHANGES_MAX || this.bytes >= WAITING_BYTES_MAX;
    return isFull ? `${this.writes} changes with ${this.bytes} bytes` : null;
  }

  /** True if a change waits that was told already that its outcome is not known. */
  hasTold(request: RequestIdentity | null, names: ClientNames): boolean {
    for (let i = this.head; i < this.toldUpTo; i++) {
      const waiting = elementAt(this.waiting, i);
      if (waiting.kind === 'write' && isNamed(waiting.head, request, names)) return true;
    }
    return false;
  }

  add(waiting: PipelineElement): void {
    this.waiting.push(waiting);
    if (waiting.kind !== 'write') return;
    assert(waiting.bytes > 0, 'a change has an entry');
    this.writes += 1;
    this.bytes += waiting.bytes;
  }

  /** The counts fit what waits. */
  private assertCounts(): void {
    assert(this.writes >= 0 && this.writes <= this.length, 'no more changes are counted than elements wait');
    assert((this.writes === 0) === (this.bytes === 0), 'bytes wait exactly where changes do');
    assert(this.toldUpTo <= this.waiting.length, 'only what waits was told early');
  }

  /**
   * Answers the first changes, which are committed, and what waits for nothing else.
   *
   * @param count of the changes
   * @param before index of the entry before the first of them; they lie in a row
   * @param last index of the last entry that is committed, which may be one of Raft's own behind them
   * @param committed told of each change before it is answered
   */
  commit(count: number, before: number, last: number, committed: (write: PendingWrite) => void): void {
    let left = count;
    let index = before;
    while (this.head < this.waiting.length) {
      const waiting = elementAt(this.waiting, this.head);
      if (waiting.kind === 'write') {
        if (left === 0) break;
        left -= 1;
        this.writes -= 1;
        this.bytes -= waiting.bytes;
        index += 1;
        committed(waiting);
      }
      this.head += 1;
      // An answer behind the last write stands where the log does, also when Raft added something.
      waiting.reply.index = waiting.kind === 'write' || left > 0 ? index : last;
      waiting.respond(waiting.reply);
    }
    assert(left === 0, 'no more changes are committed than were proposed');
    this.compact();
    this.assertCounts();
  }

  /** Gives out what waits, and waits for nothing any more. */
  takeAll(): PipelineElement[] {
    const waiting = this.waiting.slice(this.head);
    this.waiting = [];
    this.head = 0;
    this.toldUpTo = 0;
    this.writes = 0;
    this.bytes = 0;
    return waiting;
  }

  /**
   * Gives out what waits, to be told at once that its outcome is not known. It stays in its place, since it
   * may yet be committed, and is told nothing then.
   */
  tellEarly(): PipelineElement[] {
    const told = this.waiting.slice(this.head);
    this.waiting = told.map((waiting) => ({ ...waiting, respond: () => {} }));
    this.head = 0;
    this.toldUpTo = told.length;
    return told;
  }

  private compact(): void {
    if (this.head === this.waiting.length) {
      this.waiting.length = 0;
      this.head = 0;
      this.toldUpTo = 0;
    } else if (this.head > 1024 && this.head * 2 > this.waiting.length) {
      this.waiting = this.waiting.slice(this.head);
      this.toldUpTo = Math.max(0, this.toldUpTo - this.head);
      this.head = 0;
    }
  }
}

/**
 * Answers what waited for the log in vain.
 *
 * @param writeError why changes were not confirmed, which may yet be committed; null where they will never be
 * @param readError why nothing was read
 */
export function tellLost(
  lost: readonly PipelineElement[],
  writeError: QueryError | null,
  readError: QueryError,
): void {
  for (const { kind, respond } of lost) {
    if (kind === 'write' && writeError !== null)
      respond({ ok: false, error: writeError, outcome: 'unknown', lost: true });
    else respond({ ok: false, error: readError, lost: true });
  }
}
