import type { LogStore } from '@althing/storage';
import { encodeMessage, type Message, type RaftOptions } from 'raft-ts';
import { messageOf } from '../base/error-text.js';
import { exitCodeOf } from '../base/exit-code.js';
import { type Applied, type Command, type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import { snapshotOf } from '../between/snapshot-message.js';
import { Activity } from './activity.js';
import { EarlyMessages } from './early-messages.js';
import type { GroupContext, Observation } from './group-context.js';
import type { GroupNow, GroupWatch } from './group-figures.js';
import { GroupOpening } from './group-opening.js';
import { positionOf } from './group-position.js';
import { Handover } from './handover.js';
import { Hearing } from './hearing.js';
import { LogWriter } from './log-writer.js';
import { RaftGroup } from './raft-group.js';
import { RootFollower } from './root-follower.js';
import { DiskWatch } from './watches/disk-watch.js';
import { LaggingGroups } from './watches/lag-watch.js';
import { SlowDisk, slowDiskNews } from './watches/slow-disk.js';

export interface GroupHostOptions
  extends Pick<GroupContext, 'nodeId' | 'random' | 'emit' | 'answer' | 'transmit' | 'isUp'> {
  readonly log: LogStore;
  readonly raft: Partial<RaftOptions>;
  /**
   * True if entries may be sent to a node now; if not, `roomFor` is called once they may. Default: always.
   */
  readonly hasRoom?: (group: GroupId, to: NodeId) => boolean;
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
  /** Counts the events of a group. */
  readonly watch?: (group: GroupId) => GroupWatch | undefined;
  /** The observer of a group's core; for the simulator. */
  readonly observe?: (group: GroupId) => Observation;
}

/**
 * Drives the Raft groups of a node: commands of the engine side, ticks, and messages of other nodes come in;
 * durable writes, messages and events go out. Clock and I/O are handed in.
 *
 * An error that nothing can be done about becomes the event `failed`; after that the host does nothing any
 * more.
 */
export class GroupHost {
  private readonly groups = new Map<GroupId, RaftGroup>();
  private readonly activity = new Activity<RaftGroup>();
  private readonly lagging = new LaggingGroups<RaftGroup>();
  private readonly rootFollower: RootFollower;
  private readonly opening: GroupOpening;
  private readonly hearing: Hearing;
  private readonly context: GroupContext;
  private readonly writer: LogWriter;
  private readonly disk: DiskWatch;
  private readonly slowDisk: SlowDisk;
  private readonly early = new EarlyMessages();
  private readonly handover: Handover;
  private epochs = 0;
  private stopping = false;
  private dead = false;

  constructor(private readonly options: GroupHostOptions) {
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
      sendSnapshot: (group, message) =>
        emit({ kind: 'send_snapshot', group, to: message.to, message: encodeMessage(message) }),
      cut: (group) => this.guarded(() => this.groups.get(group)?.noteCut()),
      isUp: options.isUp,
      wake: (group) => this.wake(group),
      guarded: (work) => this.guarded(work),
    };
    const { nodeId, isUp } = options;
    const { groups, activity, electionTicks } = this;
    this.opening = new GroupOpening(nodeId, log, this.writer, (work) => this.guarded(work));
    this.hearing = new Hearing(nodeId, electionTicks, isUp);
    this.rootFollower = new RootFollower(groups, activity.awake, isUp);
    this.handover = new Handover({ groups, awake: activity.awake, isUp, slowTicks, emit });
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
      this.rootFollower.tick();
    });
  }

  /**
   * True if no tick would do anything: all groups sleep, and nothing waits to be opened, moved, or for room. A
   * command, a message or news of a peer may end that.
   */
  get isCalm(): boolean {
    if (this.stopping || !this.opening.isIdle || this.disk.level !== 'ok' || this.slowDisk.isSlow)
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
    this.guarded(() => this.groups.get(group)?.tell((raft) => raft.reportUnreachable(to)));
  }

  /** Entries of a group may be sent to a node again. */
  roomFor(group: GroupId, to: NodeId): void {
    this.guarded(() => this.groups.get(group)?.tell((raft) => raft.roomFor(to)));
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

  get removed(): readonly NodeId[] {
    return this.groups.get(ROOT_GROUP)?.members.removed ?? [];
  }

  /** Number of groups that this node leads; as many as can be if it should lead none. */
  get load(): number {
    return this.slowDisk.isSlow || this.handover.isGivingAway ? FULL_LOAD : this.leading;
  }

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

  /** Finds out how far states lag behind. To be called several times a second, with monotonic milliseconds. */
  watchLag(now: number): void {
    this.guarded(() => this.lagging.look(this.activity.awake, now));
  }

  /**
   * The group whose state is furthest behind its leader, and how far, in milliseconds. Who leads the root
   * group lags nowhere: so one node is left to be asked, however much there is to do in collections that
   * others lead.
   */
  lag(now: number): { readonly group: GroupId; readonly ms: number } {
    const leadsRoot = this.groups.get(ROOT_GROUP)?.role === 'leader';
    return leadsRoot ? { group: ROOT_GROUP, ms: 0 } : this.lagging.worst(now);
  }

  /** True if this node leads a group, and heard of a majority of its voters within an election timeout. */
  isConfirmed(group: GroupId): boolean {
    const status = this.status(group);
    return status !== undefined && this.hearing.isConfirmed(status);
  }

  /**
   * Age of what this node knows of the root group, in milliseconds: 0 where it leads with a majority,
   * or hears a leader and has what that one has. `alone` for the only voter; null when it has no word of a
   * majority now.
   */
  rootAge(now: number): number | 'alone' | null {
    const root = this.groups.get(ROOT_GROUP);
    return root === undefined ? null : this.hearing.ageOf(root, now);
  }

  /** The state of each group, for the page of figures. */
  get groupsNow(): GroupNow[] {
    return [...this.groups.values()].map((group) => this.hearing.now(group));
  }

  /** The ticks of the group that is worst. */
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
        this.open(command);
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
      case 'describe_groups':
        this.options.emit({ kind: 'positions', groups: [...this.groups.values()].map(positionOf) });
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
      case 'release':
        group.released(command.epoch);
        return;
      case 'mark':
        group.mark(command.epoch, command.id);
        return;
      case 'read':
        group.read(command.id);
        return;
      case 'read_log': {
        const part = group.readPart(command.after, command.upTo, command.bytes);
        this.options.emit({ kind: 'log_read', group: group.id, id: command.id, part });
        return;
      }
      case 'applied':
        group.applied(command.index);
        return;
      case 'checkpointed':
        group.checkpointed(command.applied, this.options.logTail, command.keptFrom);
        return;
      case 'snapshot_sent':
        group.tell((raft) => raft.reportSnapshot(command.to, command.arrived));
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
    else if (command.kind === 'read_log')
      emit({ kind: 'log_read', group: command.group, id: command.id, part: null });
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

  private open({ group: id, applied, isNew, campaign }: Extract<Command, { readonly kind: 'open' }>): void {
    if (this.groups.has(id)) return;
    this.opening.open(id, applied, isNew, () => {
      const group = new RaftGroup(id, this.context, applied);
      this.groups.set(id, group);
      this.activity.wake(group);
      group.start(campaign);
      for (const message of this.early.take(id)) group.step(message);
    });
  }

  /**
   * Puts a new core in the place of one that had taken a snapshot, which is not the state: it knows what is on
   * the disk, as after a restart, and its leader sends what it lacks.
   */
  private beginAnew(group: RaftGroup, applied: Applied): void {
    const { id } = group;
    this.remove(group);
    this.opening.behindWrites(id, () =>
      this.open({ kind: 'open', group: id, applied, isNew: false, campaign: false }),
    );
  }

  private drop(id: GroupId): void {
    const group = this.groups.get(id);
    if (group !== undefined) this.remove(group);
    this.opening.drop(id);
  }

  private remove(group: RaftGroup): void {
    group.drop();
    this.groups.delete(group.id);
    this.activity.forget(group);
    this.lagging.forget(group);
  }

  private wake(id: GroupId): void {
    const group = this.groups.get(id);
    if (group !== undefined) this.activity.wake(group);
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
    this.options.emit({
      kind: 'failed',
      failure: { message: messageOf(error), exitCode: exitCodeOf(error) },
    });
  }
}

/** Election timeouts without a slow write until a disk is well again. */
const WELL_ELECTIONS = 10;

/** The load of a node that should lead nothing: more groups than any other leads. */
const FULL_LOAD = 2 ** 31;
