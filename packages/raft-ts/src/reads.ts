/**
 * Linearizable reads without a log entry (Raft dissertation, section 6.4). A read is given the commit index
 * of the moment it came in, and may be served at that index as soon as a quorum has confirmed, later than
 * that moment, that the leader still leads.
 *
 * Confirmation goes in *rounds*: the heartbeats of a round carry its number, the responses bring it back.
 * Rounds only count up, and a round confirms every read that came in before its heartbeats were sent. It is
 * sent to as few as can confirm it, but the regular heartbeats are a round with all, so that nobody is waited
 * for longer than until the next: it has a number of its own, and an answer to an earlier question never
 * counts for a later read.
 *
 * The question of a follower is a confirmation, too: it bears the follower's term, and was sent after its
 * reads came in. In a group of three that makes a quorum, and the leader answers at once.
 */
import { assert } from './assert.js';
import type { Index, NodeId } from './types.js';

/** The outcome of a read that was asked for at this node. */
export type ReadResult =
  /** Serve it as soon as the state machine has applied `index`. */
  | { readonly outcome: 'ready'; readonly context: unknown; readonly index: Index }
  /** Ask again: no promise can be kept. */
  | { readonly outcome: 'dropped'; readonly context: unknown; readonly reason: ReadDropReason };

/** Why no index can be promised for a read. */
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
  private queue: WaitingRead[] = [];
  private lastRound = 0;
  private confirmedRound = 0;

  get count(): number {
    return this.queue.length;
  }

  /** All of them, in the order in which they came; for a look inside. */
  get waiting(): readonly WaitingRead[] {
    return this.queue;
  }

  /** The latest round that was confirmed. */
  get confirmed(): number {
    return this.confirmedRound;
  }

  /** The latest round that was started. */
  get round(): number {
    return this.lastRound;
  }

  /** True if a round is under way. */
  get underWay(): boolean {
    return this.lastRound > this.confirmedRound;
  }

  /** Adds a read. `index` is 0 while the leader has not committed in its term. */
  add(index: Index, from: NodeId, id: number, context: unknown): void {
    this.queue.push({ index, round: this.lastRound + 1, from, id, context });
  }

  /** The leader has now committed in its term: reads that waited for that get their index. */
  setIndex(index: Index): void {
    for (const read of this.queue) {
      assert(read.index === 0, 'A read got its index before', read.index);
      read.index = index;
      read.round = this.lastRound + 1;
    }
  }

  /** True if reads wait that a round could confirm. */
  get hasConfirmable(): boolean {
    return this.queue.length > 0 && this.queue[0]!.index > 0;
  }

  /** Starts a round, whose number the next heartbeats carry. */
  startRound(): number {
    this.lastRound += 1;
    return this.lastRound;
  }

  /** A quorum has answered `round`: takes out the reads that it confirms. */
  confirm(round: number): WaitingRead[] {
    const reached = Math.min(round, this.lastRound);
    if (reached <= this.confirmedRound) return [];
    this.confirmedRound = reached;
    let count = 0;
    while (count < this.queue.length && this.isConfirmed(this.queue[count]!)) count += 1;
    return this.queue.splice(0, count);
  }

  /** Takes out everything, because no quorum is needed or nothing can be promised any more. */
  takeAll(): WaitingRead[] {
    const all = this.queue;
    this.queue = [];
    this.confirmedRound = this.lastRound;
    return all;
  }

  private isConfirmed(read: WaitingRead): boolean {
    assert(
      read.round <= this.lastRound + 1,
      'A read waits for a round far ahead',
      read.round,
      this.lastRound,
    );
    return read.index > 0 && read.round <= this.confirmedRound;
  }
}

/** A read that a follower was asked for. */
export interface AskedRead {
  readonly context: unknown;
  readonly tick: number;
}

/**
 * Reads of a follower, which asks its leader for an index: one question at a time stands for all that came
 * before it.
 */
export class ForwardedReads {
  private underWay: AskedRead[] = [];
  private queue: AskedRead[] = [];
  private lastAskedTick = 0;
  private lastId: number;

  /** `firstId` is random: an answer to a question of this node's former life must not match. */
  constructor(firstId: number) {
    this.lastId = firstId;
  }

  get count(): number {
    return this.underWay.length + this.queue.length;
  }

  /** The question under way, or the last one; for a look inside, like the next three. */
  get id(): number {
    return this.lastId;
  }

  get askedTick(): number {
    return this.lastAskedTick;
  }

  get asked(): readonly AskedRead[] {
    return this.underWay;
  }

  get waiting(): readonly AskedRead[] {
    return this.queue;
  }

  /** True if the next question may go out. */
  get canAsk(): boolean {
    return this.underWay.length === 0 && this.queue.length > 0;
  }

  add(context: unknown, now: number): void {
    this.queue.push({ context, tick: now });
  }

  /** Starts a question for everything that waits; returns its id, a fresh one for each attempt. */
  ask(now: number): number {
    assert(this.count > 0, 'A question without a reader');
    for (const read of this.queue) this.underWay.push(read);
    this.queue = [];
    this.lastAskedTick = now;
    this.lastId += 1;
    return this.lastId;
  }

  /** True if the question under way has been unanswered for `ticks`. */
  isOverdue(now: number, ticks: number): boolean {
    return this.underWay.length > 0 && now - this.lastAskedTick >= ticks;
  }

  /**
   * The leader answered `id`: takes out the reads that it answers; none if it is not the question under way.
   */
  answer(id: number): readonly { readonly context: unknown }[] {
    if (id !== this.lastId) return [];
    const answered = this.underWay;
    this.underWay = [];
    return answered;
  }

  /** Takes out the reads that came in before `tick`. */
  takeOlderThan(tick: number): { readonly context: unknown }[] {
    const old = (read: AskedRead): boolean => read.tick < tick;
    const taken = [...this.underWay.filter(old), ...this.queue.filter(old)];
    if (taken.length === 0) return taken;
    this.underWay = this.underWay.filter((read) => !old(read));
    this.queue = this.queue.filter((read) => !old(read));
    return taken;
  }

  takeAll(): { readonly context: unknown }[] {
    const all = [...this.underWay, ...this.queue];
    this.underWay = [];
    this.queue = [];
    return all;
  }
}
