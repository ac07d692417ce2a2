import type { LogView } from '@althing/storage';
import {
  changeOf,
  type Entry,
  type InstallSnapshot,
  type Membership,
  type Message,
  membersOf,
  type RaftConfig,
  RaftNode,
  type RaftOptions,
  type Ready,
  type SoftState,
  type Write,
} from 'raft-ts';
import type { Clock } from '../base/clock.js';
import { elementAt } from '../base/element.js';
import { decodeMembership, encodeMembership } from '../between/membership.js';
import { Pacer } from '../between/pacer.js';
import type {
  Applied,
  CommittedEntry,
  Event,
  GroupId,
  LogPosition,
  MembershipStep,
  NodeId,
  PreparedAnswer,
} from '../between/protocol.js';
import { ExitCode } from '../config/exit-codes.js';
import { GroupLog } from './group-log.js';
import { changeStepOf, stepTowards, successorOf } from './group-members.js';
import { GroupWrites } from './group-writes.js';
import type { LogWriter } from './log-writer.js';
import { PreparedAnswers } from './prepared-answers.js';
import type { GroupWatch } from './watches/group-watch.js';
import { LagQuestion, LagWatch } from './watches/lag-watch.js';
import { OutrunWatch } from './watches/slow-disk.js';

/** Additions of a harness to the core of a group. */
export interface Observation extends Pick<RaftConfig, 'trace'> {
  /** Another core in place of the sound one. */
  readonly nodeClass?: typeof RaftNode;
}

/** The host that drives a group, as the group sees it. */
export interface GroupContext {
  readonly nodeId: number;
  /** The durable log of the group. */
  readonly view: (group: GroupId) => LogView;
  readonly writer: LogWriter;
  readonly options: Partial<RaftOptions>;
  readonly observe: (group: GroupId) => Observation;
  /** Counts the events of a group. */
  readonly watch: (group: GroupId) => GroupWatch | undefined;
  readonly random: () => number;
  /** A number that was never given before. */
  readonly nextEpoch: () => number;
  /** Hands an event over to the engine side. */
  readonly emit: (event: Event) => void;
  /** Sends the answer to a call of another node. */
  readonly answer: (answer: PreparedAnswer) => void;
  /** Sends messages to other nodes. */
  readonly transmit: (group: GroupId, messages: readonly Message[]) => void;
  /** Whether entries may be sent to a node now. */
  readonly hasRoom: (group: GroupId, to: NodeId) => boolean;
  /** See `GroupHostOptions`. */
  readonly clock: Pick<Clock, 'now' | 'after'> | undefined;
  /** Sends a snapshot of the state to another node; `snapshotSent` is due afterwards. */
  readonly sendSnapshot: (group: GroupId, message: InstallSnapshot) => void;
  /** The log of a group was cut: its core must know, whichever that is by then. */
  readonly cut: (group: GroupId) => void;
  /** Whether another node can be reached. */
  readonly isUp: (node: NodeId) => boolean;
  /** Something happened in a group, so that it may not be asleep, or sleep for other reasons. */
  readonly stirred: (group: GroupId) => void;
  /** Runs what must not fail: an error ends the node. */
  readonly guarded: (work: () => void) => void;
}

/**
 * One Raft group on this node: its core, its log, and what the engine side was told of it.
 */
export class RaftGroup {
  readonly id: GroupId;
  private readonly context: GroupContext;
  private readonly log: GroupLog;
  private readonly raft: RaftNode;
  private readonly watch: GroupWatch | undefined;
  private readonly writes: GroupWrites;
  private readonly answers: PreparedAnswers;
  /** The term in which the engine side was told that it leads; 0 while it was not. */
  private leadingTerm = 0;
  /** The epoch that goes with it. What comes under another one was sent before the engine side knew. */
  private epoch = 0;
  /** Places that the engine side asked for, with the index that must be committed first. */
  private readonly marks: Mark[] = [];
  private membership: Uint8Array;
  /**
   * The engine side of a leader that is suspended leads again once everything up to `at` was handed over and
   * changes would be taken; null when nothing waits for that.
   */
  private resume: { readonly at: number; readonly term: number } | null = null;
  private appliedIndex: number;
  /** Every committed entry up to here was handed over. */
  private handedOver: number;
  private dropped = false;
  private processing = false;
  /** Changes of the membership that were asked for and wait to be committed. */
  private readonly changes: { readonly id: number; readonly index: number; readonly term: number }[] = [];
  private decodedMembership: Membership;
  private quietTicks = 0;
  private readonly lag = new LagWatch();
  private readonly outrun = new OutrunWatch();
  /** Null: followers are told at once what is committed. */
  private readonly notices: Pacer | null;
  /** Whether the last proposal came within a pause behind a commit. */
  private streams = false;

  /**
   * @param applied where the state of this node stands, which is durable there
   */
  constructor(id: GroupId, context: GroupContext, applied: Applied) {
    this.id = id;
    this.context = context;
    this.watch = context.watch(id);
    const view = context.view(id);
    const membership = decodeMembership(applied.membership);
    this.log = new GroupLog(view, { ...applied, membership });
    this.writes = new GroupWrites(id, this.log, context.writer, (write) => {
      if (!this.dropped) context.guarded(() => this.written(write));
    });
    this.answers = new PreparedAnswers(context.answer);
    this.membership = applied.membership;
    this.decodedMembership = membership;
    this.appliedIndex = applied.index;
    this.handedOver = applied.index;
    const { clock } = context;
    const tellCommit = (): void => context.guarded(() => this.tellCommit());
    this.notices = clock === undefined ? null : new Pacer(clock, NOTICE_MS, tellCommit);
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
      holdsNotice: () => this.holdsNotice(),
    });
  }

  get role(): RaftNode['role'] {
    return this.raft.role;
  }

  /** Whether nothing is to be done here as time goes. */
  get quiesced(): boolean {
    return this.raft.quiesced && this.resume === null;
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
    return this.decodedMembership;
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
    this.process();
    this.leadAgain();
    this.fallSilent();
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
    if (epoch !== this.epoch) return;
    this.streams = this.notices?.isPaused ?? false;
    const result = this.context.writer.blocked ? null : this.raft.propose(payloads);
    if (result?.status === 'accepted') {
      this.watch?.proposed(result.lastIndex);
      this.answers.add(result.firstIndex, answers);
    } else {
      this.watch?.refused(payloads.length);
      this.suspend();
    }
    this.process();
  }

  mark(epoch: number, id: number): void {
    if (epoch !== this.epoch) {
      this.context.emit({ kind: 'mark_lost', group: this.id, id });
      return;
    }
    const { lastIndex: index } = this.raft.status();
    this.marks.push({ id, index });
    this.context.emit({ kind: 'mark_placed', group: this.id, id, index });
    this.reachMarks();
  }

  /**
   * The engine side must take back what is not committed, because some of it can't be taken or can't be
   * written now. It gets as entries what was proposed before, if that is committed after all; then it leads
   * again, as soon as it is of use: at once it would only be refused again, and again.
   */
  suspend(): void {
    const { leadingTerm } = this;
    if (leadingTerm === 0) return;
    this.stopLeading();
    this.context.emit({ kind: 'suspended', group: this.id });
    this.resume = { at: this.raft.status().lastIndex, term: leadingTerm };
    this.context.stirred(this.id);
    this.leadAgain();
  }

  /** Lets the engine side of a suspended leader lead again, if the time has come. */
  leadAgain(): void {
    const { resume } = this;
    if (resume === null || resume.at > this.handedOver) return;
    if (this.raft.takesProposals && !this.context.writer.blocked) this.lead(resume.term);
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

  /** Whether the state may lack something that was committed. */
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

  /** The state is durable up to here; lets the log go, but for `keep` entries. */
  checkpointed(applied: Applied, keep: number): void {
    this.log.checkpointed({ ...applied, membership: decodeMembership(applied.membership) });
    const upTo = applied.index - keep;
    if (upTo < this.log.firstIndex()) return;
    this.context.writer.compact(this.id, upTo, () => this.context.cut(this.id));
  }

  /** Does nothing any more: the group is gone, or another object takes the place of this one. */
  drop(): void {
    this.dropped = true;
  }

  /** Entries for a node could not be sent. */
  unsent(to: NodeId): void {
    this.raft.reportUnreachable(to);
    this.process();
  }

  /** Entries for a node may be sent again. */
  roomFor(to: NodeId): void {
    this.raft.roomFor(to);
    this.process();
  }

  /** A node that this group may have to do with is gone, or began anew. */
  peerDown(node: NodeId): void {
    if (this.raft.role === 'leader') {
      this.raft.memberGone(node);
      this.context.stirred(this.id);
    } else if (this.raft.leader === node) {
      this.raft.leaderSilent();
    }
    this.process();
  }

  /**
   * The node that leads this group, which is silent, is not there: it may have gone before the group fell
   * silent here.
   */
  leaderGone(): void {
    if (this.raft.role === 'leader') return;
    this.raft.leaderSilent();
    this.process();
  }

  /** A node that this group sleeps without is there again. */
  peerBack(node: NodeId): void {
    this.raft.memberBack(node);
    this.process();
  }

  /**
   * Gives the leadership to a member; to the one that is furthest if none is named. False if nobody can have
   * it.
   */
  transfer(to: NodeId, isUp: (node: NodeId) => boolean): boolean {
    const target = to === 0 ? successorOf(this.raft.status(), isUp) : to;
    const accepted = target !== 0 && this.raft.transferLeadership(target).status === 'accepted';
    this.process();
    return accepted;
  }

  /** Changes the membership; the event `membership_answer` tells what came of it if there is an id. */
  change(id: number | null, steps: readonly MembershipStep[]): void {
    const result = this.raft.proposeChange(changeOf(...steps.map(changeStepOf)));
    if (result.status === 'accepted') {
      if (id !== null) this.changes.push({ id, index: result.index, term: result.term });
    } else if (id !== null) {
      this.answerChange(id, result.reason);
    }
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

  /** A snapshot that was sent to a member arrived, or did not. */
  snapshotSent(to: NodeId, arrived: boolean): void {
    this.raft.reportSnapshot(to, arrived);
    this.process();
  }

  /** All of a snapshot is here. */
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
    this.membership = applied.membership;
    this.decodedMembership = membership;
    this.appliedIndex = index;
    this.handedOver = index;
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
    if (!this.quiesced) this.context.stirred(this.id);
  }

  private handle(ready: Ready): void {
    if (ready.soft !== null) {
      this.context.stirred(this.id);
      this.roleChanged(ready.soft);
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

  private roleChanged({ role, term, leader }: SoftState): void {
    const epochTerm = this.resume?.term ?? this.leadingTerm;
    if (epochTerm !== 0 && (role !== 'leader' || term !== epochTerm)) this.stopLeading();
    this.watch?.leaderChanged(leader);
    if (role === 'leader') return;
    this.context.emit({ kind: 'following', group: this.id, term, leader });
    for (const { id } of this.changes.splice(0)) this.answerChange(id, 'leadership_lost');
  }

  /**
   * Whether the followers are told a moment later that something is committed. A client that was answered and asks again
   * at once is the rule where one follows the other; then a message of its own for each commit would cost both sides about
   * as much as the entries, which come a moment later and tell it, too.
   */
  private holdsNotice(): boolean {
    if (this.notices === null) return false;
    this.notices.pause();
    return this.streams && this.notices.holds();
  }

  private tellCommit(): void {
    if (this.dropped) return;
    this.raft.tellCommit();
    this.process();
  }

  private answerChanges({ index, term }: Entry): void {
    for (
      let change = this.changes[0];
      change !== undefined && change.index <= index;
      change = this.changes[0]
    ) {
      this.changes.shift();
      this.answerChange(change.id, change.index === index && change.term === term ? null : 'lost');
    }
  }

  private answerChange(id: number, problem: string | null): void {
    this.context.emit({ kind: 'membership_answer', group: this.id, id, problem });
  }

  /** Lets a group in which nothing happens be silent. */
  private fallSilent(): void {
    const away = this.raft.role === 'leader' ? this.away : null;
    if (away === null || !this.raft.canQuiesce(away)) {
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

  private stopLeading(): void {
    this.leadingTerm = 0;
    this.epoch = 0;
    this.resume = null;
    this.watch?.lost();
    this.answers.clear();
    for (const { id } of this.marks.splice(0)) this.context.emit({ kind: 'mark_lost', group: this.id, id });
  }

  private lead(term: number): void {
    this.leadingTerm = term;
    this.epoch = this.context.nextEpoch();
    this.resume = null;
    this.context.emit({ kind: 'leading', group: this.id, epoch: this.epoch });
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

  private commit({ committed, committedMemberships }: Ready): void {
    let entries: CommittedEntry[] = [];
    let own = 0;
    let lastOwn: LogPosition | null = null;
    let last: LogPosition | null = null;
    const flush = (membership?: Uint8Array): void => {
      if (lastOwn !== null) {
        this.watch?.committed(lastOwn.index, own);
        this.answers.commit(lastOwn.index);
        this.context.emit({ kind: 'committed', group: this.id, count: own, last: positionOf(lastOwn) });
      }
      if (last !== null) {
        const event: Event = { kind: 'entries', group: this.id, entries, last: positionOf(last) };
        this.context.emit(membership === undefined ? event : { ...event, membership });
      }
      own = 0;
      lastOwn = null;
      entries = [];
      last = null;
    };
    for (const entry of committed) {
      this.handedOver = entry.index;
      if (this.leadingTerm !== 0 && entry.term === this.leadingTerm) {
        if (entry.kind === 'normal') own += 1;
        lastOwn = entry;
      } else {
        if (entry.kind === 'normal') entries.push(entryOf(entry));
        last = entry;
      }
      if (entry.kind === 'change') {
        const changed = committedMemberships.find(({ index }) => index === entry.index)?.membership;
        const encoded = changed === undefined ? undefined : encodeMembership(changed);
        flush(encoded);
        // A mark gets the membership that was in force there, and not a later one.
        this.reachMarks(entry.index - 1);
        if (changed !== undefined && encoded !== undefined) this.membershipChanged(entry, changed, encoded);
      }
      if (entry.kind === 'noop' && this.raft.role === 'leader' && entry.term === this.raft.term) {
        flush();
        this.lead(entry.term);
      }
    }
    flush();
    // The engine side had applied this node's own proposals before.
    const end = elementAt(committed, committed.length - 1);
    if (this.leadingTerm !== 0 && end.term === this.leadingTerm) {
      this.appliedIndex = Math.max(this.appliedIndex, end.index);
      this.raft.applied(this.appliedIndex);
    }
    this.reachMarks();
    this.leadAgain();
  }

  private membershipChanged(entry: Entry, membership: Membership, encoded: Uint8Array): void {
    this.membership = encoded;
    this.decodedMembership = membership;
    this.answerChanges(entry);
    this.context.emit({ kind: 'membership', group: this.id, index: entry.index, membership: encoded });
  }

  /** Answers the marks up to an index. All entries up to there were handed over, so they are durable here. */
  private reachMarks(index = this.handedOver): void {
    for (let mark = this.marks[0]; mark !== undefined && mark.index <= index; mark = this.marks[0]) {
      this.marks.shift();
      const applied: Applied = {
        index: mark.index,
        term: this.log.term(mark.index),
        hash: this.log.hash(mark.index),
        membership: this.membership,
      };
      this.context.emit({ kind: 'marked', group: this.id, id: mark.id, applied });
    }
  }
}

/** The disk has lost what it had reported as durable. */
export class LostTailError extends Error {
  readonly exitCode = ExitCode.DataDamaged;

  constructor(group: GroupId, promised: number, last: number) {
    super(
      `The disk has lost what it reported as written: group ${group} ends with entry ${last} here, and this node has ` +
        `acknowledged entry ${promised}. Its vote can not be trusted any more: move the data folder away, so that the ` +
        'node joins again as a new member.',
    );
  }
}

/** How long followers may not be told that something is committed, in milliseconds. */
const NOTICE_MS = 3;

/** Ticks in which nothing happened before a group falls silent. */
const QUIET_TICKS = 10;

function isSnapshot(message: Message): message is InstallSnapshot {
  return message.kind === 'snapshot';
}

interface Mark {
  readonly id: number;
  /** Index of the entry that must be committed first. */
  readonly index: number;
}

function positionOf({ index, term, hash }: LogPosition): LogPosition {
  return { index, term, hash };
}

function entryOf({ index, term, hash, payload }: Entry): CommittedEntry {
  return { index, term, hash, payload };
}
