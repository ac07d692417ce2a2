import { backgroundClock, type Clock, pause, systemClock } from '../base/clock.js';
import type { ClusterFile } from '../between/cluster-record.js';
import { storeSecret } from '../between/cluster-secret.js';
import type { Command, NodeId, PeerAddress } from '../between/protocol.js';
import { isLoopback } from '../config/address.js';
import { ExitCode } from '../config/exit-codes.js';
import { type Encryption, isReadable, READABLE } from '../peers/encryption.js';
import { Adoption, type AdoptionSelf, handOver } from '../peers/formation/adoption.js';
import {
  Formation,
  type FormationOptions,
  type InviteAnswer,
  invite,
  RemovedError,
} from '../peers/formation/formation.js';
import type { VersionRange } from '../peers/greeting-format.js';
import type { Payload } from '../peers/links.js';
import { AskError } from '../peers/questions.js';
import type { PeerLogCause } from '../peers/refusal-log.js';
import { Transport, type TransportOptions } from '../peers/transport.js';
import type { InvitedPlace, Network, NetworkEvents } from './network.js';

export interface ClusterOptions
  extends Pick<FormationOptions, 'identity' | 'name' | 'level' | 'expected'>,
    Pick<TransportOptions, 'secret' | 'tls' | 'bind' | 'heartbeatMs'> {
  /** Where other nodes reach this one; default: at its name. */
  readonly host?: string;
  readonly version: string;
  /** Versions of the protocol between nodes. */
  readonly protocolVersions: VersionRange;
  readonly folder: string;
  /** True if an empty node without others waits for a cluster to take it in. */
  readonly waitForInvitation: boolean;
  /**
   * The secret with which an empty node without `secret` waits until a member gives it the cluster's; it may be a weak
   * one. Missing: it does not wait.
   */
  readonly oneTimeSecret?: string;
  /** Where connections are encrypted without certificates. */
  readonly encryption: Encryption;
  readonly electionTimeoutMs: number;
}

/** Time for a node that just got the secret of the cluster to listen with it, in milliseconds. */
const ADOPTED_MS = 2000;
const AGAIN_MS = 50;

/** A one-time secret that is shorter can be tried out by who hears it being used. */
const STRONG_LENGTH = 16;

/**
 * The network of a real node: connections to the other members, and how nodes without a cluster come to one.
 */
export class PeerNetwork implements Network {
  private readonly transport: Transport;
  private readonly formation: Formation;
  /** All members; empty until there is a list. */
  private members: readonly PeerAddress[] = [];
  private formedAs: string | null = null;
  /** The secret of the cluster; null for none. */
  private secret: string | null;
  /** Null when this node does not wait for the secret of its cluster. */
  private adoption: Adoption | null = null;

  /**
   * Begins to find out or agree on which cluster this node belongs to, which `formed` tells.
   *
   * @param refused told of every stranger that was refused
   * @param clock by which signs of life are sent
   * @throws ConfigurationError
   */
  constructor(
    private readonly options: ClusterOptions,
    file: ClusterFile,
    private readonly events: NetworkEvents,
    refused: (cause: PeerLogCause) => void,
    private readonly clock: Clock = systemClock,
  ) {
    this.secret = options.secret;
    this.transport = this.makeTransport(file.incarnation, refused);
    this.formation = this.makeFormation(file);
    if (this.secret === null && options.oneTimeSecret !== undefined && file.load().kind === 'empty') {
      this.adoption = this.makeAdoption(file.incarnation, options.oneTimeSecret, refused);
    }
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
    if (this.adoption === null) await this.transport.listen();
    else await this.waitToBeAdopted(this.adoption);
  }

  send(to: NodeId, kind: number, payload: Payload, bulk?: boolean, sent?: () => void): boolean {
    return this.transport.send(to, kind, payload, bulk, sent);
  }

  waiting(to: NodeId, which: 'all' | 'bulk'): number {
    return this.transport.waiting(to, which);
  }

  isUp(node: NodeId): boolean {
    return this.transport.isUp(node);
  }

  isWell(node: NodeId): boolean {
    return this.transport.isWell(node);
  }

  setMembers(members: readonly PeerAddress[], gone: readonly NodeId[]): void {
    this.members = members;
    this.transport.setPeers(members, gone);
  }

  async invite({ number, ...place }: InvitedPlace, oneTimeSecret: string | null): Promise<InviteAnswer> {
    const ask = (...args: Parameters<Transport['ask']>): Promise<Buffer> => this.transport.ask(...args);
    const member = { host: this.host, port: this.options.bind.port };
    if (oneTimeSecret === null || this.secret === null) return invite(ask, place, member, number);
    const declined = await handOver(place, oneTimeSecret, this.secret, this.selfFor(0));
    if (declined?.isKnown === false) return { problem: declined.problem };
    // It begins to listen with the cluster's secret now. Or it has long done so, and its answer was lost.
    const end = systemClock.now() + (declined === null ? ADOPTED_MS : 0);
    for (;;) {
      try {
        return await invite(ask, place, member, number);
      } catch (error) {
        if (!(error instanceof AskError)) throw error;
        if (declined !== null) return { problem: declined.problem };
        if (systemClock.now() > end) throw error;
      }
      await pause(backgroundClock, AGAIN_MS);
    }
  }

  renewTls(command: Extract<Command, { kind: 'renew_tls' }>): void {
    if (command.ca !== null) this.transport.renewTls({ ...command, ca: command.ca });
  }

  async close(): Promise<void> {
    this.formation.close();
    await this.adoption?.close();
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
    if (isReadable({ ...this.options, secret: this.secret })) return READABLE;
    const plain = this.members.map(({ nodeId }) => nodeId).filter((node) => this.transport.isPlain(node));
    if (plain.length === 0) return null;
    const names = plain.map((node) => this.nameOf(node)).join(', ');
    return `what is sent to ${names} can be read on the way: the software there is old, or has peer_tls = off`;
  }

  private makeTransport(incarnation: number, refused: (cause: PeerLogCause) => void): Transport {
    const { options, events } = this;
    return new Transport({
      ...this.selfFor(incarnation),
      secret: options.secret,
      tls: options.tls,
      encryption: options.encryption,
      versions: options.protocolVersions,
      heartbeatMs: options.heartbeatMs,
      silenceMs: options.electionTimeoutMs,
      every: this.clock.every,
      onRefused: refused,
      onFrame: events.frame,
      onPeer: (node, state, version) => events.peer(node, state === 'up', version),
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

  private get host(): string {
    return this.options.host ?? this.options.name;
  }

  private selfFor(incarnation: number): AdoptionSelf {
    const { identity, name, version, bind } = this.options;
    const { host } = this;
    return {
      self: { nodeId: identity.nodeId, name, incarnation, host, port: bind.port, version },
      bind,
      log: ({ cause, address, message }) => this.log('warn', `peer_${cause}`, `${address}: ${message}`),
    };
  }

  private makeAdoption(
    incarnation: number,
    secret: string,
    refused: (cause: PeerLogCause) => void,
  ): Adoption {
    return new Adoption({
      ...this.selfFor(incarnation),
      secret,
      onRefused: refused,
      adopt: (clusterSecret) => this.adopt(clusterSecret),
      invited: (question, answer) => this.formation.question(question, answer),
    });
  }

  private async waitToBeAdopted(adoption: Adoption): Promise<void> {
    const { bind, oneTimeSecret = '' } = this.options;
    await adoption.listen();
    this.log(
      'info',
      'waits_for_new_node',
      `this node is empty, and waits on port ${bind.port} for new_node() with its secret`,
    );
    if (oneTimeSecret.length >= STRONG_LENGTH || isLoopback(bind.address)) return;
    this.log(
      'warn',
      'weak_secret',
      `the secret that this node waits with has less than ${STRONG_LENGTH} characters: who guesses it can take the node, or what it is told; use a longer one beyond this machine`,
    );
  }

  /** Takes the secret of the cluster. The port is its transport's from now on. */
  private adopt(secret: string): void {
    storeSecret(this.options.folder, secret);
    this.secret = secret;
    this.transport.setSecret(secret);
    // The answer goes out first.
    setImmediate(() => {
      void this.adoption?.close();
      this.adoption = null;
      this.transport.listen().catch((error: Error & { readonly exitCode?: number }) => {
        this.fail(error.message, error.exitCode ?? ExitCode.Fatal);
      });
    });
  }

  private makeFormation(file: ClusterFile): Formation {
    const { options, events, transport } = this;
    const { identity, name, bind } = options;
    const { host } = this;
    return new Formation({
      identity,
      name,
      level: options.level,
      address: { host, port: bind.port },
      expected: options.expected,
      waitForInvitation: options.waitForInvitation || options.oneTimeSecret !== undefined,
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
