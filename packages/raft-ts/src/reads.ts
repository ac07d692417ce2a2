/**
 * Linearizable reads without a log entry (Raft dissertation, section 6.4). A read is given the commit index of the
 * moment it came in, and may be served at that index as soon as a quorum has confirmed, later than that moment, that
 * the leader still leads.
 *
 * Confirmation goes in *rounds*: the heartbeats of a round carry its number, the responses bring it back. Rounds only
 * count up, and a round confirms every read that came in before its heartbeats were sent. It is sent to as few as can
 * confirm it, but the regular heartbeats are a round with all, so that nobody is waited for longer than until the next: it
 * has a number of its own, and an answer to an earlier question never counts for a later read.
 *
 * The question of a follower is a confirmation, too: it bears the follower's term, and was sent after its reads came in. In
 * a group of three that makes a quorum, and the leader answers at once.
 */
import { assert } from './assert.js';
import type { Index, NodeId } from './types.js';

/** The outcome of a read that was asked for at this node. */
export type ReadResult =
  /** Serve it as soon as the state machine has applied `index`. */
  | { readonly outcome: 'ready'; readonly context: unknown; readonly index: Index }
  /** Ask again: no promise can be kept. */
  | { readonly outcome: 'dropped'; readonly context: unknown; readonly reason: ReadDropReason };

export type ReadDropReason = 'leader_changed' | 'timeout';

/** A read that waits at the leader. */
export interface WaitingRead {
  /** The commit index when it came in; 0 while the leader has not committed in its term. */
  index: Index;
  /** The round that confirms it, and so does every later one. */
  round: number;
  /** The follower that asked, or this node. */
  readonly from: NodeId;
  /** The follower's id for its question. */
  readonly id: number;
  readonly context: unknown;
}

/** Reads that wait at a leader. */
export class LeaderReads {
  #waiting: WaitingRead[] = [];
  #round = 0;
  #confirmed = 0;

  get count(): number {
    return this.#waiting.length;
  }

  /** All of them, in the order in which they came; for a look inside. */
  get waiting(): readonly WaitingRead[] {
    return this.#waiting;
  }

  /** The latest round that was confirmed. */
  get confirmed(): number {
    return this.#confirmed;
  }

  /** The latest round that was started. */
  get round(): number {
    return this.#round;
  }

  /** Whether a round is under way. */
  get underWay(): boolean {
    return this.#round > this.#confirmed;
  }

  /** Adds a read. `index` is 0 while the leader has not committed in its term. */
  add(index: Index, from: NodeId, id: number, context: unknown): void {
    this.#waiting.push({ index, round: this.#round + 1, from, id, context });
  }

  /** The leader has now committed in its term: reads that waited for that get their index. */
  setIndex(index: Index): void {
    for (const read of this.#waiting) {
      assert(read.index === 0, 'A read got its index before', read.index);
      read.index = index;
      read.round = this.#round + 1;
    }
  }

  /** Whether reads wait that a round could confirm. */
  get hasConfirmable(): boolean {
    return this.#waiting.length > 0 && this.#waiting[0]!.index > 0;
  }

  /** Starts a round, whose number the next heartbeats carry. `reuse` is for the planted bug alone. */
  startRound(reuse: boolean): number {
    if (reuse && this.underWay) {
      for (const read of this.#waiting) read.round = Math.min(read.round, this.#round);
      return this.#round;
    }
    this.#round += 1;
    return this.#round;
  }

  /** A quorum has answered `round`: takes out the reads that it confirms. */
  confirm(round: number): WaitingRead[] {
    const reached = Math.min(round, this.#round);
    if (reached <= this.#confirmed) return [];
    this.#confirmed = reached;
    let count = 0;
    while (count < this.#waiting.length && this.#isConfirmed(this.#waiting[count]!)) count += 1;
    return this.#waiting.splice(0, count);
  }

  /** Takes out everything, because no quorum is needed or nothing can be promised any more. */
  takeAll(): WaitingRead[] {
    const all = this.#waiting;
    this.#waiting = [];
    this.#confirmed = this.#round;
    return all;
  }

  #isConfirmed(read: WaitingRead): boolean {
    assert(read.round <= this.#round + 1, 'A read waits for a round far ahead', read.round, this.#round);
    return read.index > 0 && read.round <= this.#confirmed;
  }
}

/** A read that a follower was asked for. */
export interface AskedRead {
  readonly context: unknown;
  readonly tick: number;
}

/** Reads of a follower, which asks its leader for an index: one question at a time stands for all that came before it. */
export class ForwardedReads {
  #asked: AskedRead[] = [];
  #waiting: AskedRead[] = [];
  #askedTick = 0;
  #id: number;

  /** `firstId` is random: an answer to a question of this node's former life must not match. */
  constructor(firstId: number) {
    this.#id = firstId;
  }

  get count(): number {
    return this.#asked.length + this.#waiting.length;
  }

  /** The question under way, or the last one; for a look inside, like the next three. */
  get id(): number {
    return this.#id;
  }

  get askedTick(): number {
    return this.#askedTick;
  }

  get asked(): readonly AskedRead[] {
    return this.#asked;
  }

  get waiting(): readonly AskedRead[] {
    return this.#waiting;
  }

  /** Whether the next question may go out. */
  get canAsk(): boolean {
    return this.#asked.length === 0 && this.#waiting.length > 0;
  }

  add(context: unknown, now: number): void {
    this.#waiting.push({ context, tick: now });
  }

  /** Starts a question for everything that waits; returns its id, a fresh one for each attempt. */
  ask(now: number, reuse: boolean): number {
    assert(this.count > 0, 'A question without a reader');
    const repeated = this.#asked.length > 0;
    for (const read of this.#waiting) this.#asked.push(read);
    this.#waiting = [];
    this.#askedTick = now;
    if (!(reuse && repeated)) this.#id += 1;
    return this.#id;
  }

  /** Whether the question under way has been unanswered for `ticks`. */
  isOverdue(now: number, ticks: number): boolean {
    return this.#asked.length > 0 && now - this.#askedTick >= ticks;
  }

  /** The leader answered `id`: takes out the reads that it answers; none if it is not the question under way. */
  answer(id: number): readonly { readonly context: unknown }[] {
    if (id !== this.#id) return [];
    const answered = this.#asked;
    this.#asked = [];
    return answered;
  }

  /** Takes out the reads that came in before `tick`. */
  takeOlderThan(tick: number): { readonly context: unknown }[] {
    const old = (read: AskedRead): boolean => read.tick < tick;
    const taken = [...this.#asked.filter(old), ...this.#waiting.filter(old)];
    if (taken.length === 0) return taken;
    this.#asked = this.#asked.filter((read) => !old(read));
    this.#waiting = this.#waiting.filter((read) => !old(read));
    return taken;
  }

  takeAll(): { readonly context: unknown }[] {
    const all = [...this.#asked, ...this.#waiting];
    this.#asked = [];
    this.#waiting = [];
    return all;
  }
}
