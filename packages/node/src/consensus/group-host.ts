/**
 * Long because: every way in stands here, since each is guarded in the same way.
 */
import { type LogStore, StorageError } from '@althing/storage';
import {
  decodeMessage,
  encodeMessage,
  type InstallSnapshot,
  type Membership,
  type Message,
  RaftAssertionError,
  type RaftOptions,
} from 'raft-ts';
import type { Clock } from '../base/clock.js';
import { decodeMembership } from '../between/membership.js';
import {
  type Applied,
  type Command,
  type Event,
  type GroupId,
  type NodeId,
  type PreparedAnswer,
  ROOT_GROUP,
} from '../between/protocol.js';
import { ExitCode } from '../config/exit-codes.js';
import { Activity } from './activity.js';
import { EarlyMessages } from './early-messages.js';
import type { GroupNow } from './group-figures.js';
import { Handover } from './handover.js';
import { beginningOf, hashFits, MisfitError, misfitOf } from './log-fit.js';
import { LogWriter } from './log-writer.js';
import { type GroupContext, LostTailError, type Observation, RaftGroup } from './raft-group.js';
import { DiskWatch } from './watches/disk-watch.js';
import type { WatchGroup } from './watches/group-watch.js';
import { SlowDisk } from './watches/slow-disk.js';

export interface GroupHostOptions {
  readonly nodeId: number;
  readonly log: LogStore;
  readonly raft: Partial<RaftOptions>;
  /** A source of random 32-bit integers. */
  readonly random: () => number;
  readonly emit: (event: Event) => void;
  /** Sends the answer to a call of another node. */
  readonly answer: (answer: PreparedAnswer) => void;
  readonly transmit: (group: GroupId, messages: readonly Message[]) => void;
  /**
   * Whether entries may be sent to a node now; if not, `roomFor` is called once they may. Default: always.
   */
  readonly hasRoom?: (group: GroupId, to: NodeId) => boolean;
  /** Whether another node can be reached. */
  readonly isUp: (node: NodeId) => boolean;
  /** Entries that stay in the log behind a checkpoint, for followers that are a little behind. */
  readonly logTail: number;
  /** Free space on the disk below which data must not grow; 0 for none. */
  readonly lowDiskBytes: number;
  /**
   * Ticks for which the disk of a leader may lack what others have on theirs; half an election timeout by
   * default.
   */
  readonly slowDiskTicks?: number;
  /** Called when a write of the log begins, and when one is done; with whether more are under way. */
  readonly writing?: () => void;
  readonly written?: (more: boolean) => void;
  /** Clock of the pauses in which followers are not told what is committed. Default: they are told at once. */
  readonly clock?: Pick<Clock, 'now' | 'after'>;
  /** Counts the events of a group. */
  readonly watch?: WatchGroup;
  /** How a group's core is looked at, and whether it is another one; for the simulator. */
  readonly observe?: (group: GroupId) => Observation;
}

/**
 * Drives the Raft groups of a node: commands of the engine side, ticks, and messages of other nodes come in;
 * durable writes, messages and events go out. It has no clock and no I/O of its own.
 *
 * An error that nothing can be done about becomes the event `failed`; after that the host does nothing any
 * more.
 */
export class GroupHost {
  private readonly options: GroupHostOptions;
  private readonly groups = new Map<GroupId, RaftGroup>();
  private readonly activity = new Activity<RaftGroup>();
  /** Groups whose state lagged behind their leader when that was last looked at. */
  private readonly lagging = new Set<RaftGroup>();
  /** The membership that all groups were compared with; null for none. */
  private followed: Membership | null = null;
  /** Groups whose log is being laid out. */
  private readonly opening = new Set<GroupId>();
  private readonly context: GroupContext;
  private readonly writer: LogWriter;
  private readonly disk: DiskWatch;
  private readonly slowDisk: SlowDisk;
  private readonly early = new EarlyMessages();
  private readonly handover: Handover;
  private ticks = 0;
  private epochs = 0;
  private stopping = false;
  private dead = false;

  constructor(options: GroupHostOptions) {
    this.options = options;
    const { log, emit, lowDiskBytes } = options;
    this.disk = new DiskWatch({
      lowBytes: lowDiskBytes,
      changed: (level, freeBytes) => emit({ kind: 'disk', level, freeBytes }),
    });
    const slowTicks = options.slowDiskTicks ?? Math.max(2, Math.floor(this.electionTicks / 2));
    this.slowDisk = new SlowDisk({
      slowTicks,
      wellTicks: WELL_ELECTIONS * this.electionTicks,
      changed: (isSlow) => emit(slowDiskNews(isSlow)),
    });
    this.writer = new LogWriter(log, {
      full: () => this.guarded(() => this.logFull()),
      room: () => this.guarded(() => this.logHasRoom()),
      writing: options.writing ?? (() => undefined),
      written: options.written ?? (() => undefined),
      failed: (error) => this.failed(error),
    });
    this.context = {
      nodeId: options.nodeId,
      view: (group) => log.view(group),
      writer: this.writer,
      options: options.raft,
      observe: options.observe ?? (() => ({})),
      watch: options.watch ?? (() => undefined),
      random: options.random,
      nextEpoch: () => ++this.epochs,
      emit,
      answer: options.answer,
      transmit: options.transmit,
      hasRoom: options.hasRoom ?? (() => true),
      clock: options.clock,
      sendSnapshot: (group, message) =>
        emit({ kind: 'send_snapshot', group, to: message.to, message: encodeMessage(message) }),
      cut: (group) => this.guarded(() => this.groups.get(group)?.noteCut()),
      isUp: options.isUp,
      stirred: (group) => this.stirred(group),
      guarded: (work) => this.guarded(work),
    };
    const { groups, activity } = this;
    this.handover = new Handover({ groups, awake: activity.awake, isUp: options.isUp, slowTicks, emit });
  }

  handle(command: Command): void {
    this.guarded(() => this.obey(command));
  }

  /** One tick of Raft's time for every group that is not asleep. */
  tick(): void {
    this.guarded(() => {
      this.options.log.tick();
      this.activity.tick(this.options.isUp);
      this.early.tick();
      this.slowDisk.tick(this.outrunTicks);
      this.handover.tick();
      this.ticks += 1;
      if (this.ticks % FOLLOW_TICKS === 0) this.followRoot();
    });
  }

  /**
   * Whether no tick would do anything: all groups sleep, and nothing waits to be opened, moved, or for room. A
   * command, a message or news of a peer may end that.
   */
  get isCalm(): boolean {
    if (this.stopping || this.opening.size > 0 || this.disk.level !== 'ok' || this.slowDisk.isSlow)
      return false;
    if (!this.early.isEmpty || !this.handover.isIdle) return false;
    return this.activity.awake.size === 0 && this.groups.size > 0;
  }

  /** A message of another node to a group of this one. */
  receive(group: GroupId, message: Message): void {
    this.guarded(() => {
      const found = this.groups.get(group);
      if (found === undefined) this.early.keep(group, message);
      else found.step(message);
    });
  }

  /** Entries of a group could not be sent to a node. */
  unsent(group: GroupId, to: NodeId): void {
    this.guarded(() => this.groups.get(group)?.unsent(to));
  }

  /** Entries of a group may be sent to a node again. */
  roomFor(group: GroupId, to: NodeId): void {
    this.guarded(() => this.groups.get(group)?.roomFor(to));
  }

  /** Another node can't be reached any more, or was started anew. */
  peerDown(node: NodeId): void {
    this.guarded(() => {
      for (const group of this.groups.values()) group.peerDown(node);
    });
  }

  /** Gives all leaderships away, and those that this node comes to as well, until it is called off. */
  giveAway(on: boolean): void {
    this.guarded(() => this.handover.giveAway(on));
  }

  /** Leads fewer groups, by one, if another node leads clearly fewer. */
  balance(leading: ReadonlyMap<NodeId, number>): void {
    this.guarded(() => this.handover.balance(leading));
  }

  /** The nodes that were removed from the cluster. */
  get removed(): readonly NodeId[] {
    return this.groups.get(ROOT_GROUP)?.members.removed ?? [];
  }

  /** Number of groups that this node leads; as many as can be if it should lead none. */
  get load(): number {
    return this.slowDisk.isSlow || this.handover.isGivingAway ? FULL_LOAD : this.leading;
  }

  /** Number of groups that this node leads. */
  get leading(): number {
    let count = 0;
    for (const group of this.groups.values()) if (group.role === 'leader') count += 1;
    return count;
  }

  /**
   * So many bytes are free on the disk of the log. To be told now and then: what had no room is tried again.
   */
  noteFree(bytes: number): void {
    this.guarded(() => {
      this.disk.noteFree(bytes);
      this.writer.retry();
    });
  }

  status(group: GroupId): ReturnType<RaftGroup['status']> | undefined {
    return this.groups.get(group)?.status();
  }

  /** See `RaftGroup.watchLag`. */
  watchLag(now: number): void {
    this.guarded(() => {
      for (const group of new Set([...this.activity.awake, ...this.lagging])) {
        group.watchLag(now);
        if (group.isLagging) this.lagging.add(group);
        else this.lagging.delete(group);
      }
    });
  }

  /**
   * The group whose state is furthest behind its leader, and how far, in milliseconds. Who leads the root
   * group lags nowhere: so one node is left to be asked, however much there is to do in collections that
   * others lead.
   */
  lag(now: number): { readonly group: GroupId; readonly ms: number } {
    let worst = { group: ROOT_GROUP, ms: 0 };
    if (this.groups.get(ROOT_GROUP)?.role === 'leader') return worst;
    for (const group of this.lagging) {
      const ms = group.lagMs(now);
      if (ms > worst.ms) worst = { group: group.id, ms };
    }
    return worst;
  }

  /** Whether this node leads a group, and heard of a majority of its voters within an election timeout. */
  isConfirmed(group: GroupId): boolean {
    const status = this.status(group);
    if (status?.role !== 'leader') return false;
    const heard = this.heardOf(status);
    const { voters, outgoing } = status.membership;
    return [voters, outgoing].every(
      (half) => half.length === 0 || 2 * half.filter((node) => heard.has(node)).length > half.length,
    );
  }

  /**
   * How old what this node knows of the root group may be, in milliseconds: 0 where it leads with a majority,
   * or hears a leader and has what that one has. `alone` for the only voter; null when it has no word of a
   * majority now.
   */
  rootAge(now: number): number | 'alone' | null {
    const root = this.groups.get(ROOT_GROUP);
    const status = root?.status();
    if (root === undefined || status === undefined) return null;
    const { role, leader, membership, quiesced, electionElapsed } = status;
    const { voters, outgoing } = membership;
    const { nodeId, isUp } = this.options;
    if (voters.length === 1 && voters[0] === nodeId && outgoing.length === 0) return 'alone';
    if (role === 'leader') return this.isConfirmed(ROOT_GROUP) ? 0 : null;
    // A leader that no majority follows gives up by itself within an election timeout, and is heard no more.
    const isHeard = leader !== 0 && isUp(leader) && (quiesced || electionElapsed <= 2 * this.electionTicks);
    return isHeard ? root.lagMs(now) : null;
  }

  /** This node, and those that it heard of within an election timeout, as the leader of a group. */
  private heardOf({ peers }: ReturnType<RaftGroup['status']>): ReadonlySet<NodeId> {
    const { nodeId, isUp } = this.options;
    const heard = peers.filter(({ node, silentTicks }) => silentTicks <= this.electionTicks && isUp(node));
    return new Set([nodeId, ...heard.map(({ node }) => node)]);
  }

  /** The state of each group, for the page of figures. */
  get groupsNow(): GroupNow[] {
    return [...this.groups.values()].map((group) => this.nowOf(group));
  }

  private nowOf(group: RaftGroup): GroupNow {
    const status = group.status();
    const { role, term, leader, membership, commitIndex, lastIndex } = status;
    const isLeader = role === 'leader';
    const { voters, learners } = membership;
    const heard = this.heardOf(status);
    return {
      id: group.id,
      term,
      isLeader,
      hasLeader: leader !== 0,
      commitIndex,
      appliedIndex: group.appliedTo,
      lastIndex,
      voters: voters.length,
      learners: learners.length,
      reachable: isLeader ? voters.filter((node) => heard.has(node)).length : 0,
    };
  }

  /** Of the group that is worst. */
  private get outrunTicks(): number {
    let worst = 0;
    for (const { outrunTicks } of this.activity.awake) worst = Math.max(worst, outrunTicks);
    return worst;
  }

  private get electionTicks(): number {
    return this.options.raft.electionTicks ?? Number.POSITIVE_INFINITY;
  }

  get groupIds(): GroupId[] {
    return [...this.groups.keys()];
  }

  get diskLevel(): DiskWatch['level'] {
    return this.disk.level;
  }

  get freeBytes(): number {
    return this.disk.freeBytes;
  }

  private obey(command: Command): void {
    switch (command.kind) {
      case 'stop':
        this.stopping = true;
        return;
      case 'open':
        this.open(command.group, command.applied, command.isNew, command.campaign);
        return;
      case 'drop':
        this.drop(command.group);
        return;
      case 'retain':
        this.retain(new Set(command.groups), command.below);
        return;
      case 'hand_over':
        this.handover.start(command);
        return;
      case 'change_membership':
        this.changeMembership(command);
        return;
      default:
    }
    if (!('group' in command)) return;
    const group = this.groups.get(command.group);
    if (group === undefined) {
      this.decline(command);
      return;
    }
    switch (command.kind) {
      case 'propose':
        group.propose(command.epoch, command.payloads, command.answers);
        return;
      case 'mark':
        group.mark(command.epoch, command.id);
        return;
      case 'read':
        group.read(command.id);
        return;
      case 'applied':
        group.applied(command.index);
        return;
      case 'checkpointed':
        group.checkpointed(command.applied, this.options.logTail);
        return;
      case 'snapshot_sent':
        group.snapshotSent(command.to, command.arrived);
        return;
      case 'snapshot_arrived':
        group.snapshotArrived(snapshotOf(command.message));
        return;
      case 'installed':
        group.installed(command.applied);
        return;
      case 'not_installed':
        this.beginAnew(group, command.applied);
    }
  }

  /**
   * Answers what can't be done because the group is not open yet, or not any more: whoever waits must not
   * wait for ever.
   */
  private decline(command: Command): void {
    const { emit } = this.options;
    if (command.kind === 'read') emit({ kind: 'read', group: command.group, id: command.id, index: null });
    else if (command.kind === 'mark') emit({ kind: 'mark_lost', group: command.group, id: command.id });
    else if (command.kind === 'snapshot_arrived') emit({ kind: 'install_refused', group: command.group });
  }

  private changeMembership({ group, id, steps }: Extract<Command, { kind: 'change_membership' }>): void {
    const found = this.groups.get(group);
    if (found === undefined) {
      this.options.emit({ kind: 'membership_answer', group, id, problem: 'not_leader' });
    } else {
      found.change(id, steps);
    }
  }

  /**
   * The groups of collections have the members that the root group has. Each is brought there by its leader. Those that
   * sleep are looked at when root's members changed, and now and then, since a step may have waited for a node.
   */
  private followRoot(): void {
    const root = this.groups.get(ROOT_GROUP);
    if (root === undefined) return;
    const { members } = root;
    const { isUp } = this.options;
    if (members.voters.length === 0 || members.outgoing.length > 0) return;
    const isNews = members !== this.followed || this.ticks % FOLLOW_ALL_TICKS === 0;
    this.followed = members;
    for (const group of isNews ? this.groups.values() : [...this.activity.awake]) {
      if (group.id !== ROOT_GROUP && !group.follow(members, isUp)) group.transfer(0, isUp);
    }
  }

  private open(id: GroupId, applied: Applied, isNew: boolean, campaign: boolean): void {
    if (this.groups.has(id) || this.opening.has(id)) return;
    const view = this.options.log.view(id);
    const begin = (): void => {
      const group = new RaftGroup(id, this.context, applied);
      this.groups.set(id, group);
      this.activity.stirred(group);
      group.start(campaign);
      for (const message of this.early.take(id)) group.step(message);
    };
    const { voters, outgoing } = decodeMembership(applied.membership);
    const isAlone = voters.length === 1 && voters[0] === this.options.nodeId && outgoing.length === 0;
    const misfit = misfitOf(view, applied, { isNew, isAlone });
    if (misfit !== null) throw new MisfitError(`group ${id}: ${misfit}`);
    // A log that went another way is one that a snapshot had just been installed over.
    const fits = view.lastIndex >= applied.index && (isAlone || hashFits(view, applied));
    if (view.hardState !== undefined && fits) {
      begin();
      return;
    }
    this.opening.add(id);
    this.writer.append(beginningOf(id, this.options.nodeId, view, applied), () => {
      if (this.opening.delete(id)) this.guarded(begin);
    });
  }

  /**
   * Puts a new core in the place of one that had taken a snapshot, which is not the state: it knows what is on
   * the disk, as after a restart, and its leader sends what it lacks.
   */
  private beginAnew(group: RaftGroup, applied: Applied): void {
    const { id } = group;
    this.remove(group);
    this.opening.add(id);
    // Behind everything that the former core had written, so that no promise of its is forgotten.
    this.writer.append([], () => {
      if (this.opening.delete(id)) this.guarded(() => this.open(id, applied, false, false));
    });
  }

  private drop(id: GroupId): void {
    const group = this.groups.get(id);
    if (group !== undefined) this.remove(group);
    this.opening.delete(id);
    this.writer.forget(id);
    this.writer.append([{ kind: 'drop', group: id }], () => {});
  }

  private remove(group: RaftGroup): void {
    group.drop();
    this.groups.delete(group.id);
    this.activity.forget(group);
    this.lagging.delete(group);
  }

  private stirred(id: GroupId): void {
    const group = this.groups.get(id);
    if (group !== undefined) this.activity.stirred(group);
  }

  private retain(groups: ReadonlySet<GroupId>, below: GroupId): void {
    for (const id of this.options.log.groups()) if (id < below && !groups.has(id)) this.drop(id);
  }

  /** Tells everything that waits for the log at once that it will take a while. */
  private logFull(): void {
    this.disk.noteBlocked(true);
    for (const group of this.groups.values()) group.suspend();
  }

  private logHasRoom(): void {
    this.disk.noteBlocked(false);
    for (const group of this.groups.values()) group.leadAgain();
  }

  private guarded(work: () => void): void {
    if (this.dead) return;
    try {
      work();
    } catch (error) {
      this.failed(error);
    }
  }

  private failed(error: unknown): void {
    if (this.dead || this.stopping) return;
    this.dead = true;
    const message = error instanceof Error ? error.message : String(error);
    this.options.emit({ kind: 'failed', failure: { message, exitCode: exitCodeOf(error) } });
  }
}

/** Only snapshot messages come from the engine side. */
function snapshotOf(bytes: Uint8Array): InstallSnapshot {
  const message = decodeMessage(bytes);
  if (message.kind !== 'snapshot') throw new Error('a message is no snapshot message');
  return message;
}

/** Election timeouts without a slow write until a disk is well again. */
const WELL_ELECTIONS = 10;

/** The load of a node that should lead nothing: more groups than any other leads. */
const FULL_LOAD = 2 ** 31;

function slowDiskNews(isSlow: boolean): Event {
  return isSlow
    ? {
        kind: 'log',
        level: 'warn',
        event: 'slow_disk',
        message: 'the disk is slower than those of other nodes: they are to lead in place of this one',
      }
    : { kind: 'log', level: 'info', event: 'disk_quick', message: 'the disk is as quick as others again' };
}

/** Ticks between two looks at whether the groups have the right members; and whether those that sleep do. */
const FOLLOW_TICKS = 5;
const FOLLOW_ALL_TICKS = 50;

function exitCodeOf(error: unknown): number {
  if (error instanceof MisfitError || error instanceof LostTailError) return error.exitCode;
  if (error instanceof RaftAssertionError) return ExitCode.InvariantBroken;
  if (!(error instanceof StorageError)) return ExitCode.InvariantBroken;
  if (error.code.startsWith('damaged') || error.code === 'newer_format') return ExitCode.DataDamaged;
  return error.code === 'misuse' ? ExitCode.InvariantBroken : ExitCode.Fatal;
}
