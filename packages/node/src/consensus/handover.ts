import type { Command, Event, GroupId, NodeId } from '../between/protocol.js';
import type { RaftGroup } from './raft-group.js';

/** A group whose leadership may move, as the decision sees it. */
export type MovableGroup = Pick<RaftGroup, 'role' | 'members' | 'outrunTicks' | 'transfer'>;

export interface HandoverOptions {
  readonly groups: ReadonlyMap<GroupId, MovableGroup>;
  /** The handovers that have something to do as time goes. */
  readonly awake: Iterable<MovableGroup>;
  readonly isUp: (node: NodeId) => boolean;
  /** Ticks for which the disk of a leader may lack what others have. */
  readonly slowTicks: number;
  readonly emit: (event: Event) => void;
}

type HandOver = Extract<Command, { readonly kind: 'hand_over' }>;

/** Ticks after which what could not be given away is given up. */
const GIVE_UP_TICKS = 30;

/** Another node must lead fewer groups by this many before one is moved there. */
const IMBALANCE_MIN = 2;

interface Task {
  readonly command: HandOver;
  ticks: number;
}

/**
 * Moves leaderships to other nodes: when a node leaves, when it is told to, when its disk is slow, and to
 * spread them evenly.
 */
export class Handover {
  private readonly tasks: Task[] = [];
  private givesAway = false;
  private leaving = false;

  constructor(private readonly options: HandoverOptions) {}

  /** `handed_over` follows. */
  start(command: HandOver): void {
    if (!command.stay) this.leaving = true;
    this.tasks.push({ command, ticks: 0 });
    this.work();
  }

  giveAway(on: boolean): void {
    if (on === this.givesAway) return;
    this.givesAway = on;
    if (on) this.work();
  }

  /** True if all leaderships go to others. */
  get isGivingAway(): boolean {
    return this.leaving || this.givesAway;
  }

  /** True if there is nothing to move. */
  get isIdle(): boolean {
    return this.tasks.length === 0 && !this.isGivingAway;
  }

  tick(): void {
    for (const task of this.tasks) task.ticks += 1;
    this.work();
    this.giveToQuicker();
  }

  /** @param leading how many groups each of the other nodes leads */
  balance(leading: ReadonlyMap<NodeId, number>): void {
    if (this.isGivingAway || this.tasks.length > 0) return;
    const own = [...this.options.groups.values()].filter((group) => group.role === 'leader');
    // The node that leads least comes first. A node that votes in no group of this one, such as a learner, can take none.
    const others = [...leading]
      .filter(([node]) => this.options.isUp(node))
      .sort(([, one], [, other]) => one - other);
    for (const [node, leads] of others) {
      if (own.length - leads < IMBALANCE_MIN) return;
      // The root group and busy ones may move as well as others: a transfer takes a round trip.
      const movable = own.find(({ members }) => members.voters.includes(node));
      if (movable?.transfer(node, this.options.isUp) === true) return;
    }
  }

  private work(): void {
    for (const task of [...this.tasks]) {
      const left = this.handOver(task.command);
      if (left > 0 && task.ticks < GIVE_UP_TICKS) continue;
      this.tasks.splice(this.tasks.indexOf(task), 1);
      this.options.emit({ kind: 'handed_over', id: task.command.id, left });
    }
    if (!this.isGivingAway) return;
    for (const group of this.options.groups.values()) this.transfer(group, 0);
  }

  /**
   * Everybody waits for the disk of a leader, while a majority of the others has on theirs what is not on
   * that one.
   */
  private giveToQuicker(): void {
    for (const group of [...this.options.awake])
      if (group.outrunTicks >= this.options.slowTicks) this.transfer(group, 0);
  }

  /** @returns how many groups this node still leads of those that it should not */
  private handOver({ group, to }: HandOver): number {
    const { groups } = this.options;
    const concerned = group === null ? [...groups.values()] : [groups.get(group)];
    let left = 0;
    for (const each of concerned) {
      if (each === undefined || each.role !== 'leader' || each.members.voters.length < 2) continue;
      this.transfer(each, to);
      left += 1;
    }
    return left;
  }

  private transfer(group: MovableGroup, to: NodeId): void {
    if (group.role === 'leader') group.transfer(to, this.options.isUp);
  }
}
