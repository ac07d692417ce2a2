import { systemClock } from '../base/clock.js';
import type { Identity } from '../base/identity.js';
import type { ClusterFile } from '../between/cluster-record.js';
import type { Command, NodeId, PeerAddress } from '../between/protocol.js';
import { ExitCode } from '../config/exit-codes.js';
import type { PeerTls } from '../peers/dial.js';
import { type Encryption, isReadable, READABLE } from '../peers/encryption.js';
import { type Formation, form, invite, RemovedError } from '../peers/formation/formation.js';
import type { VersionRange } from '../peers/greeting-format.js';
import type { PeerLogCause } from '../peers/refusal-log.js';
import { Transport } from '../peers/transport.js';
import type { Network, NetworkEvents } from './network.js';

export interface ClusterOptions {
  /** With the id of the cluster that this node may found. */
  readonly identity: Identity;
  /** By which other nodes reach this one. */
  readonly name: string;
  readonly version: string;
  /** Of the protocol between nodes. */
  readonly protocolVersions: VersionRange;
  /** The highest level of a cluster that the software knows. */
  readonly level: number;
  /** The data folder. */
  readonly folder: string;
  /** The setting `cluster`. */
  readonly expected: readonly string[];
  /** Whether an empty node without others waits for a cluster to take it in. */
  readonly waitForInvitation: boolean;
  readonly secret: string | null;
  /** Certificates for mutual TLS; null for none. */
  readonly tls: PeerTls | null;
  /** Where connections are encrypted without certificates. */
  readonly encryption: Encryption;
  readonly bind: { readonly address: string; readonly port: number };
  readonly heartbeatMs: number;
  readonly electionTimeoutMs: number;
}

/**
 * The network of a real node: connections to the other members, and how nodes without a cluster come to one.
 */
export class PeerNetwork implements Network {
  private readonly options: ClusterOptions;
  private readonly events: NetworkEvents;
  private readonly transport: Transport;
  private readonly formation: Formation;
  /** All members; empty until there is a list. */
  private members: readonly PeerAddress[] = [];
  private formedAs: string | null = null;

  /**
   * Begins to find out or agree on which cluster this node belongs to, which `formed` tells.
   *
   * @param refused told of every stranger that was refused
   * @throws ConfigurationError
   */
  constructor(
    options: ClusterOptions,
    file: ClusterFile,
    events: NetworkEvents,
    refused: (cause: PeerLogCause) => void,
  ) {
    this.options = options;
    this.events = events;
    this.transport = this.makeTransport(file.incarnation, refused);
    this.formation = this.makeFormation(file);
    this.formation.formed.then(
      (record) => {
        this.transport.setCluster(record.clusterId);
        this.formedAs = Buffer.from(record.clusterId).toString('hex');
        events.emit({ kind: 'formed', record, incarnation: file.incarnation });
      },
      (error: Error & { readonly exitCode?: number }) => {
        if (error instanceof RemovedError) events.emit({ kind: 'removed' });
        else this.fail(error.message, error.exitCode ?? ExitCode.Fatal);
      },
    );
  }

  /** Lets other nodes in. */
  async listen(): Promise<void> {
    const { plainProblem } = this;
    if (plainProblem !== null) this.log('warn', 'nodes_without_tls', plainProblem);
    await this.transport.listen();
  }

  send(to: NodeId, kind: number, payload: Uint8Array, bulk?: boolean): boolean {
    return this.transport.send(to, kind, payload, bulk);
  }

  waiting(to: NodeId, which: 'all' | 'bulk'): number {
    return this.transport.waiting(to, which);
  }

  isUp(node: NodeId): boolean {
    return this.transport.isUp(node);
  }

  setMembers(members: readonly PeerAddress[], gone: readonly NodeId[]): void {
    this.members = members;
    this.transport.setPeers(members, gone);
  }

  invite(host: string, port: number): Promise<string | null> {
    const { name, bind } = this.options;
    const ask = (...args: Parameters<Transport['ask']>): Promise<Buffer> => this.transport.ask(...args);
    return invite(ask, { host, port }, { host: name, port: bind.port });
  }

  renewTls(command: Extract<Command, { kind: 'renew_tls' }>): void {
    if (command.ca !== null) this.transport.renewTls({ ...command, ca: command.ca });
  }

  async close(): Promise<void> {
    this.formation.close();
    await this.transport.close();
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

  /** Why others may read what goes between nodes; null: they can't. */
  get plainProblem(): string | null {
    if (isReadable(this.options)) return READABLE;
    const plain = this.members.map(({ nodeId }) => nodeId).filter((node) => this.transport.isPlain(node));
    if (plain.length === 0) return null;
    const names = plain.map((node) => this.nameOf(node)).join(', ');
    return `what is sent to ${names} can be read on the way: the software there is old, or has peer_tls = off`;
  }

  private makeTransport(incarnation: number, refused: (cause: PeerLogCause) => void): Transport {
    const { options, events } = this;
    const { identity, name, version, bind } = options;
    return new Transport({
      self: { nodeId: identity.nodeId, name, incarnation, host: name, port: bind.port, version },
      bind,
      secret: options.secret,
      tls: options.tls,
      encryption: options.encryption,
      versions: options.protocolVersions,
      heartbeatMs: options.heartbeatMs,
      silenceMs: options.electionTimeoutMs,
      log: ({ cause, address, message }) => this.log('warn', `peer_${cause}`, `${address}: ${message}`),
      onRefused: refused,
      onFrame: events.frame,
      onPeer: (node, state, info) =>
        events.peer(node, state === 'up', { version: info?.version ?? '', protocol: info?.protocol ?? 0 }),
      onLow: events.low,
      onBroke: events.broke,
      onAsk: (question, answer) => this.formation.question(question, answer),
      onRemoved: () => events.emit({ kind: 'removed' }),
      onSuperseded: () =>
        this.fail(
          'a newer process runs with the identity of this node; this one gives way',
          ExitCode.DataDamaged,
        ),
    });
  }

  private makeFormation(file: ClusterFile): Formation {
    const { options, events, transport } = this;
    const { identity, name, bind } = options;
    return form({
      identity,
      name,
      level: options.level,
      address: { host: name, port: bind.port },
      expected: options.expected,
      waitForInvitation: options.waitForInvitation,
      store: file,
      ask: (host, port, question, timeoutMs) => transport.ask(host, port, question, timeoutMs),
      askToJoin: events.askedToJoin,
      log: (level, message) => this.log(level, 'formation', message),
      now: systemClock.now,
      delay: systemClock.after,
      random: Math.random,
    });
  }

  private log(level: 'info' | 'warn' | 'error', event: string, message: string): void {
    this.events.emit({ kind: 'log', level, event, message });
  }

  private fail(message: string, exitCode: number): void {
    this.events.emit({ kind: 'failed', failure: { message, exitCode } });
  }
}

function addressText({ host, port }: PeerAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
