/**
 * The consensus side of a node: its Raft groups, their log, and what is said to the other nodes. All of it
 * stands here; clock, disk, network and the line to the engine side are handed in, so that a thread of a real
 * node, a simulated node and a test are made of the same.
 */
import type { LogStore } from '@althing/storage';
import type { Message } from 'raft-ts';
import type { Clock } from '../base/clock.js';
import type {
  Command,
  Event,
  GroupId,
  JoinAnswer,
  Joiner,
  NodeId,
  PeerAddress,
} from '../between/protocol.js';
import { type LinkSizes, Links } from '../peers/links.js';
import { goneNodes } from './gone.js';
import { GroupHost, type GroupHostOptions } from './group-host.js';
import type { Network, NetworkEvents } from './network.js';

export interface ConsensusSettings
  extends Pick<GroupHostOptions, 'nodeId' | 'raft' | 'logTail' | 'lowDiskBytes' | 'slowDiskTicks'> {
  /** Length of a tick of Raft's time in milliseconds. */
  readonly tickMs: number;
  /** Silence of the engine side after which this node should lead nothing, in milliseconds. */
  readonly engineSilenceMs: number;
  /**
   * Time between two looks at the room on the disk, in milliseconds, while it is written to or short of room.
   */
  readonly diskLookMs: number;
  readonly linkSizes?: LinkSizes;
  /** True if a node that leads many groups gives some away. Default: yes. */
  readonly balances?: boolean;
}

export interface LogDisk {
  readonly log: LogStore;
  /** Finds out how many bytes are free, and notes that. An error says that it can't be known. */
  readonly look: (note: (bytes: number) => void) => Promise<void>;
}

export interface EngineLine extends Pick<GroupHostOptions, 'writing' | 'written'> {
  readonly emit: (event: Event) => void;
  /** Milliseconds for which the engine side has done nothing though it serves. */
  readonly silence: () => number;
  /** Called at each tick with the age that knowledge of users may have; see `GroupHost.rootAge`. */
  readonly noteRoot: (ageMs: number | 'alone') => void;
}

/** An observer: nothing depends on it. */
export interface ConsensusOnlooker extends Pick<GroupHostOptions, 'watch' | 'observe'> {
  /** Called before messages leave. */
  readonly transmitting?: (group: GroupId, messages: readonly Message[]) => void;
  /** Called when entries are held back for want of room on the way to a node. */
  readonly held?: () => void;
}

export interface ConsensusPorts<Net extends Network = Network> {
  readonly clock: Clock;
  readonly disk: LogDisk;
  readonly line: EngineLine;
  /** Makes the network. It tells nothing before this function has returned. */
  readonly connect: (events: NetworkEvents) => Net;
  /** A source of random 32-bit integers. */
  readonly random: () => number;
  readonly onlooker?: ConsensusOnlooker;
  /** Called when something comes that may end the calm; see `ConsensusSide.isCalm`. */
  readonly wake?: () => void;
}

/** Milliseconds between two looks at the balance, and messages about how many groups a node leads. */
const LOAD_MS = 1000;

/** The same of such messages that tell nothing new, and of measurements of the ways to others. */
const LOAD_AGAIN_MS = 5000;

/** Time between two looks at how far the groups lag, in milliseconds. */
const LAG_LOOK_MS = 300;

/** The same of looks at the room on the disk while nothing is written and there is enough of it. */
const CALM_DISK_LOOK_MS = 1000;

/** Silence of the engine side that is nothing special, in milliseconds: it need not beat often while it is idle. */
const CALM_SILENCE_MS = 700;

/** Time for the engine side to answer a node that wants to join, in milliseconds. */
const JOIN_TIMEOUT_MS = 15_000;

export class ConsensusSide<Net extends Network = Network> {
  readonly network: Net;
  readonly host: GroupHost;
  readonly links: Links;
  /** All members; empty until there is a list. */
  private members: readonly PeerAddress[] = [];
  /** Members but this node. */
  private others: readonly NodeId[] = [];
  private readonly joins = new Map<number, (answer: JoinAnswer) => void>();
  private nextJoin = 1;
  /** The number of groups that the others were told this node leads, and the time of that; null for what is to be told anew. */
  private toldLoad: { readonly load: number; readonly at: number } | null = null;
  /** When the room on the disk was last looked at, and how many writes of the log there had been. */
  private diskSeen = { at: Number.NEGATIVE_INFINITY, writes: 0 };
  private readonly timers: readonly (() => void)[];
  private readonly wake: () => void;

  constructor(
    private readonly settings: ConsensusSettings,
    private readonly ports: ConsensusPorts<Net>,
  ) {
    const { clock, line, wake = () => {} } = ports;
    this.wake = wake;
    this.network = ports.connect({
      frame: (from, kind, payload) => {
        wake();
        this.links.frame(from, kind, payload);
      },
      peer: (node, up, version) => this.peerChanged(node, up, version),
      broke: (node) => this.lost(node),
      low: (node) => this.links.roomFor(node),
      askedToJoin: (joiner) => this.askEngine(joiner),
      emit: line.emit,
    });
    this.links = this.makeLinks();
    this.host = this.makeHost();
    this.timers = [
      clock.every(settings.tickMs, () => this.tick()),
      clock.every(LOAD_MS, () => this.shareLoad()),
      clock.every(LAG_LOOK_MS, () => this.host.watchLag(clock.now())),
      clock.every(settings.diskLookMs, () => this.considerDisk()),
    ];
  }

  /**
   * True if its clock may tick more slowly: all groups sleep, all other nodes give their signs of life in time, and
   * the engine side does, too. As soon as one of that is not so, each tick counts; whatever comes from outside calls
   * `wake` first.
   */
  get isCalm(): boolean {
    const { network, others } = this;
    if (this.ports.line.silence() > CALM_SILENCE_MS || !this.host.isCalm) return false;
    return others.every((node) => network.isWell(node));
  }

  /** The other members of the cluster, as far as they are known. */
  get peers(): readonly NodeId[] {
    return this.others;
  }

  handle(command: Command): void {
    this.wake();
    switch (command.kind) {
      case 'peers':
        this.members = command.peers;
        this.others = command.peers
          .map(({ nodeId }) => nodeId)
          .filter((node) => node !== this.settings.nodeId);
        this.tellNetwork();
        return;
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
      case 'invite':
        this.invite(command);
        return;
      case 'operators':
      case 'sizes':
        // These are of the status port alone.
        return;
      case 'renew_tls':
        this.network.renewTls(command);
        return;
      default:
        this.host.handle(command);
    }
  }

  /** Looks how much room the disk has. */
  lookAtDisk(): Promise<void> {
    this.diskSeen = { at: this.ports.clock.now(), writes: this.ports.disk.log.stats().writes };
    const looked = this.ports.disk.look((bytes) => this.host.noteFree(bytes));
    // A file system that does not tell what is free is no reason to end: writes tell when there is no room.
    return looked.catch(() => {});
  }

  /** Tells how old what this node knows of users may be; it gets older while no majority is heard. */
  noteRoot(): void {
    const age = this.host.rootAge(this.ports.clock.now());
    if (age !== null) this.ports.line.noteRoot(age);
  }

  /** Closes the log, which notes how much of it is durable, and all connections. */
  async close(): Promise<void> {
    for (const stop of this.timers) stop();
    await Promise.all([this.ports.disk.log.close(), this.network.close()]);
  }

  private makeLinks(): Links {
    const { clock, line } = this.ports;
    const { linkSizes } = this.settings;
    return new Links({
      sender: this.network,
      ...(linkSizes === undefined ? {} : { sizes: linkSizes }),
      now: clock.now,
      emit: line.emit,
      receive: (group, message) => this.host.receive(group, message),
      unsent: (group, to) => this.host.unsent(group, to),
      room: (group, to) => this.host.roomFor(group, to),
      malformed: (from, problem) =>
        line.emit({
          kind: 'log',
          level: 'error',
          event: 'peer_malformed',
          message: `node ${from}: ${problem}`,
        }),
    });
  }

  private makeHost(): GroupHost {
    const { line, disk, random, onlooker = {} } = this.ports;
    const { nodeId, raft, logTail, lowDiskBytes, slowDiskTicks } = this.settings;
    const { transmitting, held } = onlooker;
    return new GroupHost({
      nodeId,
      log: disk.log,
      raft,
      random,
      emit: line.emit,
      answer: (answer) => this.links.return({ kind: 'return', ...answer }),
      transmit: (group, messages) => {
        transmitting?.(group, messages);
        this.links.transmit(group, messages);
      },
      hasRoom: (group, to) => {
        const hasRoom = this.links.hasRoom(group, to);
        if (!hasRoom) held?.();
        return hasRoom;
      },
      isUp: (node) => this.network.isUp(node),
      logTail,
      lowDiskBytes,
      ...onlooker,
      ...(line.writing === undefined ? {} : { writing: line.writing }),
      ...(line.written === undefined ? {} : { written: line.written }),
      ...(slowDiskTicks === undefined ? {} : { slowDiskTicks }),
    });
  }

  private tick(): void {
    // An engine side that can't run queries should not lead.
    this.host.giveAway(this.ports.line.silence() > this.settings.engineSilenceMs);
    this.host.tick();
    this.noteRoot();
  }

  /** Looks at the room on the disk, more rarely while this node writes nothing: other programs may fill it all the same. */
  private considerDisk(): void {
    const { at, writes } = this.diskSeen;
    const isCalm = this.host.diskLevel === 'ok' && this.ports.disk.log.stats().writes === writes;
    if (!isCalm || this.ports.clock.now() - at >= CALM_DISK_LOOK_MS) void this.lookAtDisk();
  }

  private shareLoad(): void {
    // Nodes that the root group let go may show only after the list that lacks them.
    this.tellNetwork();
    const { load } = this.host;
    const now = this.ports.clock.now();
    if (this.toldLoad?.load !== load || now - this.toldLoad.at >= LOAD_AGAIN_MS) {
      this.toldLoad = { load, at: now };
      this.links.tellLoad(this.others, load);
      this.links.ping(this.others);
    }
    if (this.settings.balances ?? true) this.host.balance(this.links.leading);
  }

  private tellNetwork(): void {
    const { members, host } = this;
    if (members.length > 0) this.network.setMembers(members, goneNodes(host.removed, members));
  }

  private invite({ id, number, host, port, secret }: Extract<Command, { kind: 'invite' }>): void {
    const { emit } = this.ports.line;
    this.network.invite({ number, host, port }, secret).then(
      (answer) => emit({ kind: 'invited', id, ...answer }),
      (error: Error) => emit({ kind: 'invited', id, problem: error.message }),
    );
  }

  private askEngine(joiner: Joiner): Promise<JoinAnswer> {
    const { clock, line } = this.ports;
    const id = this.nextJoin++;
    return new Promise((resolve) => {
      const callOff = clock.after(JOIN_TIMEOUT_MS, () => {
        this.joins.delete(id);
        resolve({ kind: 'wait', reason: 'the cluster is busy' });
      });
      this.joins.set(id, (answer) => {
        callOff();
        resolve(answer);
      });
      line.emit({ kind: 'asked_to_join', id, joiner });
    });
  }

  private peerChanged(node: NodeId, up: boolean, version: string): void {
    this.wake();
    if (!up) this.lost(node);
    this.toldLoad = null;
    this.ports.line.emit({ kind: 'peer', node, up, version });
  }

  /** Messages that were on their way to a node or from it may be lost. */
  private lost(node: NodeId): void {
    this.wake();
    this.toldLoad = null;
    this.links.peerDown(node);
    this.host.peerDown(node);
  }
}
