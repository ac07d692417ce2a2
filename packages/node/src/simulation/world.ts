/** A cluster of simulated nodes, with everything around it. */
import { DiskFullError, StorageError } from '@althing/storage';
import { formatTrace } from 'raft-ts';
import type { Founder } from '../cluster/cluster-record.js';
import { ExitCode } from '../config/exit-codes.js';
import { FrameKind } from '../consensus/frames.js';
import type { JoinAnswer } from '../consensus/protocol.js';
import { Clients } from './clients.js';
import { Machine, NODE_PORT } from './machine.js';
import { plantedBy } from './mutants.js';
import { Nemesis } from './nemesis.js';
import { Network } from './network.js';
import { NodeFailure, Process, type Surroundings } from './process.js';
import { Draw } from './random.js';
import { Reached } from './reached.js';
import { Scheduler } from './scheduler.js';
import { drawSwarm, type Swarm } from './swarm.js';
import { Violation, Watcher } from './watcher.js';

export interface WorldOptions {
  readonly seed: number;
  /** Names of planted bugs. */
  readonly mutants?: ReadonlySet<string>;
  /** Gets a line for everything that happens. */
  readonly log?: (line: string) => void;
}

/** Time between two questions of a node that wants to join, and between two looks at who was removed, in milliseconds. */
const JOIN_MS = 300;
const RETIRE_MS = 500;
/** Time until a node is started again that a full disk ended. */
const RESTART_MS = 300;

/** Events of a life at most. */
const TURNS_MAX = 1_000_000;

/** Events between two looks at what nodes show. */
const LOOK_TURNS = 20;

/** What an event may still do after something broke in it. */
const LOOKS_AFTER_VIOLATION_MAX = 10_000;

export class World {
  readonly seed: number;
  readonly swarm: Swarm;
  readonly scheduler = new Scheduler();
  readonly network: Network;
  readonly machines: Machine[] = [];
  readonly watcher: Watcher;
  readonly clients: Clients;
  readonly nemesis: Nemesis;
  /** A hash of everything that happened: equal runs have equal ones. */
  traceHash = 0;
  private readonly options: WorldOptions;
  private readonly surroundings: Surroundings;
  private readonly crashDraw: Draw;
  private readonly identityDraw: Draw;
  private readonly clusterId: Uint8Array;
  readonly reached = new Reached();
  private violation: unknown = null;
  private looksAfterViolation = 0;

  constructor(options: WorldOptions) {
    const { seed } = options;
    this.seed = seed;
    this.options = options;
    this.swarm = drawSwarm(seed);
    const { scheduler, swarm } = this;
    this.watcher = new Watcher(swarm.raft.maxPendingEntries ?? Number.MAX_SAFE_INTEGER);
    this.network = new Network(scheduler, new Draw(seed, 'network'), swarm.network);
    this.crashDraw = new Draw(seed, 'crash');
    this.identityDraw = new Draw(seed, 'identity');
    this.clusterId = this.identityDraw.bytes(16);
    this.surroundings = {
      scheduler,
      swarm,
      draw: new Draw(seed, 'process'),
      planted: plantedBy(options.mutants ?? new Set()),
      nodes: () => this.present.map(({ nodeId }) => nodeId),
      heard: (by, from) => this.heard(by, from),
      join: (process) => new Promise((resolve) => this.join(process, resolve)),
      send: (from, to, frame) => {
        const turn = scheduler.turns;
        this.network.carry(from.nodeId, to, frame.kind !== FrameKind.RAFT, () => {
          const target = this.machineOf(to)?.process;
          if (!target) return;
          this.mix(turn, to);
          target.receive(from.nodeId, frame);
        });
      },
      onTrace: (process, group, event) => {
        this.mix(group, event.type.length);
        this.note(() => `raft ${process.machine.name} group ${group}: ${formatTrace(event)}`);
        this.guard(() => this.watcher.onTrace(process, group, event));
        this.reached.onTrace(process, group, event);
        this.nemesis.onTrace(process, group, event);
      },
      onEvent: (process, event) => {
        this.mix(event.kind.length, 'group' in event ? event.group : 0);
        this.note(() => `event ${process.machine.name} ${eventText(event)}`);
        this.guard(() => this.watcher.onEvent(process, event));
        this.reached.onEvent(event);
        this.nemesis.onEvent(process, event);
      },
      onTransmit: (process, group, messages) => {
        const view = process.view(group);
        if (view === undefined) return;
        this.guard(() => {
          for (const message of messages) this.watcher.onTransmit(process, group, view, message);
        });
      },
      onStateCheck: (process, { group, index, outcome, minority }) => {
        this.reached.add(`states are compared: ${outcome}`);
        this.note(() => `${process.machine.name} states of group ${group} at ${index}: ${outcome}`);
        const where = `group ${group} at ${index}: ${minority}`;
        this.guard(() => {
          if (outcome === 'different') throw new Violation('I4', `states differ in ${where}`);
        });
      },
      onFailure: (process, what, error) => this.failed(process, what, error),
    };
    this.makeMachines();
    this.clients = new Clients(this, new Draw(seed, 'clients'));
    this.nemesis = new Nemesis(this, new Draw(seed, 'nemesis'));
  }

  /** The processes that live. */
  get processes(): Process[] {
    return this.machines.flatMap(({ process }) => (process === null ? [] : [process]));
  }

  /**
   * Lets time go on.
   *
   * @throws what is found to be wrong
   */
  async run(until: () => boolean, limitMs: number): Promise<void> {
    await this.scheduler.run(until, limitMs, () => {
      if (this.violation !== null) throw this.violation;
      if (this.scheduler.turns > TURNS_MAX) throw new Violation('I16', 'there is no end of messages');
      if (this.scheduler.turns % LOOK_TURNS === 0) {
        for (const process of this.processes) this.watcher.look(process);
      }
    });
    if (this.violation !== null) throw this.violation;
  }

  start(machine: Machine): void {
    if (machine.process !== null || machine.isGone || machine.isStopping) return;
    this.note(() => `start ${machine.name}`);
    machine.starts += 1;
    machine.process = new Process(machine, this.surroundings);
    machine.process.start();
  }

  /** @returns false if there was no process */
  crash(machine: Machine, powerCut: boolean): boolean {
    const { process } = machine;
    if (process === null) return false;
    this.note(() => `${powerCut ? 'power cut' : 'kill'} ${machine.name}`);
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
    this.note(() => `stop ${machine.name}`);
    this.end(machine, process);
    machine.isStopping = true;
    const done = (): void => {
      machine.isStopping = false;
      machine.kill();
      stopped();
    };
    process.consensus.close().then(done, done);
  }

  /** A machine is lost with its disks; another one begins in its place. */
  replace(machine: Machine): Machine {
    this.crash(machine, true);
    machine.isGone = true;
    const keepsId = this.surroundings.planted.node.has('wiped_node_keeps_id');
    return this.addMachine(keepsId ? machine.nodeId : this.newNodeId(), machine.name, null);
  }

  /** A machine that wants to join the cluster. */
  grow(): Machine {
    return this.addMachine(this.newNodeId(), `n${this.machines.length}`, null);
  }

  /** The machines that are, or want to be, part of the cluster. */
  get present(): Machine[] {
    return this.machines.filter(({ isGone }) => !isGone);
  }

  /** Whether every present machine is up and knows exactly those that are present as the voters of each of its groups. */
  get isComplete(): boolean {
    const ids = this.present
      .map(({ nodeId }) => nodeId)
      .sort((a, b) => a - b)
      .join();
    return this.present.every(({ process }) => {
      if (process === null || !process.isOpen) return false;
      return process.groups.every((group) => {
        const membership = process.host?.status(group)?.membership;
        return membership?.voters.join() === ids && membership.outgoing.length === 0;
      });
    });
  }

  /** Whether some data are damaged and nobody has noticed yet. */
  get hasDamage(): boolean {
    return this.present.some(({ isDamaged }) => isDamaged);
  }

  machineOf(nodeId: number): Machine | undefined {
    return this.machines.findLast((machine) => machine.nodeId === nodeId);
  }

  note(text: () => string): void {
    this.options.log?.(`${this.scheduler.now.toFixed(2).padStart(10)} ${text()}`);
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
    const nodeIds = Array.from({ length: this.swarm.nodes }, () => this.newNodeId());
    const founders = nodeIds.map((nodeId, at) => ({
      nodeId,
      name: `n${at}`,
      host: `n${at}`,
      port: NODE_PORT,
    }));
    for (const { nodeId, name } of founders) this.addMachine(nodeId, name, founders);
    this.retireRemoved();
  }

  private newNodeId(): number {
    return this.identityDraw.int(1, 2 ** 31) * 2 ** 10 + this.machines.length;
  }

  private addMachine(nodeId: number, name: string, founders: readonly Founder[] | null): Machine {
    const { clusterId, scheduler, swarm, seed, machines } = this;
    const machine = new Machine({
      identity: { nodeId, clusterId },
      name,
      cluster: { clusterId, founders },
      scheduler,
      draw: new Draw(seed, `disk ${machines.length}`),
      quality: swarm.disk,
    });
    machines.push(machine);
    return machine;
  }

  /** Asks one node after the other until the cluster takes this one in. */
  private join(process: Process, joined: () => void): void {
    const { machine, consensusThread } = process;
    const { nodeId, name } = machine;
    let isDone = false;
    const attempt = (): void => {
      if (isDone) return;
      consensusThread.after(JOIN_MS, attempt);
      const others = this.processes.filter(
        ({ consensus }) => consensus !== null && consensus.host !== process.host,
      );
      if (others.length === 0) return;
      const target = this.identityDraw.pick(others);
      const take = ({ kind }: JoinAnswer): void => {
        if (isDone) return;
        isDone = kind === 'accepted' || kind === 'removed';
        if (kind === 'accepted') joined();
        else if (kind === 'removed') this.retire(machine);
      };
      this.network.carry(nodeId, target.nodeId, true, () =>
        target.consensusThread.after(0, () =>
          target.consensus?.askToJoin({ nodeId, name, host: name, port: NODE_PORT }, (answer) =>
            this.network.carry(target.nodeId, nodeId, true, () =>
              consensusThread.after(0, () => take(answer)),
            ),
          ),
        ),
      );
    };
    attempt();
  }

  /** Nodes that learn from others that they were removed end. */
  private retireRemoved(): void {
    this.scheduler.after(RETIRE_MS, () => {
      for (const { nodeId, consensus } of this.processes) {
        for (const removed of consensus?.gone ?? []) {
          const machine = this.machineOf(removed);
          if (machine && !machine.isGone && !this.network.isCut(nodeId, removed)) this.retire(machine);
        }
      }
      this.retireRemoved();
    });
  }

  private retire(machine: Machine): void {
    this.note(() => `${machine.name} (${machine.nodeId}) was removed and ends`);
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
      const index = process.view(group)?.lastIndex ?? 0;
      return [group, { index, term: process.view(group)?.term(index) ?? 0 }] as const;
    });
    if (durable.length > 0) machine.durable = new Map(durable);
    process.end();
    machine.process = null;
    this.clients.processEnded(process);
  }

  private failed(process: Process, what: string, error: unknown): void {
    const { machine } = process;
    if (error instanceof DiskFullError) {
      this.crash(machine, false);
      this.scheduler.after(RESTART_MS, () => this.start(machine));
      return;
    }
    if (machine.isDamaged && isDamage(error)) {
      this.start(this.replace(machine));
      return;
    }
    this.violate(new Violation('node failed', `${process.machine.name}: ${what}`, error));
  }

  /** What is broken ends the life after the event in which it happens; at once, if that event goes on for ever. */
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

/** Whether a node ends because it found that its data are damaged. */
function isDamage(error: unknown): boolean {
  if (error instanceof StorageError) return error.code.startsWith('damaged');
  return error instanceof NodeFailure && error.exitCode === ExitCode.DataDamaged;
}

/** Why another node refused a call. */
function refusalText(kind: string, payload: Uint8Array): string {
  return kind === 'returned' && payload[0] === 1
    ? `: ${Buffer.from(payload.subarray(1)).toString('utf8')}`
    : '';
}

function eventText(event: { readonly kind: string }): string {
  return JSON.stringify(event, (_key, value: unknown) =>
    value instanceof Uint8Array ? `${value.length} bytes${refusalText(event.kind, value)}` : value,
  ).slice(0, 300);
}
