import type { RaftNode } from 'raft-ts';
import type { Event, GroupId, NodeId } from '../between/protocol.js';
import { successorOf } from './group-members.js';

type Raft = Pick<RaftNode, 'role' | 'status' | 'transferRefusal' | 'transferLeadership'>;

export interface LeadershipTransferOptions {
  readonly group: GroupId;
  readonly raft: Raft;
  /** The epoch in which the engine side may propose; 0 for none. */
  readonly epoch: () => number;
  readonly emit: (event: Event) => void;
}

/** Ticks that the engine side has for calls that are done in part: changes may stop for as long once Raft's transfer has begun. */
const WAIT_TICKS = 10;

/**
 * The transfer of a group's leadership to another node, in two steps. Futures are changes of their own, and a call whose
 * leader goes can't go on with them: so the engine side first finishes the calls that are done in part, and begins no
 * others. Raft's transfer follows then, or when that has taken too long.
 */
export class LeadershipTransfer {
  private underWay: {
    readonly to: NodeId;
    readonly isUp: (node: NodeId) => boolean;
    readonly epoch: number;
    ticks: number;
    isWithRaft: boolean;
  } | null = null;

  constructor(private readonly options: LeadershipTransferOptions) {}

  get isUnderWay(): boolean {
    return this.underWay !== null;
  }

  /**
   * @param to 0: the voter that is furthest
   * @returns false if nobody can have the leadership now, or a transfer is under way
   */
  begin(to: NodeId, isUp: (node: NodeId) => boolean): boolean {
    const { raft, group, emit } = this.options;
    if (this.isUnderWay) return false;
    const target = this.targetOf(to, isUp);
    if (target === 0 || raft.transferRefusal(target) !== null) return false;
    const epoch = this.options.epoch();
    // An engine side that does not lead yet, or is suspended, has begun nothing.
    if (epoch === 0) return raft.transferLeadership(target).status === 'accepted';
    this.underWay = { to, isUp, epoch, ticks: 0, isWithRaft: false };
    emit({ kind: 'giving_away', group, epoch });
    return true;
  }

  /** The engine side has finished what it had begun in this epoch. */
  released(epoch: number): void {
    if (this.underWay?.epoch === epoch && !this.underWay.isWithRaft) this.proceed();
  }

  tick(): void {
    const { underWay } = this;
    const { raft, epoch } = this.options;
    if (underWay === null) return;
    if (raft.role !== 'leader' || epoch() !== underWay.epoch) this.underWay = null;
    else if (underWay.isWithRaft) {
      if (raft.status().transferTo === 0) this.giveUp(underWay.epoch);
    } else {
      underWay.ticks += 1;
      if (underWay.ticks >= WAIT_TICKS) this.proceed();
    }
  }

  private proceed(): void {
    const { underWay } = this;
    if (underWay === null) return;
    underWay.isWithRaft = true;
    const target = this.targetOf(underWay.to, underWay.isUp);
    const isAccepted = target !== 0 && this.options.raft.transferLeadership(target).status === 'accepted';
    if (!isAccepted) this.giveUp(underWay.epoch);
  }

  private giveUp(epoch: number): void {
    const { group, emit } = this.options;
    this.underWay = null;
    emit({ kind: 'kept', group, epoch });
  }

  private targetOf(to: NodeId, isUp: (node: NodeId) => boolean): NodeId {
    return to === 0 ? successorOf(this.options.raft.status(), isUp) : to;
  }
}
