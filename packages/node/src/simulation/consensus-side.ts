/** The consensus thread of a simulated process: composed as the real one is, but for its clock, disk and connections. */
import { LogStore, type LogView } from '@althing/storage';
import type { Message, TraceEvent } from 'raft-ts';
import { goneNodes } from '../consensus/gone.js';
import { GroupHost } from '../consensus/group-host.js';
import { Links } from '../consensus/links.js';
import type { Command, Event, GroupId, JoinAnswer, Joiner, NodeId } from '../consensus/protocol.js';
import type { Machine } from './machine.js';
import type { Planted } from './mutants.js';
import type { Draw } from './random.js';
import type { Scheduler } from './scheduler.js';
import type { Swarm } from './swarm.js';
import type { Thread } from './thread.js';
import { Violation } from './watcher.js';

/** What travels between nodes. */
export interface Frame {
  readonly kind: number;
  readonly payload: Uint8Array;
}

export interface ConsensusOptions {
  readonly machine: Machine;
  readonly thread: Thread;
  readonly scheduler: Scheduler;
  readonly swarm: Swarm;
  readonly draw: Draw;
  readonly planted: Planted;
  readonly emit: (event: Event) => void;
  readonly send: (to: NodeId, frame: Frame) => void;
  /** The ids of all nodes that there are. */
  readonly nodes: () => readonly NodeId[];
  /** The start of another node that can be heard now; null for none. */
  readonly heard: (from: NodeId) => number | null;
  /** Whether the engine thread does nothing. */
  readonly engineSilent: () => boolean;
  readonly onTrace: (group: GroupId, event: TraceEvent) => void;
  readonly onTransmit: (group: GroupId, messages: readonly Message[]) => void;
  readonly onFailure: (what: string, error: unknown) => void;
}

/** Time between two looks at the room on the disk, and between two looks at the balance, in milliseconds. */
const DISK_LOOK_MS = 300;
const LOAD_MS = 1000;
const LAG_LOOK_MS = 250;

/** Version of the protocol between nodes. */
const PROTOCOL = 2;

interface Peer {
  /** The start of it that is known; null while it counts as down. */
  start: number | null;
  heardAt: number;
}

export class ConsensusSide {
  readonly host: GroupHost;
  private readonly options: ConsensusOptions;
  private readonly log: LogStore;
  private readonly links: Links;
  private readonly peers = new Map<NodeId, Peer>();
  private readonly joins = new Map<number, (answer: JoinAnswer) => void>();
  private nextJoin = 1;
  private engineSilentSince: number | null = null;
  private members: readonly { readonly nodeId: NodeId }[] = [];

  static async open(options: ConsensusOptions): Promise<ConsensusSide> {
    const { machine, swarm, planted } = options;
    const log = await LogStore.open(machine.logDisk.attach(), {
      segmentBytes: swarm.segmentBytes,
      cacheBytes: swarm.logCacheBytes,
      storeId: machine.logId,
      mutants: planted.storage,
    });
    checkDurable(machine, log);
    return new ConsensusSide(options, log);
  }

  private constructor(options: ConsensusOptions, log: LogStore) {
    this.options = options;
    this.log = log;
    const { machine, swarm, draw, planted, emit, thread, onTrace, onTransmit, onFailure } = options;
    this.links = new Links({
      sender: {
        send: (to, kind, payload) => {
          if (!this.isUp(to)) return false;
          options.send(to, { kind, payload });
          return true;
        },
      },
      emit,
      receive: (group, message) => this.host.receive(group, message),
      malformed: (from, problem) => onFailure(`a frame of node ${from}`, new Error(problem)),
    });
    const lease = { clock_ms: () => options.scheduler.now, tick_ms: swarm.tickMs };
    this.host = new GroupHost({
      nodeId: machine.nodeId,
      log,
      raft: { ...swarm.raft, electionTicks: swarm.electionTicks },
      random: () => draw.bits(),
      emit,
      transmit: (group, messages) => {
        onTransmit(group, messages);
        this.links.transmit(group, messages);
      },
      isUp: (node) => this.isUp(node),
      logTail: swarm.logTail,
      lowDiskBytes: 1,
      observe: (group) => ({
        mutants: planted.raft,
        trace: (event) => onTrace(group, event),
        ...(swarm.lease ? { lease } : {}),
      }),
    });
    thread.every(swarm.tickMs, () => this.tick());
    thread.every(LOAD_MS, () => {
      this.links.tellLoad([...this.peers.keys()], this.host.load);
      if (swarm.balances) this.host.balance(this.links.leading);
    });
    thread.every(LAG_LOOK_MS, () => this.host.watchLag(options.scheduler.now));
    thread.every(DISK_LOOK_MS, () => this.host.noteFree(machine.logRoom));
  }

  /** What is durable of the log of a group. */
  view(group: GroupId): LogView {
    return this.log.view(group);
  }

  /** The nodes that this one tells that they were removed. */
  get gone(): readonly NodeId[] {
    return this.members.length === 0 ? [] : goneNodes(this.host.removed, this.members);
  }

  isUp(node: NodeId): boolean {
    return this.peers.get(node)?.start != null;
  }

  handle(command: Command): void {
    switch (command.kind) {
      case 'call':
        this.links.call(command);
        return;
      case 'return':
        this.links.return(command);
        return;
      case 'join_answer':
        this.joins.get(command.id)?.(command.answer);
        this.joins.delete(command.id);
        return;
      case 'peers':
        this.members = command.peers;
        return;
      // Whom to connect to is the world's business.
      case 'invite':
        return;
      default:
        this.host.handle(command);
    }
  }

  /** Closes the log: it notes how much of it is durable. */
  close(): Promise<void> {
    return this.log.close();
  }

  frame(from: NodeId, { kind, payload }: Frame): void {
    this.links.frame(from, kind, payload);
  }

  /** A node outside of the cluster asks to be taken in. */
  askToJoin(joiner: Joiner, answer: (answer: JoinAnswer) => void): void {
    const id = this.nextJoin++;
    this.joins.set(id, answer);
    this.options.emit({ kind: 'asked_to_join', id, joiner });
  }

  /** The connection to another node broke. */
  peerDown(node: NodeId): void {
    const peer = this.peers.get(node);
    if (peer === undefined || peer.start === null) return;
    peer.start = null;
    this.links.peerDown(node);
    this.host.peerDown(node);
    this.options.emit({ kind: 'peer', node, up: false, version: '', protocol: 0 });
  }

  private tick(): void {
    this.watchPeers();
    this.watchEngine();
    this.host.tick();
  }

  /** An engine thread that says nothing for long can't lead. */
  private watchEngine(): void {
    const { scheduler, swarm, engineSilent } = this.options;
    if (!engineSilent()) {
      if (this.engineSilentSince !== null) this.host.giveAway(false);
      this.engineSilentSince = null;
      return;
    }
    this.engineSilentSince ??= scheduler.now;
    if (scheduler.now - this.engineSilentSince > swarm.engineSilenceMs) this.host.giveAway(true);
  }

  private watchPeers(): void {
    const { scheduler, swarm, machine, nodes, heard, emit } = this.options;
    const timeoutMs = swarm.tickMs * swarm.electionTicks;
    for (const node of nodes()) {
      if (node === machine.nodeId) continue;
      let peer = this.peers.get(node);
      if (peer === undefined) {
        peer = { start: null, heardAt: Number.NEGATIVE_INFINITY };
        this.peers.set(node, peer);
      }
      const start = heard(node);
      if (start !== null) {
        if (peer.start !== null && peer.start !== start) this.peerDown(node);
        const isNews = peer.start === null;
        peer.start = start;
        peer.heardAt = scheduler.now;
        if (isNews) emit({ kind: 'peer', node, up: true, version: '', protocol: PROTOCOL });
      } else if (peer.start !== null && scheduler.now - peer.heardAt >= timeoutMs) {
        this.peerDown(node);
      }
    }
    for (const node of this.peers.keys()) {
      if (nodes().includes(node)) continue;
      this.peerDown(node);
      this.peers.delete(node);
    }
  }
}

/** What was durable when the last process ended is there, or the log refuses to be opened. */
function checkDurable({ name, durable }: Machine, log: LogStore): void {
  for (const [group, { index, term }] of durable) {
    const { lastIndex } = log.view(group);
    const lastTerm = log.view(group).term(lastIndex) ?? 0;
    if (lastTerm > term || (lastTerm === term && lastIndex >= index)) continue;
    throw new Violation('I5', `${name} had ${index} entries of group ${group}, and has ${lastIndex}`);
  }
}
