import {
  changeOf,
  type InstallSnapshot,
  type Membership,
  type Message,
  membersOf,
  RaftNode,
  type Ready,
  type Write,
} from 'raft-ts';
import { decodeMembership } from '../between/membership.js';
import type { Applied, GroupId, MembershipStep, NodeId, PreparedAnswer } from '../between/protocol.js';
import { EngineView } from './engine-view.js';
import type { GroupContext } from './group-context.js';
import type { GroupWatch } from './group-figures.js';
import { GroupLog } from './group-log.js';
import { changeStepOf, stepTowards } from './group-members.js';
import { GroupWrites } from './group-writes.js';
import { LeadershipTransfer } from './leadership-transfer.js';
import { LostTailError } from './log-fit.js';
import { LagQuestion, LagWatch } from './watches/lag-watch.js';
import { OutrunWatch } from './watches/slow-disk.js';

/**
 * One Raft group on this node: its core, its log, and what the engine side was told of it.
 */
export class RaftGroup {
  private readonly log: GroupLog;
  private readonly raft: RaftNode;
  private readonly watch: GroupWatch | undefined;
  private readonly writes: GroupWrites;
  private readonly told: EngineView;
  private appliedIndex: number;
  private dropped = false;
  private processing = false;
  private quietTicks = 0;
  private readonly lag = new LagWatch();
  private readonly outrun = new OutrunWatch();
  private readonly transfers: LeadershipTransfer;

  /** @param applied where the state of this node stands, which is durable there */
  constructor(
    readonly id: GroupId,
    private readonly context: GroupContext,
    applied: Applied,
  ) {
    this.watch = context.watch(id);
    const view = context.view(id);
    const membership = decodeMembership(applied.membership);
    this.log = new GroupLog(view, { ...applied, membership });
    this.writes = new GroupWrites(id, this.log, context.writer, (write) => {
      if (!this.dropped) context.guarded(() => this.written(write));
    });
    this.told = new EngineView(id, this.log, context, this.watch, { ...applied, membership });
    this.appliedIndex = applied.index;
    const { nodeClass: Core = RaftNode, ...observed } = context.observe(id);
    this.raft = new Core({
      ...context.options,
      ...observed,
      id: context.nodeId,
      log: this.log,
      hardState: view.hardState ?? { term: applied.term, vote: 0, commit: applied.index },
      applied: applied.index,
      membership,
      random: context.random,
      hasRoom: (to) => context.hasRoom(id, to),
    });
    this.transfers = new LeadershipTransfer({
      group: id,
      raft: this.raft,
      epoch: () => this.told.epoch,
      emit: context.emit,
    });
  }

  get role(): RaftNode['role'] {
    return this.raft.role;
  }

  /** True if nothing is to be done here as time goes. */
  get quiesced(): boolean {
    return this.raft.quiesced && !this.told.isSuspended && !this.transfers.isUnderWay;
  }

  /** The members that the group sleeps without, if this node leads it. */
  get asleepWithout(): ReadonlySet<NodeId> {
    return this.raft.asleepWithout;
  }

  status(): ReturnType<RaftNode['status']> {
    return this.raft.status();
  }

  /** The last entry that the state holds, as far as the engine side told. */
  get appliedTo(): number {
    return this.appliedIndex;
  }

  /** The membership in force as far as entries were handed over. */
  get members(): Membership {
    return this.told.members;
  }

  /** The node that leads, as far as this one knows; 0 for none. */
  get leader(): NodeId {
    return this.raft.leader;
  }

  /**
   * Begins to take part. A group of one elects itself at once.
   *
   * @param campaign whether to call an election now, because nobody leads a group that is just being made
   */
  start(campaign: boolean): void {
    const { voters } = this.raft.membership;
    const isAlone = voters.length === 1 && voters[0] === this.context.nodeId;
    if (isAlone || (campaign && voters.includes(this.context.nodeId))) this.raft.campaign();
    this.process();
  }

  /** Ticks for which the log of this node has lacked an entry that is committed. */
  get outrunTicks(): number {
    return this.outrun.ticks;
  }

  tick(): void {
    this.raft.tick();
    // While a snapshot is installed there is no log.
    const { commitIndex, stableIndex } = this.raft;
    this.outrun.tick(commitIndex, this.writes.isInstalling ? commitIndex : stableIndex);
    this.transfers.tick();
    this.process();
    this.leadAgain();
    this.fallSilent();
  }

  /** Tells the core something, and does what follows from it. */
  tell(work: (raft: RaftNode) => void): void {
    work(this.raft);
    this.process();
  }

  /** @throws LostTailError */
  step(message: Message): void {
    this.raft.step(message);
    const { lostTail } = this.raft;
    if (lostTail > 0) throw new LostTailError(this.id, lostTail, this.raft.status().lastIndex);
    this.process();
  }

  propose(
    epoch: number,
    payloads: readonly Uint8Array[],
    answers: readonly (PreparedAnswer | null)[] = [],
  ): void {
    // Proposals of an epoch that is over were taken back by the engine side already, or will be soon.
    if (epoch !== this.told.epoch) return;
    if (!this.accepts(payloads, answers)) {
      // As many as fit are taken: all of them would come again, and be refused again, for ever.
      const refused = payloads.findIndex(
        (payload, at) => !this.accepts([payload], answers.slice(at, at + 1)),
      );
      if (refused >= 0) {
        this.watch?.refused(payloads.length - refused);
        this.suspend();
      }
    }
    this.process();
  }

  private accepts(payloads: readonly Uint8Array[], answers: readonly (PreparedAnswer | null)[]): boolean {
    const result = this.context.writer.blocked ? null : this.raft.propose(payloads);
    if (result?.status !== 'accepted') return false;
    this.watch?.proposed(result.lastIndex);
    this.told.answers.add(result.firstIndex, answers);
    return true;
  }

  mark(epoch: number, id: number): void {
    this.told.mark(epoch, id, this.raft.status().lastIndex);
  }

  /**
   * The engine side must take back what is not committed, because some of it can't be taken or can't be
   * written now. It gets as entries what was proposed before, if that is committed after all; then it leads
   * again, as soon as it is of use: at once it would only be refused again, and again.
   */
  suspend(): void {
    if (!this.told.suspend(this.raft.status().lastIndex)) return;
    this.context.wake(this.id);
    this.leadAgain();
  }

  /** Lets the engine side of a suspended leader lead again, if the time has come. */
  leadAgain(): void {
    if (this.raft.takesProposals && !this.context.writer.blocked) this.told.leadAgain();
  }

  read(id: number): void {
    this.watch?.readAsked(id);
    const result = this.raft.readIndex(id);
    if (result.status === 'dropped') {
      this.watch?.readAnswered(id);
      this.context.emit({ kind: 'read', group: this.id, id, index: null });
    }
    this.process();
  }

  /**
   * Finds out how far the state lags behind the leader. To be called several times a second.
   *
   * @param now monotonic milliseconds
   */
  watchLag(now: number): void {
    const { role, leader, term, commitIndex, quiesced } = this.raft;
    const { appliedIndex } = this;
    const isLeader = role === 'leader';
    const question = this.lag.look({ isLeader, leader, term, commitIndex, appliedIndex, quiesced }, now);
    if (question === null) return;
    if (this.raft.readIndex(question).status === 'dropped') this.lag.answered(question, null);
    this.process();
  }

  /** True if the state may lack something that was committed. */
  get isLagging(): boolean {
    return this.lag.isLagging;
  }

  /** Milliseconds for which the state may have lacked something that was committed. */
  lagMs(now: number): number {
    return this.lag.lagMs(now);
  }

  /** The state holds everything up to here. */
  applied(index: number): void {
    if (index <= this.appliedIndex) return;
    this.appliedIndex = index;
    this.raft.applied(index);
    this.process();
    this.leadAgain();
  }

  /** A part of the log, as far as this node knows it to be committed; null where it begins beyond that. */
  readPart(after: number, upTo: number, bytes: number): ReturnType<GroupLog['readPart']> | null {
    // Entries beyond may be those of a leader that was deposed, though others have committed theirs at the same indexes; on the disk such
    // may still lie behind `stableIndex`.
    const { stableIndex, commitIndex, lastIndex } = this.raft.status();
    const end = Math.min(stableIndex, commitIndex);
    if (this.writes.isInstalling || (after > end && after <= lastIndex)) return null;
    return this.log.readPart(after, Math.min(upTo, end), bytes);
  }

  /** The state is durable up to here; lets the log go, but for `keep` entries, and what lies behind `keptFrom`, or the checkpoint before. */
  checkpointed(applied: Applied, keep: number, keptFrom = this.log.snapshot().index): void {
    this.log.checkpointed({ ...applied, membership: decodeMembership(applied.membership) });
    const upTo = Math.min(applied.index - keep, keptFrom);
    if (upTo < this.log.firstIndex()) return;
    this.context.writer.compact(this.id, upTo, () => this.context.cut(this.id));
  }

  /** Does nothing any more: the group is gone, or another object takes the place of this one. */
  drop(): void {
    this.dropped = true;
  }

  /** A node that this group may have to do with is gone, or began anew. */
  peerDown(node: NodeId): void {
    if (this.raft.role === 'leader') {
      this.raft.memberGone(node);
      this.context.wake(this.id);
    } else if (this.raft.leader === node) {
      this.raft.leaderSilent();
    }
    this.process();
  }

  /** The node that leads this group, which is silent, is not there: it may have gone before the group fell silent here. */
  leaderGone(): void {
    if (this.raft.role !== 'leader') this.tell((raft) => raft.leaderSilent());
  }

  /** A node that this group sleeps without is there again. */
  peerBack(node: NodeId): void {
    this.tell((raft) => raft.memberBack(node));
  }

  /** Gives the leadership to a member; to the one that is furthest if none is named. False if nobody can have it. */
  transfer(to: NodeId, isUp: (node: NodeId) => boolean): boolean {
    const isBegun = this.transfers.begin(to, isUp);
    if (isBegun) this.context.wake(this.id);
    this.process();
    return isBegun;
  }

  /** The engine side has finished what it had begun in an epoch, for a transfer. */
  released(epoch: number): void {
    this.transfers.released(epoch);
    this.process();
  }

  /** Changes the membership; the event `membership_answer` tells what came of it if there is an id. */
  change(id: number | null, steps: readonly MembershipStep[]): void {
    const result = this.raft.proposeChange(changeOf(...steps.map(changeStepOf)));
    if (id !== null) this.told.changeAsked(id, result);
    this.process();
  }

  /**
   * Moves one step towards having the same members as another membership, if this node leads.
   *
   * @param isUp whether another node can be reached: nobody is removed whom the others could not go on
   *   without
   * @returns false if this node has to go: then it must give the leadership away first
   */
  follow(wanted: Membership, isUp: (node: NodeId) => boolean): boolean {
    if (this.raft.role !== 'leader') return true;
    // Not what was handed over: a new leader may be far behind with that, and would add a voter once more, as
    // a learner.
    const step = stepTowards(wanted, this.raft.membership, this.context.nodeId, isUp);
    if (step !== null && step !== 'go') this.change(null, [step]);
    return step !== 'go';
  }

  snapshotArrived(message: InstallSnapshot): void {
    const { index } = message.snapshot;
    const before = this.raft.status().installing;
    if (!this.writes.isInstalling) this.step(message);
    // A snapshot that is taken is installed later if writes are under way. The same one may be on its way
    // already.
    const isTaken = before !== index && this.raft.status().installing === index;
    if (!isTaken) this.context.emit({ kind: 'install_refused', group: this.id });
  }

  /** The state is that of the snapshot now. */
  installed(applied: Applied): void {
    const { index, membership } = this.writes.installed(applied.index);
    this.told.installed({ ...applied, membership });
    this.appliedIndex = index;
  }

  /** Does everything that is ready, until nothing is. */
  private process(): void {
    if (this.processing) return;
    this.processing = true;
    try {
      while (!this.dropped && this.raft.hasReady()) this.handle(this.raft.ready());
    } finally {
      this.processing = false;
    }
    if (!this.quiesced) this.context.wake(this.id);
  }

  private handle(ready: Ready): void {
    if (ready.soft !== null) {
      this.context.wake(this.id);
      this.told.roleChanged(ready.soft);
    }
    const snapshot = ready.write === null ? null : this.writes.add(ready.write);
    if (snapshot !== null) this.context.emit({ kind: 'install', group: this.id, index: snapshot.index });
    this.transmit(ready.messages);
    if (ready.committed.length > 0) this.commit(ready);
    for (const read of ready.reads) {
      const index = read.outcome === 'ready' ? read.index : null;
      if (read.context instanceof LagQuestion) {
        this.lag.answered(read.context, index);
        continue;
      }
      this.watch?.readAnswered(Number(read.context));
      this.context.emit({ kind: 'read', group: this.id, id: Number(read.context), index });
    }
  }

  /** Lets a group in which nothing happens be silent. */
  private fallSilent(): void {
    const away = this.raft.role === 'leader' ? this.away : null;
    if (away === null || this.transfers.isUnderWay || !this.raft.canQuiesce(away)) {
      this.quietTicks = 0;
      return;
    }
    this.quietTicks += 1;
    if (this.quietTicks < QUIET_TICKS) return;
    this.quietTicks = 0;
    this.raft.quiesce(away);
    this.process();
  }

  /** The other members that can't be reached. */
  private get away(): ReadonlySet<NodeId> {
    const { nodeId, isUp } = this.context;
    const isAway = (node: NodeId): boolean => node !== nodeId && !isUp(node);
    return new Set(membersOf(this.raft.membership).filter(isAway));
  }

  private written(write: Write): void {
    this.writes.ended(write);
    this.noteCut();
    const released = this.raft.persisted(write);
    if (write.snapshot !== null) this.raft.snapshotInstalled(write.snapshot.index);
    this.transmit(released);
    this.process();
  }

  /** The log may have been cut: Raft must know before it reads there. */
  noteCut(): void {
    this.raft.compacted(this.log.firstIndex() - 1);
  }

  /** Snapshots go another way than all other messages. */
  private transmit(messages: readonly Message[]): void {
    if (messages.length === 0) return;
    if (!messages.some(isSnapshot)) {
      this.context.transmit(this.id, messages);
      return;
    }
    const others = messages.filter((message) => !isSnapshot(message));
    if (others.length > 0) this.context.transmit(this.id, others);
    for (const message of messages) if (isSnapshot(message)) this.context.sendSnapshot(this.id, message);
  }

  private commit(ready: Ready): void {
    const { role, term } = this.raft;
    const own = this.told.commit(ready, role === 'leader' ? term : 0);
    // The engine side had applied this node's own proposals before.
    if (own > this.appliedIndex) this.appliedIndex = own;
    if (own > 0) this.raft.applied(this.appliedIndex);
    this.leadAgain();
  }
}

/** Ticks in which nothing happened before a group falls silent. */
const QUIET_TICKS = 10;

function isSnapshot(message: Message): message is InstallSnapshot {
  return message.kind === 'snapshot';
}
