/**
 * A process of a simulated node: the engine side and the consensus side of a real one, but for its two threads, its disks, its
 * clock and its connections.
 */
import { DEFAULT_LIMITS, type Engine, type Environment, type RootGroup } from '@althing/engine';
import {
  type Bridge,
  bootstrapCluster,
  type Command,
  type EngineClock,
  type EngineReports,
  EngineSide,
  type Event,
  type EventSender,
  type GroupHost,
  type GroupId,
  type GroupSession,
  type NodeEvent,
  type NodeId,
  State,
  votersWanted,
} from '@althing/node/parts';
import { DiskFullError, type LogView, type StateStore } from '@althing/storage';
import { membersOf } from 'raft-ts';
import { noPassword } from '../harness/local-engine.js';
import type { Frame } from './connections.js';
import { openConsensus, type SimulatedConsensus } from './consensus-side.js';
import { simulatedHasher } from './hasher.js';
import { type Machine, NODE_PORT } from './machine.js';
import { moduleOn } from './modules.js';
import { NodeFailure } from './node-failure.js';
import { NodeBugs } from './node-mutants.js';
import { nodeViewOf } from './node-view.js';
import type { Draw } from './random.js';
import { simulatedReaders } from './snapshot-readers.js';
import { Doors } from './sockets/doors.js';
import type { Surroundings } from './surroundings.js';
import { Thread } from './thread.js';
import { threadLine } from './thread-line.js';
import { QUOTAS } from './workload.js';

const HOUSEKEEPING_MS = 100;
/** Instances of a type at most whose index is built at once. */
const INDEXED_AT_ONCE_MAX = 5;
const GARBAGE_MS = 500;
const CACHE_BYTES_SMALL = 20_000;
/** Where the wall clocks of all runs begin, in milliseconds. */
export const NOW_MS = 1_750_000_000_000;

export class Process {
  readonly consensusThread: Thread;
  readonly engineThread: Thread;
  consensus: SimulatedConsensus | null = null;
  /** Null until the state is open. */
  side: EngineSide | null = null;
  state: State | null = null;
  alive = true;
  /** The delay of a command on its way to the consensus thread, in milliseconds. */
  lateMs = 0;
  /** True if everything is open. */
  isOpen = false;
  private readonly draw: Draw;
  private readonly bridge: Bridge;
  private readonly events: EventSender;
  private readonly bugs: NodeBugs;
  private ownDoors: Doors | null = null;
  /** Milliseconds that encoding took since other work last had its turn. */
  private workedMs = 0;

  constructor(
    readonly machine: Machine,
    private readonly world: Surroundings,
  ) {
    const { scheduler, swarm } = world;
    this.draw = world.drawFor(machine, 'process');
    this.consensusThread = new Thread(scheduler);
    this.engineThread = world.engineThread();
    this.bugs = new NodeBugs({
      on: world.planted.node,
      nodeId: machine.nodeId,
      wallClock: () => this.wallClock(),
      delay: (ms, work) => this.engineThread.after(ms, work),
      tell: (session, events) => this.side?.rooms.told(session, events),
    });
    const commandDraw = world.drawFor(machine, 'commands');
    const eventDraw = world.drawFor(machine, 'events');
    const late = (): number =>
      commandDraw.exponential(swarm.threadMs) + this.lateMs + this.engineThread.now - scheduler.now;
    const { bridge, events } = threadLine({
      scheduler,
      engineThread: this.engineThread,
      consensusThread: this.consensusThread,
      commandMs: late,
      eventMs: () => eventDraw.exponential(swarm.threadMs),
      onCommand: (command) => this.takeCommand(command),
      onEvent: (event) => this.takeEvent(event),
      onReached: (place) => world.onReached(place),
    });
    this.bridge = bridge;
    this.events = events;
  }

  get nodeId(): NodeId {
    return this.machine.nodeId;
  }

  get host(): GroupHost | null {
    return this.consensus?.side.host ?? null;
  }

  /** Brings the process up. */
  start(): void {
    this.open().then(
      () => {
        this.isOpen = true;
        this.world.onOpen(this);
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

  get engine(): Engine | null {
    return this.side?.engine ?? null;
  }

  /** The state of the root scope, as this node knows it. */
  get root(): RootGroup | null {
    return this.engine?.root ?? null;
  }

  session(group: GroupId): GroupSession | undefined {
    return this.side?.scopes.sessions.ofGroup(group);
  }

  /** The groups that are open here. */
  get groups(): GroupId[] {
    return this.host?.groupIds ?? [];
  }

  /** True if the groups, as they are known here, have no other members than these. */
  membersAreAmong(nodes: readonly NodeId[]): boolean {
    return this.groups.every((group) => {
      const membership = this.host?.status(group)?.membership;
      if (membership === undefined || membership.voters.length === 0) return false;
      return (
        membersOf(membership).every((node) => nodes.includes(node)) &&
        membership.voters.length === votersWanted(nodes.length)
      );
    });
  }

  /** The door for clients of the native protocol; the process must be open. */
  get doors(): Doors {
    const { planted, swarm } = this.world;
    this.ownDoors ??= new Doors(this, {
      planted: planted.node,
      wallClock: () => this.wallClock(),
      unsentEventsMax: swarm.unsentEventsMax,
    });
    return this.ownDoors;
  }

  /** The durable part of the log of a group. */
  view(group: GroupId): LogView | undefined {
    return this.consensus?.log.view(group);
  }

  /** A frame of another node. */
  receive(from: NodeId, frame: Frame): void {
    this.consensusThread.after(0, () => this.consensus?.side.network.receive(from, frame));
  }

  /** The connection to another node broke. */
  disconnected(from: NodeId): void {
    this.consensusThread.after(0, () => this.consensus?.side.network.disconnect(from));
  }

  command(command: Command): void {
    this.bridge.send(command);
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
    const side = this.makeSide(state);
    this.side = side;
    // So most indexes are built in slices.
    side.engine.runtime.indexedAtOnce = INDEXED_AT_ONCE_MAX;
    this.bugs.engine(side.engine);
    this.bugs.side(side, (name, index) => {
      const collection = this.root?.collectionsByName.get(name);
      return collection === undefined ? undefined : this.view(collection.id)?.hash(index);
    });
    this.engineThread.every(HOUSEKEEPING_MS, () => side.consider());
    await side.scopes.sessions.open();
    void this.bootstrap(side);
  }

  private openConsensus(): Promise<SimulatedConsensus> {
    const { machine, world } = this;
    const { swarm, planted, nodes } = world;
    return openConsensus({
      machine,
      thread: this.consensusThread,
      now: () => world.scheduler.now,
      swarm,
      draw: world.drawFor(machine, 'consensus'),
      planted,
      nodes,
      emit: (event) => this.emit(event),
      line: this.events,
      send: (to, frame) => {
        if (this.alive) world.send(this, to, frame);
      },
      heard: (from) => world.heard(this, from),
      invite: (place) => world.invite(this, place),
      engineSilence: () => this.engineThread.silenceMs,
      onBegin: (group) => world.onBegin(this, group),
      onTrace: (group, event) => world.onTrace(this, group, event),
      onReached: (place) => world.onReached(place),
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
    return world.planted.storage.StateStore.open({
      store,
      disk: machine.stateDisk.attach(),
      chunkBytes: world.swarm.chunkBytes,
      slabBytes: world.swarm.slabBytes,
      readAheadAfter: 2,
    });
  }

  private makeSide(state: State): EngineSide {
    const { machine, world } = this;
    const { swarm } = world;
    return new EngineSide(
      {
        nodeId: this.nodeId,
        incarnation: machine.nextIncarnation(this.wallClock()),
        cluster: machine.cluster,
        name: machine.name,
        port: NODE_PORT,
        engine: {
          limits: DEFAULT_LIMITS,
          quotas: QUOTAS,
          programCacheBytes: 1_000_000,
        },
        requestTimeoutMs: swarm.waitMs,
        replaceAfterMs: swarm.replaceAfterMs,
        checkpointIntervalMs: swarm.checkpointMs,
        checkpointBytes: swarm.checkpointBytes,
        cacheBytes: swarm.smallCache ? CACHE_BYTES_SMALL : Number.MAX_SAFE_INTEGER,
        garbageIntervalMs: swarm.collectsGarbage ? GARBAGE_MS : Number.POSITIVE_INFINITY,
        stateCheckIntervalMs: swarm.stateCheckIntervalMs,
      },
      {
        clock: this.clock,
        environment: this.environment(),
        disk: {
          state,
          reserve: {
            hasReserve: false,
            releaseReserve: () => Promise.resolve(),
            restoreReserve: () => Promise.resolve(),
          },
          freeBytes: () => Promise.resolve(machine.isStateFull ? 0 : Number.MAX_SAFE_INTEGER),
          bytesToReopen: () => Promise.resolve(1),
          reserveBytes: 0,
        },
        line: { send: (command) => this.bridge.send(command), sendReady: () => this.bridge.sendReady() },
        hasher: simulatedHasher(this.engineThread, world.drawFor(machine, 'hasher')),
        reports: this.reports(),
        departs: () => Promise.resolve(),
        askModule: moduleOn(this.engineThread, world.drawFor(machine, 'modules')),
        readers: simulatedReaders({
          machine,
          planted: world.planted,
          thread: this.engineThread,
          environment: this.environment(),
          appliedIndex: (group) => this.session(group)?.appliedIndex ?? 0,
          onFailure: (error) => this.fail('a snapshot can not be read', error),
        }),
        status: () => ({ status: 'READY', committed: 0, stored: 0, zone: 0 }),
      },
    );
  }

  /** The clock of the engine thread. */
  get clock(): EngineClock {
    const { engineThread } = this;
    const { swarm } = this.world;
    const now = (): number => engineThread.now;
    return {
      now,
      after: (ms, work) => engineThread.after(ms, work),
      every: (ms, work) => engineThread.every(ms, work),
      soon: (work) => {
        const worked = this.workedMs;
        this.workedMs = 0;
        engineThread.soon(worked, work);
      },
      // Time stands still within an event: what the encoding takes passes when it lets other work go first.
      encoding: {
        thingsPerLook: 1,
        now: () => {
          this.workedMs += swarm.thingMs;
          return now() + this.workedMs;
        },
      },
    };
  }

  private reports(): EngineReports {
    const { world } = this;
    return {
      disk: () => {},
      members: () => {},
      changedItself: () => {},
      snapshotInstalled: () => {},
      snapshotLost: () => world.onReached('a snapshot does not become the state'),
      checkpointed: (session, { bytes }) => {
        if (bytes > 0 && this.alive) world.onCheckpoint(this, session.id);
      },
      checkpointHadNoRoom: () => {},
      stateChecked: (check) => world.onStateCheck(this, check),
      taskRan: ({ lateMs, error }) => {
        if (error !== null && !world.tasksMayFail) this.fail('a task failed', error);
        world.onReached(lateMs > 2000 ? 'a task ran late' : 'a task ran in time');
      },
      defect: (error) => this.fail('a defect, or damaged data', error),
      diverged: (group) => this.fail('its state is not that of the majority', new Error(`group ${group}`)),
      failed: (what, error) => this.fail(what, error),
    };
  }

  private environment(): Omit<Environment, 'voters' | 'isCommittedUser'> {
    const { draw } = this;
    return {
      now: () => this.wallClock(),
      monotonic: () => this.engineThread.now,
      randomBytes: (count) => draw.bytes(count),
      random: () => draw.unit(),
      heapUsed: () => 0,
      heapFull: () => false,
      isCancelled: () => false,
      log: () => {},
      node: nodeViewOf(() => this.side),
    };
  }

  private wallClock(): number {
    return NOW_MS + this.world.scheduler.now + this.machine.clockOffsetMs;
  }

  private async bootstrap({ engine, scopes }: EngineSide): Promise<void> {
    const until = (condition: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (condition()) resolve();
          else this.engineThread.after(HOUSEKEEPING_MS, look);
        };
        look();
      });
    await bootstrapCluster({
      root: engine.root,
      session: scopes.sessions.root,
      founders: this.machine.cluster.founders,
      hash: () => Promise.resolve(noPassword),
      now: () => this.wallClock(),
      until,
    });
  }

  private emit(event: Event): void {
    if (!this.alive) return;
    this.bugs.emitted(event);
    this.events.emit(event);
  }

  private takeCommand(command: Command): void {
    for (const each of this.bugs.commands(command)) this.consensus?.side.handle(each);
  }

  private takeEvent(original: Event): void {
    this.world.onEvent(this, original);
    const event = this.bugs.event(original, (command) => this.bridge.send(command));
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
      case 'log':
        if (event.event === 'peer_malformed') this.fail(event.message, new Error('a malformed frame'));
        return;
      case 'removed':
      case 'stopped':
      case 'formed':
        return;
      default:
        this.plantBugs(event);
        this.side?.handle(event);
    }
  }

  private plantBugs(event: NodeEvent): void {
    const session = 'group' in event ? this.session(event.group) : undefined;
    if (session !== undefined) this.bugs.session(session);
  }
}
