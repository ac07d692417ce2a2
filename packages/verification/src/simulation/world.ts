/** A cluster of simulated nodes, with everything around it. */
import { type Founder, FrameKind, type GroupId, type NodeId, votersWanted } from '@althing/node/parts';
import { DiskFullError } from '@althing/storage';
import { formatTrace, membersOf, type TraceEvent } from 'raft-ts';
import { Clients } from './clients.js';
import { voteIn } from './consensus-side.js';
import { Contents } from './contents.js';
import { cutSwarm, Decisions, WHOLE } from './cut.js';
import { isDamage, lieNoticedBy } from './damage.js';
import { Drains } from './drains.js';
import { eventText } from './event-text.js';
import { Followers, isUntold } from './followers.js';
import { Listeners } from './listeners.js';
import { Machine, NODE_PORT } from './machine.js';
import { NOTHING_PLANTED, type Planted } from './mutants.js';
import { Nemesis } from './nemesis.js';
import { Network } from './network.js';
import { Newcomers } from './newcomers.js';
import { Process } from './process.js';
import { Draw } from './random.js';
import { Reached } from './reached.js';
import { RoomWitness } from './room-witness.js';
import { Scheduler } from './scheduler.js';
import { SnapshotLooks } from './snapshot-looks.js';
import { SocketClients } from './sockets/socket-clients.js';
import type { Surroundings } from './surroundings.js';
import { drawSwarm, type Swarm } from './swarm.js';
import { rolesOf } from './table.js';
import { Thread } from './thread.js';
import { TooLong } from './too-long.js';
import { Violation, Watcher } from './watcher.js';
import { COLLECTIONS } from './workload.js';
import type { WorldOptions } from './world-options.js';

/** Time between two looks at who was removed, in milliseconds. */
const RETIRE_MS = 500;
/** Time until a node is started again that a full disk ended. */
const RESTART_MS = 300;

/** Transitions of a group that tell how it fares, beside all its routine. */
const TURNING_POINTS: ReadonlySet<string> = new Set<TraceEvent['type']>([
  'role',
  'truncate',
  'membership',
  'snapshot',
  'change_proposed',
]);

/** Events of a run at most. */
const TURNS_MAX = 1_000_000;

/** Events between two looks at what nodes show. */
const LOOK_TURNS = 20;

/** The number of looks that an event may still take after something broke in it. */
const LOOKS_AFTER_VIOLATION_MAX = 10_000;

export class World {
  readonly seed: number;
  readonly swarm: Swarm;
  readonly scheduler = new Scheduler();
  readonly network: Network;
  readonly machines: Machine[] = [];
  readonly watcher: Watcher;
  readonly contents = new Contents();
  readonly decisions: Decisions;
  readonly clients: Clients;
  readonly sockets: SocketClients;
  /** Events that are heard in rooms. */
  readonly witness = new RoomWitness();
  readonly nemesis: Nemesis;
  readonly listeners: Listeners;
  readonly followers: Followers;
  readonly snapshotLooks: SnapshotLooks;
  readonly drains: Drains;
  /** Machines that the cluster takes in. */
  readonly newcomers: Newcomers;
  /** A hash of everything that happened: equal runs have equal ones. */
  traceHash = 0;
  private readonly surroundings: Surroundings;
  private readonly crashDraw: Draw;
  private readonly clusterId: Uint8Array;
  readonly reached = new Reached();
  private violation: unknown = null;
  private looksAfterViolation = 0;

  constructor(
    private readonly options: WorldOptions,
    readonly planted: Planted = NOTHING_PLANTED,
  ) {
    const { seed } = options;
    this.seed = seed;
    const cut = options.cut ?? WHOLE;
    this.swarm = cutSwarm(options.swarm ?? drawSwarm(seed), cut);
    this.decisions = new Decisions(cut, (name, kind) => options.onDecision?.(name, kind));
    const { scheduler, swarm } = this;
    this.watcher = new Watcher(swarm.raft.maxPendingEntries ?? Number.MAX_SAFE_INTEGER);
    this.network = new Network(scheduler, seed, swarm.network);
    this.crashDraw = new Draw(seed, 'crash', scheduler);
    this.clusterId = new Draw(seed, 'cluster').bytes(16);
    this.listeners = new Listeners({
      onViolation: (error) => this.violate(error),
      onReached: (place) => this.reached.add(place),
    });
    this.followers = new Followers(
      {
        holders: (group, index) => this.holdersOf(group, index),
        committedIndex: (group) => this.watcher.committedIndex(group),
        isUntold: (group, index) => isUntold(this.contents.entriesOf(group).get(index)),
        onViolation: (error) => this.violate(error),
        onReached: (place) => this.reached.add(place),
      },
      COLLECTIONS,
    );
    this.snapshotLooks = new SnapshotLooks({
      draw: new Draw(seed, 'snapshots', scheduler),
      entriesOf: (group) => this.contents.entriesOf(group),
      onViolation: (error) => this.violate(error),
      onReached: (place) => this.reached.add(place),
    });
    this.surroundings = {
      scheduler,
      swarm,
      drawFor: ({ nodeId }, purpose) => new Draw(seed, `${purpose} ${nodeId}`, scheduler),
      planted,
      tasksMayFail: options.tasksMayFail === true,
      engineThread: () => options.engineThread?.(scheduler) ?? new Thread(scheduler),
      nodes: () => this.present.map(({ nodeId }) => nodeId),
      heard: (by, from) => this.heard(by, from),
      join: (process) => this.newcomers.join(process),
      invite: (from, place) => this.newcomers.invite(from, place),
      send: (from, to, frame) => {
        const turn = scheduler.turns;
        this.network.carry(from.nodeId, to, frame.kind !== FrameKind.RAFT, () => {
          const target = this.machineOf(to)?.process;
          if (!target) return;
          this.mix(turn, to);
          target.receive(from.nodeId, frame);
        });
      },
      onBegin: (process, group) => this.watcher.onBegin(process, group),
      onTrace: (process, group, event) => {
        this.mix(group, event.type.length);
        const isRoutine = !TURNING_POINTS.has(event.type);
        this.note(() => `raft group ${group}: ${formatTrace(event)}`, process.machine, isRoutine);
        this.guard(() => this.watcher.onTrace(process, group, event));
        this.contents.onTrace(group, event);
        this.reached.onTrace(process, group, event);
        this.nemesis.onTrace(process, group, event);
      },
      onEvent: (process, event) => {
        this.mix(event.kind.length, 'group' in event ? event.group : 0);
        this.note(() => `event ${eventText(event)}`, process.machine, true);
        this.guard(() => this.watcher.onEvent(process, event));
        this.guard(() => this.contents.onEvent(process, event));
        this.reached.onEvent(event);
        this.nemesis.onEvent(process, event);
      },
      onReached: (place) => this.reached.add(place),
      onOpen: (process) => {
        this.listeners.attend(process, COLLECTIONS);
        this.snapshotLooks.attend(process, COLLECTIONS);
        this.followers.attend(process);
      },
      onTransmit: (process, group, messages) => {
        const view = process.view(group);
        if (view === undefined) return;
        this.guard(() => {
          for (const message of messages) this.watcher.onTransmit(process, group, view, message);
        });
      },
      onCheckpoint: (process, group) =>
        this.contents.onCheckpoint(process, group, (error) => this.violate(error)),
      onStateCheck: (process, { group, index, outcome, minority }) => {
        this.reached.add(`states are compared: ${outcome}`);
        this.note(() => `states of group ${group} at ${index}: ${outcome}`, process.machine);
        const where = `group ${group} at ${index}: ${minority}`;
        this.guard(() => {
          if (outcome === 'different') throw new Violation('I4', `states differ in ${where}`);
        });
      },
      onFailure: (process, what, error) => this.failed(process, what, error),
    };
    this.makeMachines();
    this.clients = new Clients(this, new Draw(seed, 'clients', scheduler));
    this.sockets = new SocketClients(this);
    this.drains = new Drains(this);
    this.newcomers = new Newcomers(this);
    this.nemesis = new Nemesis(this, new Draw(seed, 'nemesis', scheduler));
  }

  /** The nodes whose logs hold what lies behind an index of a group. */
  private holdersOf(group: GroupId, index: number): NodeId[] {
    return this.processes
      .filter((process) => (process.view(group)?.firstIndex ?? Number.POSITIVE_INFINITY) <= index + 1)
      .map(({ machine }) => machine.nodeId);
  }

  get processes(): Process[] {
    return this.machines.flatMap(({ process }) => (process === null ? [] : [process]));
  }

  /**
   * Lets time go on.
   *
   * @throws what is found to be wrong
   */
  async run(until: () => boolean, limitMs: number): Promise<void> {
    const { turnsMax = Number.POSITIVE_INFINITY } = this.options;
    await this.scheduler.run(until, limitMs, () => {
      if (this.violation !== null) throw this.violation;
      if (this.scheduler.turns > turnsMax) throw new TooLong(`more than ${turnsMax} events`);
      if (this.scheduler.turns > TURNS_MAX) throw new Violation('I16', 'there is no end of messages');
      if (this.scheduler.turns % LOOK_TURNS === 0) {
        for (const process of this.processes) this.watcher.look(process);
      }
    });
    if (this.violation !== null) throw this.violation;
  }

  start(machine: Machine): void {
    if (machine.process !== null || machine.isGone || machine.isStopping || machine.isHeldBack) return;
    this.note(() => 'start', machine);
    machine.starts += 1;
    machine.process = new Process(machine, this.surroundings);
    machine.process.start();
  }

  /** @returns false if there was no process */
  crash(machine: Machine, powerCut: boolean): boolean {
    const { process } = machine;
    if (process === null) return false;
    this.note(() => (powerCut ? 'power cut' : 'kill'), machine);
    this.reached.onCrash(process, powerCut);
    this.end(machine, process);
    if (powerCut) machine.powerCut(() => this.crashDraw.unit());
    else machine.kill();
    if (powerCut) return true;
    for (const other of this.processes) {
      if (this.network.isCut(machine.nodeId, other.nodeId)) continue;
      this.scheduler.after(this.crashDraw.exponential(2), () => {
        if (machine.process === null) other.disconnected(machine.nodeId);
      });
    }
    return true;
  }

  /**
   * Stops a process in order: its log is closed, and knows then how much of it was promised. (Of the last few writes it
   * would not know yet, if somebody took them away.) Does nothing to one that is not up.
   */
  stop(machine: Machine, stopped: () => void): void {
    const { process } = machine;
    if (!process?.consensus) return;
    this.note(() => 'stop', machine);
    this.end(machine, process);
    machine.isStopping = true;
    const done = (): void => {
      machine.isStopping = false;
      machine.kill();
      stopped();
    };
    process.consensus.side.close().then(done, done);
  }

  /** A machine is lost with its disks; another one begins in its place. */
  replace(machine: Machine): Machine {
    this.crash(machine, true);
    machine.isGone = true;
    const keepsId = this.surroundings.planted.node.has('wiped_node_keeps_id');
    return this.addMachine(
      keepsId ? machine.nodeId : this.nodeIdOf(this.machines.length),
      machine.name,
      null,
    );
  }

  /** A machine that wants to join the cluster. */
  grow(): Machine {
    const number = this.machines.length;
    return this.addMachine(this.nodeIdOf(number), `n${number}`, null);
  }

  /** The machines that are, or want to be, part of the cluster. */
  get present(): Machine[] {
    return this.machines.filter(({ isGone }) => !isGone);
  }

  /** True if every present machine is up and knows exactly those that are present as the members of each of its groups. */
  get isComplete(): boolean {
    const ids = this.present
      .map(({ nodeId }) => nodeId)
      .sort((a, b) => a - b)
      .join();
    return this.present.every(({ process }) => {
      if (process === null || !process.isOpen) return false;
      return process.groups.every((group) => {
        const membership = process.host?.status(group)?.membership;
        if (membership === undefined || membership.outgoing.length > 0) return false;
        const isEnough = membership.voters.length === votersWanted(this.present.length);
        return isEnough && membersOf(membership).join() === ids;
      });
    });
  }

  /** True if some data are damaged and nobody has noticed yet. */
  get hasDamage(): boolean {
    return this.present.some(({ isDamaged }) => isDamaged);
  }

  machineOf(nodeId: number): Machine | undefined {
    return this.machines.findLast((machine) => machine.nodeId === nodeId);
  }

  /** Tells the log what happens, if there is one; where, if it is one machine that does it or that it happens to. */
  note(text: () => string, at?: Machine, isRoutine = false): void {
    this.options.log?.({
      timeMs: this.scheduler.now,
      machine: at?.name ?? null,
      what: this.named(text()),
      isRoutine,
      roles: rolesOf(this.machines),
    });
  }

  /** A text with the names of the machines in place of their ids. */
  private named(text: string): string {
    return text.replace(/\d{4,}/g, (number) => this.machineOf(Number(number))?.name ?? number);
  }

  violate(error: unknown): void {
    this.violation ??= error;
  }

  mix(left: number, right: number): void {
    const { now } = this.scheduler;
    let hash = Math.imul(this.traceHash ^ left, 0x85ebca6b) ^ right;
    hash = Math.imul(hash ^ (hash >>> 13) ^ (now * 1000), 0xc2b2ae35);
    this.traceHash = (hash ^ (hash >>> 16)) >>> 0;
  }

  private makeMachines(): void {
    const founders = Array.from({ length: this.swarm.nodes }, (_none, at) => ({
      nodeId: this.nodeIdOf(at),
      name: `n${at}`,
      host: `n${at}`,
      port: NODE_PORT,
    }));
    for (const { nodeId, name } of founders) this.addMachine(nodeId, name, founders);
    this.retireRemoved();
  }

  /** @param number of the machine, in the order in which they come */
  private nodeIdOf(number: number): number {
    return new Draw(this.seed, `node ${number}`).int(1, 2 ** 31) * 2 ** 10 + number;
  }

  private addMachine(nodeId: number, name: string, founders: readonly Founder[] | null): Machine {
    const { clusterId, scheduler, swarm, seed, machines } = this;
    const machine = new Machine({
      identity: { nodeId, clusterId },
      name,
      cluster: { clusterId, founders },
      scheduler,
      draw: new Draw(seed, `disk ${machines.length}`, scheduler),
      quality: swarm.disk,
    });
    machines.push(machine);
    return machine;
  }

  /** Nodes that learn from others that they were removed end. */
  private retireRemoved(): void {
    this.scheduler.after(RETIRE_MS, () => {
      for (const { nodeId, consensus } of this.processes) {
        for (const removed of consensus?.side.network.gone ?? []) {
          const machine = this.machineOf(removed);
          if (machine && !machine.isGone && !this.network.isCut(nodeId, removed)) this.retire(machine);
        }
      }
      this.retireRemoved();
    });
  }

  /** A machine learns that it was removed, and ends. */
  retire(machine: Machine): void {
    this.note(() => `${machine.nodeId} was removed and ends`, machine);
    this.crash(machine, false);
    machine.isGone = true;
  }

  private heard(by: Process, from: number): number | null {
    const machine = this.machineOf(from);
    const process = machine?.process;
    if (!machine || !process || process.consensusThread.isPaused) return null;
    return this.network.isCut(from, by.nodeId) ? null : machine.starts;
  }

  private end(machine: Machine, process: Process): void {
    const durable = process.groups.map((group) => {
      const view = process.view(group);
      const index = view?.lastIndex ?? 0;
      return [group, { index, term: view?.term(index) ?? 0, vote: voteIn(view) }] as const;
    });
    if (durable.length > 0) machine.durable = new Map(durable);
    process.end();
    machine.process = null;
    this.drains.ended(machine);
    this.clients.processEnded(process);
    this.sockets.processEnded(process);
  }

  private failed(process: Process, what: string, error: unknown): void {
    const { machine } = process;
    if (error instanceof DiskFullError) {
      this.crash(machine, false);
      this.scheduler.after(RESTART_MS, () => this.start(machine));
      return;
    }
    if (machine.isDamaged && isDamage(error)) {
      if (machine.hasLied) this.reached.add(`a disk that lied: ${lieNoticedBy(error)}`);
      this.start(this.replace(machine));
      return;
    }
    this.violate(new Violation('node failed', `${process.machine.name}: ${what}`, error));
  }

  /** A violation ends the run after the event in which it happens; at once, if that event goes on for ever. */
  private guard(look: () => void): void {
    if (this.violation !== null && ++this.looksAfterViolation > LOOKS_AFTER_VIOLATION_MAX)
      throw this.violation;
    try {
      look();
    } catch (error) {
      this.violate(error);
    }
  }
}
