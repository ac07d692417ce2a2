import { performance } from 'node:perf_hooks';
import { NodeDisk } from '@althing/storage';
import type { Message } from 'raft-ts';
import { ClusterFile } from '../cluster/cluster-record.js';
import { type Formation, form, invite, RemovedError } from '../cluster/formation.js';
import { ExitCode } from '../config/exit-codes.js';
import type { Identity } from '../identity.js';
import type { PeerFigures } from '../metrics/consensus-page.js';
import type { PeerTls } from '../peers/dial.js';
import type { VersionRange } from '../peers/greeting-format.js';
import type { PeerLogCause } from '../peers/refusal-log.js';
import { type PeerInfo, Transport } from '../peers/transport.js';
import { goneNodes } from './gone.js';
import type { GroupHost } from './group-host.js';
import { Links, type Traffic } from './links.js';
import type { Command, Event, GroupId, JoinAnswer, Joiner, NodeId, PeerAddress } from './protocol.js';

export interface ClusterOptions {
  /** With the id of the cluster that this node may found. */
  readonly identity: Identity;
  /** By which other nodes reach this one. */
  readonly name: string;
  readonly version: string;
  /** Of the protocol between nodes. */
  readonly protocolVersions: VersionRange;
  /** The data folder. */
  readonly folder: string;
  /** The setting `cluster`. */
  readonly expected: readonly string[];
  /** Whether an empty node without others waits for a cluster to take it in. */
  readonly waitForInvitation: boolean;
  readonly secret: string | null;
  /** Certificates for mutual TLS; null for none. */
  readonly tls: PeerTls | null;
  readonly bind: { readonly address: string; readonly port: number };
  readonly heartbeatMs: number;
  readonly electionTimeoutMs: number;
}

export interface ClusterEvents {
  readonly emit: (event: Event) => void;
  /** Told of every stranger that was refused. */
  readonly refused: (cause: PeerLogCause) => void;
  /** Ends the node. */
  readonly failed: (message: string, exitCode: number) => void;
}

/** Milliseconds between two messages about how many groups a node leads, and looks at the balance. */
const LOAD_MS = 1000;

/** How long the engine side may take to answer a node that wants to join, in milliseconds. */
const JOIN_TIMEOUT_MS = 15_000;

/** The other nodes, as the consensus thread deals with them: who they are, what they send, what is sent to them. */
export class ClusterSide {
  private readonly options: ClusterOptions;
  private readonly emit: (event: Event) => void;
  private readonly transport: Transport;
  private readonly links: Links;
  private readonly formation: Formation;
  private host: GroupHost | null = null;
  private peers: readonly NodeId[] = [];
  /** All members; empty until there is a list. */
  private members: readonly PeerAddress[] = [];
  private formedAs: string | null = null;
  private readonly joins = new Map<number, (answer: JoinAnswer) => void>();
  private nextJoin = 1;
  private loadTimer: NodeJS.Timeout | null = null;

  private constructor(options: ClusterOptions, file: ClusterFile, { emit, failed, refused }: ClusterEvents) {
    this.options = options;
    this.emit = emit;
    const { identity, name, version, bind, secret } = options;
    const { incarnation } = file;
    const host = name;
    this.transport = new Transport({
      self: { nodeId: identity.nodeId, name, incarnation, host, port: bind.port, version },
      bind,
      secret,
      tls: options.tls,
      versions: options.protocolVersions,
      heartbeatMs: options.heartbeatMs,
      silenceMs: options.electionTimeoutMs,
      log: ({ cause, address, message }) => this.log('warn', `peer_${cause}`, `${address}: ${message}`),
      onRefused: refused,
      onFrame: (from, kind, payload) => this.links.frame(from, kind, payload),
      onPeer: (node, state, info) => this.peerChanged(node, state === 'up', info),
      onBroke: (node) => this.lost(node),
      onAsk: (question, answer) => this.formation.question(question, answer),
      onRemoved: () => emit({ kind: 'removed' }),
      onSuperseded: () =>
        failed(
          'a newer process runs with the identity of this node; this one gives way',
          ExitCode.DataDamaged,
        ),
    });
    this.links = new Links({
      sender: this.transport,
      now: () => performance.now(),
      emit,
      receive: (group, message) => this.host?.receive(group, message),
      malformed: (from, problem) => this.log('error', 'peer_malformed', `node ${from}: ${problem}`),
    });
    this.formation = form({
      identity,
      name,
      address: { host, port: bind.port },
      expected: options.expected,
      waitForInvitation: options.waitForInvitation,
      store: file,
      ask: (host, port, question, timeoutMs) => this.transport.ask(host, port, question, timeoutMs),
      askToJoin: (joiner) => this.askToJoin(joiner),
      log: (level, message) => this.log(level, 'formation', message),
      now: () => performance.now(),
      delay,
      random: Math.random,
    });
    this.formation.formed.then(
      (record) => {
        this.transport.setCluster(record.clusterId);
        this.formedAs = Buffer.from(record.clusterId).toString('hex');
        emit({ kind: 'formed', record, incarnation });
      },
      (error: Error & { readonly exitCode?: number }) => {
        if (error instanceof RemovedError) emit({ kind: 'removed' });
        else failed(error.message, error.exitCode ?? ExitCode.Fatal);
      },
    );
  }

  /**
   * Begins to listen, and to find out or agree on which cluster this node belongs to: `formed` tells.
   *
   * @throws ConfigurationError, ClusterFileError, and errors of the disk
   */
  static async start(options: ClusterOptions, events: ClusterEvents): Promise<ClusterSide> {
    const file = await ClusterFile.open(await NodeDisk.make(options.folder), Date.now());
    const side = new ClusterSide(options, file, events);
    await side.transport.listen();
    return side;
  }

  /** From when Raft runs: who gets its messages. */
  attach(host: GroupHost): void {
    this.host = host;
    this.loadTimer = setInterval(() => {
      // Whom the root group let go may show only after the list that lacks them.
      this.tellTransport();
      this.links.tellLoad(this.peers, host.load);
      this.links.ping(this.peers);
      host.balance(this.links.leading);
    }, LOAD_MS);
  }

  transmit(group: GroupId, messages: readonly Message[]): void {
    this.links.transmit(group, messages);
  }

  isUp(node: NodeId): boolean {
    return this.transport.isUp(node);
  }

  /** The id of the cluster in hexadecimal digits; null until it is known. */
  get clusterId(): string | null {
    return this.formedAs;
  }

  /** Name of another member: its number until it was met. */
  nameOf(node: NodeId): string {
    return this.transport.identityOf(node)?.name ?? String(node);
  }

  /** Host and port of a member; null for one that is not in the list. */
  addressOf(node: NodeId): string | null {
    const member = this.members.find(({ nodeId }) => nodeId === node);
    return member === undefined ? null : addressText(member);
  }

  /** The other members, as they are now. */
  get peerFigures(): PeerFigures[] {
    return this.peers.map((node) => {
      const { sent, received, roundTripMs } = this.links.traffic.get(node) ?? NO_TRAFFIC;
      return { name: this.nameOf(node), isUp: this.isUp(node), sent, received, roundTripMs };
    });
  }

  /** Takes a command; false if it is about something else. */
  handle(command: Command): boolean {
    switch (command.kind) {
      case 'peers': {
        this.members = command.peers;
        this.peers = command.peers
          .map(({ nodeId }) => nodeId)
          .filter((id) => id !== this.options.identity.nodeId);
        this.tellTransport();
        return true;
      }
      case 'call':
        this.links.call(command);
        return true;
      case 'return':
        this.links.return(command);
        return true;
      case 'join_answer':
        this.joins.get(command.id)?.(command.answer);
        this.joins.delete(command.id);
        return true;
      case 'renew_tls':
        if (command.ca !== null) this.transport.renewTls({ ...command, ca: command.ca });
        return true;
      case 'invite':
        this.invite(command);
        return true;
      default:
        return false;
    }
  }

  async close(): Promise<void> {
    if (this.loadTimer !== null) clearInterval(this.loadTimer);
    this.formation.close();
    await this.transport.close();
  }

  private tellTransport(): void {
    const { members, host } = this;
    if (members.length > 0) this.transport.setPeers(members, goneNodes(host?.removed ?? [], members));
  }

  private invite({ id, host, port }: Extract<Command, { kind: 'invite' }>): void {
    const { name, bind } = this.options;
    const ask = (...args: Parameters<Transport['ask']>): Promise<Buffer> => this.transport.ask(...args);
    invite(ask, { host, port }, { host: name, port: bind.port }).then(
      (problem) => this.emit({ kind: 'invited', id, problem }),
      (error: Error) => this.emit({ kind: 'invited', id, problem: error.message }),
    );
  }

  private log(level: 'info' | 'warn' | 'error', event: string, message: string): void {
    this.emit({ kind: 'log', level, event, message });
  }

  private askToJoin(joiner: Joiner): Promise<JoinAnswer> {
    const id = this.nextJoin++;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.joins.delete(id);
        resolve({ kind: 'wait', reason: 'the cluster is busy' });
      }, JOIN_TIMEOUT_MS);
      this.joins.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.emit({ kind: 'asked_to_join', id, joiner });
    });
  }

  private peerChanged(node: NodeId, up: boolean, info: PeerInfo | null): void {
    if (!up) this.lost(node);
    this.emit({ kind: 'peer', node, up, version: info?.version ?? '', protocol: info?.protocol ?? 0 });
  }

  /** What was on its way to a node or from it may not arrive. */
  private lost(node: NodeId): void {
    this.links.peerDown(node);
    this.host?.peerDown(node);
  }
}

function addressText({ host, port }: PeerAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const NO_TRAFFIC: Traffic = { sent: 0, received: 0, roundTripMs: null };

function delay(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
