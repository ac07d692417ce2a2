/**
 * A process of a simulated node: composed as a real one is, of the same parts, but for its two threads, its disks, its
 * clock and its connections.
 */
import { bootstrap, DEFAULT_LIMITS, Engine, type Environment, type PasswordHash } from '@althing/engine';
import { LogStore, type LogView, StateStore } from '@althing/storage';
import { decodeMessage, encodeMessage, type Message, type TraceEvent } from 'raft-ts';
import { PasswordHasher } from '../auth/password.js';
import { Calls } from '../cluster/calls.js';
import { GroupHost } from '../consensus/group-host.js';
import type { Command, Event, GroupId, NodeId } from '../consensus/protocol.js';
import { Router } from '../router.js';
import { Checkpointer } from '../scopes/checkpointer.js';
import { GarbageCollector } from '../scopes/garbage-collector.js';
import type { GroupSession } from '../scopes/group-session.js';
import { MemoryKeeper } from '../scopes/memory-keeper.js';
import { Sessions } from '../scopes/sessions.js';
import { Snapshots } from '../scopes/snapshots.js';
import { State } from '../scopes/state.js';
import type { Machine } from './machine.js';
import type { Planted } from './mutants.js';
import { NodeBugs } from './node-mutants.js';
import type { Draw } from './random.js';
import type { Scheduler } from './scheduler.js';
import type { Swarm } from './swarm.js';
import { Line, Thread } from './thread.js';

/** What travels between nodes. */
export type Frame =
  | {
      readonly kind: 'raft';
      readonly items: readonly { readonly group: GroupId; readonly bytes: Uint8Array }[];
    }
  | { readonly kind: 'call'; readonly id: number; readonly payload: Uint8Array }
  | { readonly kind: 'return'; readonly id: number; readonly payload: Uint8Array };

/** What a process has to do with the world around it. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly swarm: Swarm;
  /** Random numbers that the process makes for itself. */
  readonly draw: Draw;
  readonly planted: Planted;
  readonly send: (from: Process, to: NodeId, frame: Frame) => void;
  /** The ids of all nodes that there are. */
  readonly nodes: () => readonly NodeId[];
  /** The start of another node that can be heard from here now; null for none. */
  readonly heard: (by: Process, from: NodeId) => number | null;
  /** Told of each transition of a group's core. */
  readonly onTrace: (process: Process, group: GroupId, event: TraceEvent) => void;
  /** Told of each event before the engine side gets it. */
  readonly onEvent: (process: Process, event: Event) => void;
  /** Told before messages leave. */
  readonly onTransmit: (process: Process, group: GroupId, messages: readonly Message[]) => void;
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

const HOUSEKEEPING_MS = 100;
const CACHE_BYTES_SMALL = 20_000;
const NOW_MS = 1_750_000_000_000;

interface Peer {
  /** The start of it that is known; null while it counts as down. */
  start: number | null;
  heardAt: number;
}

export class Process {
  readonly machine: Machine;
  /** Which start of the machine this is. */
  readonly incarnation: number;
  readonly engine: Engine;
  readonly consensusThread: Thread;
  readonly engineThread: Thread;
  host: GroupHost | null = null;
  sessions: Sessions | null = null;
  checkpointer: Checkpointer | null = null;
  state: State | null = null;
  router: Router | null = null;
  alive = true;
  /** Whether everything is open. */
  isOpen = false;
  private readonly world: Surroundings;
  private readonly commands: Line<Command>;
  private readonly events: Line<Event>;
  private readonly peers = new Map<NodeId, Peer>();
  /** What this turn of the consensus thread sends to each node. */
  private outbox = new Map<NodeId, { group: GroupId; bytes: Uint8Array }[]>();
  /** Calls of this node that wait for an answer, by the node that was asked. */
  private readonly calling = new Map<number, NodeId>();
  private readonly callsOfOthers = new Map<number, { readonly from: NodeId; readonly id: number }>();
  private nextCall = 1;
  private readonly calls: Calls;
  private snapshots!: Snapshots;
  private memory!: MemoryKeeper;
  private garbage!: GarbageCollector;
  private log: LogStore | null = null;
  private readonly bugs: NodeBugs;
  private engineSilentSince: number | null = null;

  constructor(machine: Machine, world: Surroundings) {
    this.machine = machine;
    this.incarnation = machine.starts;
    this.world = world;
    const { scheduler, draw, swarm } = world;
    this.bugs = new NodeBugs(world.planted.node, () => this.wallClock());
    this.consensusThread = new Thread(scheduler);
    this.engineThread = new Thread(scheduler);
    const delay = (): number => draw.exponential(swarm.threadMs);
    this.commands = new Line(scheduler, this.consensusThread, delay, (command) =>
      this.obey(this.bugs.command(command)),
    );
    this.events = new Line(scheduler, this.engineThread, delay, (event) => this.takeEvent(event));
    this.calls = new Calls({
      send: (command) => this.commands.send(command),
      delay: (ms, callback) => this.engineThread.after(ms, callback),
    });
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

  /** Brings the process up. */
  start(): void {
    this.open().then(
      () => {
        this.isOpen = true;
      },
      (error: unknown) => this.fail('the node can not start', error),
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

  /** What is durable of the log of a group. */
  view(group: GroupId): LogView | undefined {
    return this.log?.view(group);
  }

  /** A frame of another node. */
  receive(from: NodeId, frame: Frame): void {
    this.consensusThread.after(0, () => this.takeFrame(from, frame));
  }

  /** The connection to another node broke. */
  disconnected(from: NodeId): void {
    this.consensusThread.after(0, () => this.peerDown(from));
  }

  isUp(node: NodeId): boolean {
    return this.peers.get(node)?.start != null;
  }

  command(command: Command): void {
    this.commands.send(command);
  }

  fail(what: string, error: unknown): void {
    if (this.alive) this.world.onFailure(this, what, error);
  }

  private async open(): Promise<void> {
    const { machine, world, engine } = this;
    const { swarm, planted } = world;
    const { logDisk } = machine;
    const log = await LogStore.open(logDisk.attach(), {
      segmentBytes: swarm.segmentBytes,
      cacheBytes: swarm.logCacheBytes,
      storeId: machine.logId,
      mutants: planted.storage,
    });
    this.log = log;
    this.host = this.makeHost(log);
    const store = await this.openState();
    const state = new State(store, () => this.openState());
    this.state = state;
    const consensus = { send: (command: Command) => this.commands.send(command), onEvent: () => {} };
    const delay = (ms: number, callback: () => void): (() => void) => this.engineThread.after(ms, callback);
    this.router = new Router({
      engine,
      hasher: new PasswordHasher(),
      nodeId: this.nodeId,
      epoch: this.incarnation,
      calls: this.calls,
      alone: () => this.getSessions().alone,
      session: (target) => this.sessions?.of(target),
      waitMs: swarm.waitMs,
      monotonic: () => this.monotonic(),
      delay,
    });
    this.snapshots = new Snapshots({
      state,
      consensus,
      calls: this.calls,
      ensureStored: (session) => this.getCheckpointer().ensureStored(session),
      replace: (session, applied) => this.getSessions().replace(session, applied),
      session: (group) => this.sessions?.ofGroup(group),
      delay,
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
      changed: (session) => this.router?.sessionChanged(session),
      onFailure: (error) => this.fail('a group could not be opened or closed', error),
    });
    this.checkpointer = new Checkpointer({
      state,
      consensus,
      intervalMs: swarm.checkpointMs,
      sizeBytes: swarm.checkpointBytes,
      monotonic: () => this.monotonic(),
      yield: () => new Promise((resolve) => this.engineThread.after(0, resolve)),
      blocked: (session) => this.snapshots.isReceiving(session.id),
      onFailure: (session, error) => this.fail(`the checkpoint of group ${session.id} failed`, error),
      onDone: () => {},
    });
    this.sessions.useCheckpointer(this.checkpointer);
    const pause = (work: () => void): void => {
      this.engineThread.after(5, work);
    };
    const cacheBytes = swarm.smallCache ? CACHE_BYTES_SMALL : Number.MAX_SAFE_INTEGER;
    this.memory = new MemoryKeeper(engine, cacheBytes, () => this.monotonic(), pause);
    this.garbage = new GarbageCollector({
      engine,
      intervalMs: 500,
      monotonic: () => this.monotonic(),
      pause,
      propose: (session, change) => session.propose(change, { ok: true, result: '' }, () => {}),
      onFailure: (error) => this.fail('the search for garbage failed', error),
    });
    this.engineThread.every(HOUSEKEEPING_MS, () => this.keepHouse());
    this.consensusThread.every(swarm.tickMs, () => this.tick());
    await this.sessions.open();
    this.bootstrapWhenLeading();
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

  private makeHost(log: LogStore): GroupHost {
    const { swarm, planted, draw } = this.world;
    return new GroupHost({
      nodeId: this.nodeId,
      log,
      raft: { ...swarm.raft, electionTicks: swarm.electionTicks },
      random: () => draw.bits(),
      emit: (event) => this.emit(event),
      transmit: (group, messages) => this.transmit(group, messages),
      isUp: (node) => this.isUp(node),
      logTail: swarm.logTail,
      lowDiskBytes: 0,
      observe: (group) => ({
        mutants: planted.raft,
        trace: (event) => this.world.onTrace(this, group, event),
      }),
    });
  }

  private environment(): Environment {
    const { draw } = this.world;
    return {
      now: () => this.wallClock(),
      monotonic: () => this.monotonic(),
      randomBytes: (count) => draw.bytes(count),
      random: () => draw.unit(),
      heapUsed: () => 0,
      log: () => {},
      node: null,
      voters: () => this.voters(),
    };
  }

  private wallClock(): number {
    return NOW_MS + this.world.scheduler.now + this.machine.clockOffsetMs;
  }

  private monotonic(): number {
    return this.world.scheduler.now;
  }

  private voters(): readonly NodeId[] {
    const { members } = this.engine.root;
    const { voters } = this.getSessions().root.membership;
    const staying = voters.filter((id) => members.get(id)?.leaving === false);
    return staying.length > 0 ? staying : voters;
  }

  private getSessions(): Sessions {
    if (this.sessions === null) throw new Error('the sessions are not made yet');
    return this.sessions;
  }

  private getCheckpointer(): Checkpointer {
    if (this.checkpointer === null) throw new Error('the checkpointer is not made yet');
    return this.checkpointer;
  }

  // ---- the engine thread

  private bootstrapWhenLeading(): void {
    const { root } = this.engine;
    const session = this.getSessions().root;
    if (root.users.size > 0) return;
    if (session.leading && session.refusal() === null) {
      const members = (this.machine.cluster.founders ?? []).map((founder, number) => ({
        ...founder,
        number,
        leaving: false,
      }));
      const change = bootstrap(root, Math.floor(this.wallClock() / 1000), NO_PASSWORD, members);
      const collectionEvents = root.collectionEvents.splice(0);
      session.propose({ ...change, collectionEvents }, { ok: true, result: '' }, () => {});
    }
    this.engineThread.after(HOUSEKEEPING_MS, () => this.bootstrapWhenLeading());
  }

  private keepHouse(): void {
    this.engineSilentSince = null;
    const { swarm } = this.world;
    for (const session of this.getSessions().all) {
      this.getCheckpointer().consider(session);
      if (swarm.collectsGarbage) this.garbage.consider(session);
    }
    this.memory.consider();
  }

  private takeEvent(original: Event): void {
    this.world.onEvent(this, original);
    const event = this.bugs.event(original, (command) => this.commands.send(command));
    if (event === null) return;
    try {
      if (event.kind === 'failed') this.fail(event.failure.message, null);
      else if (event.kind === 'called' && this.sessions === null) return;
      else if (event.kind === 'called' || event.kind === 'returned') this.calls.handle(event);
      else if (event.kind === 'peer') this.router?.peerChanged(event.node, event.up);
      else if ('group' in event) this.takeGroupEvent(event);
    } catch (error) {
      this.fail('an event of the log could not be taken', error);
    }
  }

  private takeGroupEvent(event: Extract<Event, { readonly group: GroupId }>): void {
    const session = this.session(event.group);
    if (session !== undefined) this.bugs.session(session);
    this.sessions?.handle(event);
  }

  // ---- the consensus thread

  private emit(event: Event): void {
    if (!this.alive) return;
    this.bugs.emitted(event);
    this.events.send(event);
  }

  private obey(command: Command): void {
    switch (command.kind) {
      case 'call':
        this.callOther(command.to, command.id, command.payload);
        return;
      case 'return':
        this.answerOther(command.id, command.payload);
        return;
      case 'peers':
        return;
      default:
        this.host?.handle(command);
    }
  }

  private tick(): void {
    const { host, log } = this;
    if (host === null || log === null) return;
    this.watchPeers();
    this.watchEngine();
    host.tick();
  }

  /** An engine thread that says nothing for long can't lead. */
  private watchEngine(): void {
    const { scheduler, swarm } = this.world;
    if (!this.engineThread.isPaused) {
      this.engineSilentSince = null;
      this.host?.giveAway(false);
      return;
    }
    this.engineSilentSince ??= scheduler.now;
    if (scheduler.now - this.engineSilentSince > swarm.engineSilenceMs) this.host?.giveAway(true);
  }

  private watchPeers(): void {
    const { scheduler, swarm } = this.world;
    const timeoutMs = swarm.tickMs * swarm.electionTicks;
    for (const node of this.world.nodes()) {
      if (node === this.nodeId) continue;
      let peer = this.peers.get(node);
      if (peer === undefined) {
        peer = { start: null, heardAt: Number.NEGATIVE_INFINITY };
        this.peers.set(node, peer);
      }
      const heard = this.world.heard(this, node);
      if (heard !== null) {
        if (peer.start !== null && peer.start !== heard) this.peerDown(node);
        if (peer.start === null) this.emit({ kind: 'peer', node, up: true, version: '' });
        peer.start = heard;
        peer.heardAt = scheduler.now;
      } else if (peer.start !== null && scheduler.now - peer.heardAt >= timeoutMs) {
        this.peerDown(node);
      }
    }
  }

  private peerDown(node: NodeId): void {
    const peer = this.peers.get(node);
    if (peer === undefined || peer.start === null) return;
    peer.start = null;
    this.host?.peerDown(node);
    this.emit({ kind: 'peer', node, up: false, version: '' });
    for (const [id, to] of this.calling) {
      if (to !== node) continue;
      this.calling.delete(id);
      this.emit({ kind: 'returned', id, payload: null });
    }
  }

  /** Messages of one turn to one node go in one frame. */
  private transmit(group: GroupId, messages: readonly Message[]): void {
    if (!this.alive) return;
    this.world.onTransmit(this, group, messages);
    const { outbox } = this;
    if (outbox.size === 0) this.consensusThread.after(0, () => this.flush());
    for (const message of messages) {
      const items = outbox.get(message.to);
      const item = { group, bytes: encodeMessage(message) };
      if (items === undefined) outbox.set(message.to, [item]);
      else items.push(item);
    }
  }

  private flush(): void {
    const { outbox } = this;
    this.outbox = new Map();
    for (const [to, items] of outbox) this.world.send(this, to, { kind: 'raft', items });
  }

  private takeFrame(from: NodeId, frame: Frame): void {
    const { host } = this;
    if (host === null) return;
    if (frame.kind === 'raft') {
      for (const { group, bytes } of frame.items) host.receive(group, decodeMessage(bytes));
    } else if (frame.kind === 'call') {
      const id = this.nextCall++;
      this.callsOfOthers.set(id, { from, id: frame.id });
      this.emit({ kind: 'called', from, id, payload: frame.payload });
    } else if (this.calling.delete(frame.id)) {
      this.emit({ kind: 'returned', id: frame.id, payload: frame.payload });
    }
  }

  private callOther(to: NodeId, id: number, payload: Uint8Array): void {
    if (!this.isUp(to)) {
      this.emit({ kind: 'returned', id, payload: null });
      return;
    }
    this.calling.set(id, to);
    this.world.send(this, to, { kind: 'call', id, payload });
  }

  private answerOther(id: number, payload: Uint8Array): void {
    const call = this.callsOfOthers.get(id);
    if (call === undefined) return;
    this.callsOfOthers.delete(id);
    this.world.send(this, call.from, { kind: 'return', id: call.id, payload });
  }
}
