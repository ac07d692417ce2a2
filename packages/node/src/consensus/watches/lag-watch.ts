import { type GroupId, type NodeId, ROOT_GROUP } from '../../between/protocol.js';

export interface GroupSight {
  readonly isLeader: boolean;
  /** 0 while none is known. */
  readonly leader: NodeId;
  readonly term: number;
  readonly commitIndex: number;
  /** The last entry that the state holds. */
  readonly appliedIndex: number;
  /** True if the leader said that every member has everything. */
  readonly quiesced: boolean;
}

/** A question to the leader: what is committed? */
export class LagQuestion {
  /** @param askedAt monotonic milliseconds */
  constructor(readonly askedAt: number) {}
}

/** The index that the state has to reach so that it is no older than a question. */
interface Target {
  readonly index: number;
  readonly askedAt: number;
}

/** Answers whose index the state has not reached; with more of them nothing is asked. */
const TARGETS_MAX = 100;

/**
 * The lag of a group's state behind its leader, as a time: since when it is not known that the state
 * holds everything that is committed. A leader tells a member in its heartbeats only what that member has,
 * so the leader is asked, as for a read; and only when something happened since it was asked last, so that an
 * idle group falls silent. A group without a leader lags behind nobody.
 */
export class LagWatch {
  private seen: GroupSight | null = null;
  /** Since when it is not known that the state holds everything; null while it is. */
  private since: number | null = null;
  /** True if something happened since the leader was asked. */
  private doubtful = false;
  private question: LagQuestion | null = null;
  private readonly targets: Target[] = [];

  /**
   * Looks at the group.
   *
   * @param now monotonic milliseconds
   * @returns what the leader should be asked, for `answered`; null for nothing
   */
  look(sight: GroupSight, now: number): LagQuestion | null {
    const { seen } = this;
    const isKnown = !sight.isLeader && sight.leader !== 0;
    this.seen = isKnown ? sight : null;
    if (!isKnown || (sight.quiesced && sight.appliedIndex >= sight.commitIndex)) {
      this.settle();
      return null;
    }
    if (sight.quiesced) {
      this.since ??= now;
      return null;
    }
    if (seen === null || hasMoved(seen, sight)) {
      this.doubtful = true;
      this.since ??= now;
    }
    this.reached(sight.appliedIndex);
    if (!this.doubtful || this.question !== null || this.targets.length >= TARGETS_MAX) return null;
    this.doubtful = false;
    this.question = new LagQuestion(now);
    return this.question;
  }

  /**
   * @param index of the last entry that was committed when the leader got the question; null: it did not
   * answer
   */
  answered(question: LagQuestion, index: number | null): void {
    if (question !== this.question) return;
    this.question = null;
    if (index === null) this.doubtful = true;
    else this.targets.push({ index, askedAt: question.askedAt });
  }

  /** True if it is not known that the state holds everything. */
  get isLagging(): boolean {
    return this.since !== null;
  }

  /** Milliseconds for which the state may have lacked something that was committed. */
  lagMs(now: number): number {
    return this.since === null ? 0 : now - this.since;
  }

  private reached(appliedIndex: number): void {
    for (let first = this.targets[0]; first !== undefined; first = this.targets[0]) {
      if (first.index > appliedIndex) return;
      this.targets.shift();
      this.since = first.askedAt;
    }
    if (this.question === null && !this.doubtful) this.since = null;
  }

  private settle(): void {
    this.since = null;
    this.doubtful = false;
    this.question = null;
    this.targets.length = 0;
  }
}

function hasMoved(before: GroupSight, { leader, term, commitIndex }: GroupSight): boolean {
  return before.leader !== leader || before.term !== term || before.commitIndex !== commitIndex;
}

interface LaggingGroup {
  readonly id: GroupId;
  readonly isLagging: boolean;
  watchLag(now: number): void;
  lagMs(now: number): number;
}

/** The groups whose state lagged behind their leader when that was last looked at. */
export class LaggingGroups<Group extends LaggingGroup> {
  private readonly groups = new Set<Group>();

  /** Looks at these groups, and at those that lagged. */
  look(awake: Iterable<Group>, now: number): void {
    for (const group of new Set([...awake, ...this.groups])) {
      group.watchLag(now);
      if (group.isLagging) this.groups.add(group);
      else this.groups.delete(group);
    }
  }

  /** The one that lags most, and how far, in milliseconds. */
  worst(now: number): { readonly group: GroupId; readonly ms: number } {
    let worst = { group: ROOT_GROUP, ms: 0 };
    for (const group of this.groups) {
      const ms = group.lagMs(now);
      if (ms > worst.ms) worst = { group: group.id, ms };
    }
    return worst;
  }

  forget(group: Group): void {
    this.groups.delete(group);
  }
}
