/**
 * A process of a simulated node: composed as a real one is, of the same parts, but for its two threads, its disks, its
 * clock and its connections.
 */
import { DEFAULT_LIMITS, Engine, type Environment, type NodeView, type PasswordHash } from '@althing/engine';
import { DiskFullError, type LogView, StateStore } from '@althing/storage';
import { type Message, membersOf, type TraceEvent } from 'raft-ts';
import { PasswordHasher } from '../auth/password.js';
import { Calls } from '../cluster/calls.js';
import { Members } from '../cluster/members.js';
import type { GroupHost } from '../consensus/group-host.js';
import {
  type Command,
  type Event,
  type Failure,
  type GroupId,
  type NodeId,
  ROOT_GROUP,
} from '../consensus/protocol.js';
import { proposeBootstrap } from '../life/bootstrap.js';
import { Router } from '../router.js';
import { Checkpointer } from '../scopes/checkpointer.js';
import { DiskKeeper } from '../scopes/disk-keeper.js';
import { GarbageCollector } from '../scopes/garbage-collector.js';
import type { GroupSession } from '../scopes/group-session.js';
import { MemoryKeeper } from '../scopes/memory-keeper.js';
import { Reopening } from '../scopes/reopening.js';
import { Sessions } from '../scopes/sessions.js';
import { Snapshots } from '../scopes/snapshots.js';
import { State } from '../scopes/state.js';
import { type StateCheck, StateChecks } from '../scopes/state-checks.js';
import { ConsensusSide, type Frame } from './consensus-side.js';
import { type Machine, NODE_PORT } from './machine.js';
import type { Planted } from './mutants.js';
import { NodeBugs } from './node-mutants.js';
import type { Draw } from './random.js';
import type { Scheduler } from './scheduler.js';
import type { Swarm } from './swarm.js';
import { Line, Thread } from './thread.js';

/** What a process has to do with the world around it. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly swarm: Swarm;
  /** Random numbers of a machine, for one purpose. */
  readonly drawFor: (machine: Machine, purpose: string) => Draw;
  readonly planted: Planted;
  readonly send: (from: Process, to: NodeId, frame: Frame) => void;
  /** The ids of all nodes that there are. */
  readonly nodes: () => readonly NodeId[];
  /** The start of another node that can be heard from here now; null for none. */
  readonly heard: (by: Process, from: NodeId) => number | null;
  /** Asks a cluster to take a node in; resolves when it did. */
  readonly join: (process: Process) => Promise<void>;
  /** Told of each transition of a group's core. */
  readonly onTrace: (process: Process, group: GroupId, event: TraceEvent) => void;
  /** Told of each event before the engine side gets it. */
  readonly onEvent: (process: Process, event: Event) => void;
  /** Told before messages leave. */
  readonly onTransmit: (process: Process, group: GroupId, messages: readonly Message[]) => void;
  /** Told of each comparison of states. */
  readonly onStateCheck: (process: Process, check: StateCheck) => void;
  /** The process can't go on. */
  readonly onFailure: (process: Process, what: string, error: unknown) => void;
}

const NO_PASSWORD: PasswordHash = {
  salt: new Uint8Array(16),
  hash: new Uint8Array(32),
  logN: 0,
  r: 1,
  p: 1,
};

/** More calls than a process makes. */
const CALLS_MAX = 2 ** 30;

const HOUSEKEEPING_MS = 100;
const CACHE_BYTES_SMALL = 20_000;
const NOW_MS = 1_750_000_000_000;

/** The consensus side of a node can't go on. */
export class NodeFailure extends Error {
  readonly exitCode: number;

  constructor({ message, exitCode }: Failure) {
    super(message);
    this.exitCode = exitCode;
  }
}

export class Process {
  readonly machine: Machine;
  /** Which start of the machine this is. */
  readonly incarnation: number;
  readonly engine: Engine;
  readonly consensusThread: Thread;
  readonly engineThread: Thread;
  consensus: ConsensusSide | null = null;
  sessions: Sessions | null = null;
  checkpointer: Checkpointer | null = null;
  private reopening: Reopening | null = null;
  private stateChecks: StateChecks | null = null;
  state: State | null = null;
  router: Router | null = null;
  members: Members | null = null;
  alive = true;
  /** What is added to the time of a command on its way to the consensus thread, in milliseconds. */
  lateMs = 0;
  /** Whether everything is open. */
  isOpen = false;
  private readonly world: Surroundings;
  private readonly draw: Draw;
  private readonly commands: Line<Command>;
  private readonly events: Line<Event>;
  private readonly calls: Calls;
  private readonly bugs: NodeBugs;
  private readonly disk: DiskKeeper;
  private snapshots!: Snapshots;
  private memory!: MemoryKeeper;
  private garbage!: GarbageCollector;
  private lastId = 0;

  constructor(machine: Machine, world: Surroundings) {
    this.machine = machine;
    this.incarnation = machine.starts;
    this.world = world;
    const { scheduler, swarm } = world;
    this.draw = world.drawFor(machine, 'process');
    this.bugs = new NodeBugs(world.planted.node, machine.nodeId, () => this.wallClock());
    this.consensusThread = new Thread(scheduler);
    this.engineThread = new Thread(scheduler);
    const commandDraw = world.drawFor(machine, 'commands');
    const eventDraw = world.drawFor(machine, 'events');
    const late = (): number => commandDraw.exponential(swarm.threadMs) + this.lateMs;
    const delay = (): number => eventDraw.exponential(swarm.threadMs);
    this.commands = new Line(scheduler, this.consensusThread, late, (command) =>
      this.consensus?.handle(this.bugs.command(command)),
    );
    this.events = new Line(scheduler, this.engineThread, delay, (event) => this.takeEvent(event));
    this.calls = new Calls({
      send: (command) => this.commands.send(command),
      delay: this.delay,
      firstId: this.incarnation * CALLS_MAX,
    });
    this.disk = this.makeDiskKeeper();
    this.engine = new Engine({
      environment: this.environment(),
      limits: DEFAULT_LIMITS,
      quotas: { tokensPerUser: 10, users: 100, collections: 100, procedures: 100 },
      programCacheBytes: 1_000_000,
      onInternalError: (error) => this.fail('internal error of the engine', error),
    });
  }

  get nodeId(): NodeId {
    return this.machine.nodeId;
  }

  get host(): GroupHost | null {
    return this.consensus?.host ?? null;
  }

  /** Brings the process up. */
  start(): void {
    this.open().then(
      () => {
        this.isOpen = true;
      },
      (error: unknown) => {
        // A full disk may have no room for what a start writes: it is tried again.
        if (error instanceof DiskFullError) this.fail('no room to start', error);
        else this.fail('the node can not start', error);
      },
    );
  }

  /** Nothing of this process happens any more. */
  end(): void {
    this.alive = false;
    this.consensusThread.end();
    this.engineThread.end();
  }

  session(group: GroupId): GroupSession | undefined {
    return this.sessions?.ofGroup(group);
  }

  /** The groups that are open here. */
  get groups(): GroupId[] {
    return this.host?.groupIds ?? [];
  }

  /** Whether the groups, as they are known here, have no other members than these. */
  membersAreAmong(nodes: readonly NodeId[]): boolean {
    return this.groups.every((group) => {
      const membership = this.host?.status(group)?.membership;
      if (membership === undefined || membership.voters.length === 0) return false;
      return (
        membersOf(membership).every((node) => nodes.includes(node)) &&
        membership.voters.length === nodes.length
      );
    });
  }

  /** What is durable of the log of a group. */
  view(group: GroupId): LogView | undefined {
    return this.consensus?.view(group);
  }

  /** A frame of another node. */
  receive(from: NodeId, frame: Frame): void {
    this.consensusThread.after(0, () => this.consensus?.frame(from, frame));
  }

  /** The connection to another node broke. */
  disconnected(from: NodeId): void {
    this.consensusThread.after(0, () => this.consensus?.peerDown(from));
  }

  command(command: Command): void {
    this.commands.send(command);
  }

  fail(what: string, error: unknown): void {
    if (this.alive) this.world.onFailure(this, what, error);
  }

  private async open(): Promise<void> {
    const { machine, world } = this;
    if (machine.isOutside) {
      await world.join(this);
      machine.isOutside = false;
    }
    const state = new State(await this.openState(), () => this.openState());
    this.state = state;
    this.consensus = await this.openConsensus();
    this.compose(state);
    await this.sessions?.open();
    this.bootstrapWhenLeading();
  }

  private openConsensus(): Promise<ConsensusSide> {
    const { machine, world } = this;
    const { scheduler, swarm, planted, nodes } = world;
    return ConsensusSide.open({
      machine,
      thread: this.consensusThread,
      scheduler,
      swarm,
      draw: world.drawFor(machine, 'consensus'),
      planted,
      nodes,
      emit: (event) => this.emit(event),
      send: (to, frame) => {
        if (this.alive) world.send(this, to, frame);
      },
      heard: (from) => world.heard(this, from),
      engineSilent: () => this.engineThread.isPaused,
      onTrace: (group, event) => world.onTrace(this, group, event),
      onTransmit: (group, messages) => {
        if (this.alive) world.onTransmit(this, group, messages);
      },
      onFailure: (what, error) => this.fail(what, error),
    });
  }

  private async openState(): Promise<StateStore> {
    const { machine, world } = this;
    const store = machine.stateStore.attach();
    // LevelDB turns what its log holds into a table when it is opened: it is durable then, even if a killed process wrote it.
    await store.flush();
    return StateStore.open({
      store,
      disk: machine.stateDisk.attach(),
      chunkBytes: world.swarm.chunkBytes,
      slabBytes: world.swarm.slabBytes,
      mutants: world.planted.storage,
    });
  }

  private compose(state: State): void {
    const { machine, world, engine, calls, delay } = this;
    const { swarm } = world;
    const monotonic = (): number => this.monotonic();
    const consensus = { send: (command: Command) => this.commands.send(command), onEvent: () => {} };
    const pause = (work: () => void): void => {
      this.engineThread.after(5, work);
    };
    this.router = new Router({
      engine,
      hasher: new PasswordHasher(),
      nodeId: this.nodeId,
      epoch: this.incarnation,
      calls,
      alone: () => this.getSessions().alone,
      session: (target) => this.sessions?.of(target),
      waitMs: swarm.waitMs,
      monotonic,
      delay,
    });
    this.snapshots = new Snapshots({
      state,
      consensus,
      calls,
      ensureStored: (session) => this.getCheckpointer().ensureStored(session),
      replace: (session, applied) => this.getSessions().replace(session, applied),
      session: (group) => this.session(group),
      delay,
      onDiskFull: () => this.disk.noteStateFull(),
      onDamage: (error) => this.fail('a snapshot could not be sent', error),
      onFailure: (error) => this.fail('a snapshot could not be installed', error),
      onInstalled: () => {},
    });
    this.sessions = new Sessions({
      engine,
      state,
      consensus,
      nodeId: this.nodeId,
      cluster: machine.cluster,
      snapshots: this.snapshots,
      now: () => this.wallClock(),
      changed: (session) => this.sessionChanged(session),
      onDiskFull: () => this.disk.noteStateFull(),
      onFailure: (error) => this.fail('a group could not be opened or closed', error),
    });
    this.sessions.setDisk(this.disk.level);
    this.checkpointer = new Checkpointer({
      state,
      consensus,
      intervalMs: swarm.checkpointMs,
      sizeBytes: swarm.checkpointBytes,
      monotonic,
      yield: () => new Promise((resolve) => this.engineThread.after(0, resolve)),
      blocked: (session) => this.disk.isStateFull || this.snapshots.isReceiving(session.id),
      onFailure: (session, error) => {
        if (error instanceof DiskFullError) this.disk.noteStateFull();
        else this.fail(`the checkpoint of group ${session.id} failed`, error);
      },
      onDone: () => {},
    });
    this.sessions.useCheckpointer(this.checkpointer);
    this.reopening = new Reopening({ state, checkpointer: this.checkpointer, sessions: this.sessions });
    const cacheBytes = swarm.smallCache ? CACHE_BYTES_SMALL : Number.MAX_SAFE_INTEGER;
    this.memory = new MemoryKeeper(engine, cacheBytes, monotonic, pause);
    this.garbage = new GarbageCollector({
      engine,
      intervalMs: 500,
      monotonic,
      pause,
      propose: (session, change) => session.propose(change, { ok: true, result: '' }, () => {}),
      onFailure: (error) => this.fail('the search for garbage failed', error),
    });
    this.stateChecks = this.makeStateChecks(state);
    this.members = this.makeMembers();
    this.members.rootChanged();
    this.engineThread.every(HOUSEKEEPING_MS, () => this.keepHouse());
  }

  private makeStateChecks(state: State): StateChecks {
    return new StateChecks({
      nodeId: this.machine.nodeId,
      state,
      checkpointer: this.getCheckpointer(),
      calls: this.calls,
      session: (group) => this.getSessions().ofGroup(group),
      intervalMs: this.world.swarm.stateCheckIntervalMs,
      monotonic: () => this.monotonic(),
      delay: (ms, work) => this.engineThread.after(ms, work),
      report: (check) => this.world.onStateCheck(this, check),
      onDiverged: (group) => this.fail('its state is not that of the majority', new Error(`group ${group}`)),
      onDamage: (error) => this.fail('a state could not be compared', error),
    });
  }

  private makeMembers(): Members {
    const { machine, world, engine, calls } = this;
    const { nodeId, name } = machine;
    return new Members({
      self: { nodeId, name, host: name, port: NODE_PORT },
      root: () => engine.root,
      session: () => this.session(ROOT_GROUP) ?? null,
      memberships: () => this.getSessions().memberships,
      founders: machine.cluster.founders,
      send: (command) => this.commands.send(command),
      calls,
      nextId: () => ++this.lastId,
      departs: () => Promise.resolve(),
      state: () => ({ status: 'READY', committed: 0, stored: 0 }),
      replaceAfterMs: world.swarm.replaceAfterMs,
      monotonic: () => this.monotonic(),
      random: () => this.draw.unit(),
      report: () => {},
      changed: () => {},
    });
  }

  private makeDiskKeeper(): DiskKeeper {
    const { machine } = this;
    return new DiskKeeper({
      reserve: {
        hasReserve: false,
        releaseReserve: () => Promise.resolve(),
        restoreReserve: () => Promise.resolve(),
      },
      freeBytes: () => Promise.resolve(machine.isStateFull ? 0 : Number.MAX_SAFE_INTEGER),
      bytesToReopen: () => Promise.resolve(1),
      reserveBytes: 0,
      setLevel: (level) => this.sessions?.setDisk(level),
      reopenState: (makeRoom) => this.getReopening().attempt(makeRoom),
      report: () => {},
      onFailure: (error) => this.fail('the data can not be kept', error),
    });
  }

  private environment(): Environment {
    const { draw } = this;
    return {
      now: () => this.wallClock(),
      monotonic: () => this.monotonic(),
      randomBytes: (count) => draw.bytes(count),
      random: () => draw.unit(),
      heapUsed: () => 0,
      log: () => {},
      node: this.nodeView(),
      voters: () => this.getSessions().voters,
    };
  }

  /** What the simulated clients ask of a node: to remove others. */
  private nodeView(): NodeView {
    const unused = (): never => {
      throw new Error('no simulated client asks for this');
    };
    return {
      backups: { add: unused, remove: unused, all: unused },
      info: unused,
      nodes: unused,
      groups: unused,
      counters: unused,
      resetCounters: unused,
      setLogLevel: unused,
      shutDown: unused,
      handOver: unused,
      invitationProblem: unused,
      removalProblem: (member) =>
        this.members === null ? 'the node is starting' : this.members.removalProblem(member),
    };
  }

  private readonly delay = (ms: number, callback: () => void): (() => void) =>
    this.engineThread.after(ms, callback);

  private wallClock(): number {
    return NOW_MS + this.world.scheduler.now + this.machine.clockOffsetMs;
  }

  private monotonic(): number {
    return this.world.scheduler.now;
  }

  private getSessions(): Sessions {
    if (this.sessions === null) throw new Error('the sessions are not made yet');
    return this.sessions;
  }

  private getReopening(): Reopening {
    if (this.reopening === null) throw new Error('the state is not in use yet');
    return this.reopening;
  }

  private getCheckpointer(): Checkpointer {
    if (this.checkpointer === null) throw new Error('the checkpointer is not made yet');
    return this.checkpointer;
  }

  private sessionChanged(session: GroupSession): void {
    this.router?.sessionChanged(session);
    if (session.id === ROOT_GROUP) this.members?.rootChanged();
  }

  private bootstrapWhenLeading(): void {
    const { root } = this.engine;
    const session = this.getSessions().root;
    // What is not committed may be taken back.
    if (root.users.size > 0 && !session.hasUncommitted) return;
    if (root.users.size === 0 && session.leading && session.refusal() === null) {
      const { founders } = this.machine.cluster;
      proposeBootstrap({ root, session, founders }, NO_PASSWORD, this.wallClock(), () => {});
    }
    this.engineThread.after(HOUSEKEEPING_MS, () => this.bootstrapWhenLeading());
  }

  private keepHouse(): void {
    const { swarm } = this.world;
    for (const session of this.getSessions().all) {
      this.getCheckpointer().consider(session);
      if (swarm.collectsGarbage) this.garbage.consider(session);
      this.stateChecks?.consider(session);
    }
    this.memory.consider();
    this.disk.consider();
    this.members?.tick();
  }

  private emit(event: Event): void {
    if (!this.alive) return;
    this.bugs.emitted(event);
    this.events.send(event);
  }

  private takeEvent(original: Event): void {
    this.world.onEvent(this, original);
    const event = this.bugs.event(original, (command) => this.commands.send(command));
    if (event === null) return;
    try {
      this.dispatch(event);
    } catch (error) {
      this.fail('an event of the log could not be taken', error);
    }
  }

  private dispatch(event: Event): void {
    switch (event.kind) {
      case 'failed':
        this.fail('the log', new NodeFailure(event.failure));
        return;
      case 'disk':
        this.disk.noteLevel(event.level);
        return;
      case 'called':
        // Before everything is composed nobody could answer.
        if (this.sessions !== null) this.calls.handle(event);
        return;
      case 'returned':
        this.calls.handle(event);
        return;
      case 'peer':
        this.router?.peerChanged(event.node, event.up, event.protocol);
        this.members?.handle(event);
        return;
      case 'asked_to_join':
      case 'invited':
      case 'membership_answer':
      case 'handed_over':
        this.members?.handle(event);
        return;
      default: {
        if (!('group' in event)) return;
        const session = this.session(event.group);
        if (session !== undefined) this.bugs.session(session);
        this.sessions?.handle(event);
      }
    }
  }
}
