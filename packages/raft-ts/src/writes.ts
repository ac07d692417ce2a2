/** Writes that were handed out to the host and are not yet acknowledged as durable. */
import { assert } from './assert.js';
import type { Message } from './messages.js';
import type { Entry, HardState, Index, NodeId, SnapshotMeta, Term } from './types.js';

/** A write that the host must make durable, in one atomic step. */
export interface Write {
  /** Comes back in `persisted`, with `term`. Ascending. */
  readonly sequence: number;
  /** The term in which it was handed out. */
  readonly term: Term;
  /** Null if unchanged. */
  readonly hardState: HardState | null;
  /** Install this and drop the whole log, before `entries` are appended. */
  readonly snapshot: SnapshotMeta | null;
  /** Append these; whatever stands at or behind the first one's index goes. */
  readonly entries: readonly Entry[];
}

/** Names a write; see {@link Write}. */
export interface Acknowledgement {
  readonly sequence: number;
  readonly term: Term;
}

/** The durable part after one completed write, or several. */
export interface Completion {
  /**
   * The log is durable up to here, as far as these writes can tell; 0 if they hold nothing that still stands.
   */
  readonly lastIndex: Index;
  readonly hardTerm: Term;
  readonly hardVote: NodeId;
  readonly hardCommit: Index;
  /** May leave now. */
  readonly messages: readonly Message[];
}

/** A write that was handed out. */
export interface PendingWrite {
  readonly sequence: number;
  readonly term: Term;
  /**
   * The last index that this write can attest. Lowered when entries of it are overwritten by a later write.
   */
  lastIndex: Index;
  readonly hardTerm: Term;
  readonly hardVote: NodeId;
  readonly hardCommit: Index;
  readonly messages: Message[];
  readonly tick: number;
}

export class WritesInFlight {
  private inFlight: PendingWrite[] = [];
  private lastSequence = 0;

  get count(): number {
    return this.inFlight.length;
  }

  /** All of them, oldest first; for a look inside. */
  get pending(): readonly PendingWrite[] {
    return this.inFlight;
  }

  /** The tick in which the oldest one was handed out; `now` if there is none. */
  oldestTick(now: number): number {
    return this.inFlight[0]?.tick ?? now;
  }

  /** Registers a write with the hard state that is durable when it is; returns its sequence number. */
  add(
    term: Term,
    lastIndex: Index,
    { term: hardTerm, vote: hardVote, commit: hardCommit }: HardState,
    messages: Message[],
    tick: number,
  ): number {
    assert(lastIndex >= 0 && hardTerm <= term, 'A write from the future', hardTerm, term);
    this.lastSequence += 1;
    const sequence = this.lastSequence;
    this.inFlight.push({ sequence, term, lastIndex, hardTerm, hardVote, hardCommit, messages, tick });
    return this.lastSequence;
  }

  /** Lets messages wait for the youngest write; false if none is in flight. */
  attach(messages: readonly Message[]): boolean {
    const youngest = this.inFlight[this.inFlight.length - 1];
    if (youngest === undefined) return false;
    for (const message of messages) youngest.messages.push(message);
    return true;
  }

  /**
   * The log was cut: entries from `index` on are not what writes in flight hold there. Without this an
   * acknowledgement could count for an entry that was overwritten and is being written again (the ABA race).
   */
  cutFrom(index: Index): void {
    for (const write of this.inFlight) write.lastIndex = Math.min(write.lastIndex, index - 1);
  }

  /** Takes out every write up to the acknowledged one. */
  complete(acknowledgement: Acknowledgement): Completion {
    const at = this.inFlight.findIndex((write) => write.sequence === acknowledgement.sequence);
    assert(at >= 0, 'Acknowledgement of a write that is not in flight', acknowledgement.sequence);
    const write = this.inFlight[at]!;
    assert(
      write.term === acknowledgement.term,
      'Acknowledgement with another term',
      acknowledgement.term,
      write.term,
    );
    if (at === 0) {
      this.inFlight.shift();
      return write;
    }
    const done = this.inFlight.splice(0, at + 1);
    const lastIndex = done.reduce((highest, { lastIndex }) => Math.max(highest, lastIndex), 0);
    const messages = done.flatMap((earlier) => earlier.messages);
    const { hardTerm, hardVote, hardCommit } = write;
    return { lastIndex, hardTerm, hardVote, hardCommit, messages };
  }
}
