/**
 * Everything that goes from node to node. How it is used, in the consensus thread:
 *
 *   const transport = new Transport(options);
 *   await transport.listen();                      // before it only this node asks others
 *   await transport.ask(host, port, question, ms); // one-shot, for nodes that are in no cluster yet
 *   transport.setCluster(record.clusterId);        // from now on members connect
 *   transport.setPeers(peers, removedIds);         // whenever it changes; this node itself may be among them
 *   transport.send(node, kind, payload, bulk);     // kinds 1 to 239 are the users'
 *   await transport.close();                       // sends what waits
 *
 * Each node dials every other member and sends on the connections that it has dialled; the handshake is in
 * greeting.ts, the frames in frame.ts, what is up and down in peer.ts. A member that dials this node before
 * this node knows of it is dialled back where it says that it is, so that a node that has just joined can
 * answer its leader.
 *
 * Frames may be lost whenever a peer goes down, and also when `onBroke` tells so; else they arrive once and
 * in order (bulk among bulk, others among others). `self.incarnation` must be higher at each start: see
 * cluster-record.ts.
 */
import { performance } from 'node:perf_hooks';
import { type Clock, systemClock } from '../base/clock.js';
import { PROTOCOL_VERSIONS } from '../between/peer-protocol.js';
import type { NetworkAddress, PeerAddress } from '../between/protocol.js';
import type { Channel } from './channel.js';
import { addressOf, type Credentials, type dial, type PeerTls } from './dial.js';
import type { Encryption } from './encryption.js';
import { type Greeted, keyOf } from './greeting.js';
import { type PeerIdentity, type Prove, Purpose, Refusal, type VersionRange } from './greeting-format.js';
import { PeerListener } from './listener.js';
import { type Missed, missText } from './missed.js';
import type { OutboxLimits } from './outbox.js';
import { Peer, type PeerOwner } from './peer.js';
import { Questions } from './questions.js';
import { type PeerLogCause, type PeerLogEvent, RefusalLog } from './refusal-log.js';
import { signsOfLife } from './signs-of-life.js';

export interface TransportOptions {
  readonly self: {
    readonly nodeId: number;
    readonly name: string;
    /** Higher at each start. */
    readonly incarnation: number;
    /** Where others reach this node. Port 0: the one that is listened on. */
    readonly host: string;
    readonly port: number;
    /** The version of the software. */
    readonly version: string;
  };
  readonly bind: { readonly address: string; readonly port: number };
  /** Null: a node alone; nothing listens, nothing is dialled. */
  readonly secret: string | null;
  /** Certificates for mutual TLS; null for none. */
  readonly tls: PeerTls | null;
  /** Where connections are encrypted with the secret, without certificates; default: beyond loopback. */
  readonly encryption?: Encryption;
  /** Time between two looks at whether a peer lives, and whether it needs a sign of life, in milliseconds. */
  readonly heartbeatMs: number;
  /** Silence after which a peer is down, in milliseconds. */
  readonly silenceMs: number;
  /** The clock of the signs of life; default: a timer. */
  readonly every?: Clock['every'];
  /** At most once a minute for each cause and address. */
  readonly log: (event: PeerLogEvent) => void;
  /** Called for every stranger that was refused, for counting. */
  readonly onRefused?: (cause: PeerLogCause) => void;
  /** The payload may be a view of a larger buffer; it does not change. */
  readonly onFrame: (from: number, kind: number, payload: Buffer) => void;
  /** @param version of its software; empty while it is not known */
  readonly onPeer: (node: number, state: 'up' | 'down', version: string) => void;
  /**
   * A connection broke and was made again: frames to that node or from it may be lost, although it stayed up.
   */
  readonly onBroke?: (node: number) => void;
  /** Something was sent to that node, and little waits to be. */
  readonly onLow?: (node: number) => void;
  /** A question of a node that need not be a member. It is to be answered once; it need not be. */
  readonly onAsk: (question: Buffer, answer: (reply: Uint8Array) => void) => void;
  /** A member says that this node was removed from the cluster. */
  readonly onRemoved: () => void;
  /** A newer process has the id of this node. */
  readonly onSuperseded: () => void;
  /** Given by tests; default: those that this version speaks. */
  readonly versions?: VersionRange;
  /** Given by tests. */
  readonly limits?: Partial<TransportLimits>;
  readonly random?: () => number;
}

export interface TransportLimits extends OutboxLimits {
  readonly connectMs: number;
  readonly greetingMs: number;
}

/** Bytes of bulk that may wait for a node: entries as long as there is room for them, and the snapshots that are sent at once. */
export const BULK_BYTES_MAX: number = 12 * 1024 * 1024;

const LIMITS: TransportLimits = {
  urgentBytesMax: 64 * 1024 * 1024,
  bulkBytesMax: BULK_BYTES_MAX,
  connectMs: 1000,
  greetingMs: 5000,
};

/** Nodes that are dialled back without being known. */
const GUESTS_MAX = 64;

export class Transport {
  private readonly limits: TransportLimits;
  private readonly refusals: RefusalLog;
  private readonly listener: PeerListener;
  private readonly owner: PeerOwner;
  private key: Buffer | null;
  private readonly peers = new Map<number, Peer>();
  /** Peers that dialled this node before it knew of them. */
  private readonly guests = new Set<number>();
  private removed: ReadonlySet<number> = new Set();
  private readonly questions: Questions;
  private tls: PeerTls | null;
  private clusterId: Uint8Array | null = null;
  private boundPort = 0;
  /** Ends the signs of life; null before they begin. */
  private stopBeats: (() => void) | null = null;
  private lastBeat = 0;
  private closed = false;

  constructor(private readonly options: TransportOptions) {
    this.limits = { ...LIMITS, ...options.limits };
    this.tls = options.tls;
    this.key = options.secret === null ? null : keyOf(options.secret);
    this.refusals = new RefusalLog(options.log, () => performance.now());
    this.listener = new PeerListener({
      credentials: () => this.credentials(),
      judge: (prove) => this.judge(prove),
      accept: (channel, greeted) => this.accept(channel, greeted),
      note: (cause, address, message) => this.note(cause, address, message),
      greetingMs: this.limits.greetingMs,
    });
    this.owner = this.makeOwner();
    this.questions = new Questions({
      request: (place, purpose) => (this.key === null || this.closed ? null : this.request(place, purpose)),
      missed: (place, outcome) => this.noteMissed(place, outcome),
      onAsk: options.onAsk,
    });
  }

  /**
   * Begins to listen; resolves with the port (0 without a secret: then nothing listens).
   *
   * @throws ConfigurationError when the port is in use
   */
  async listen(): Promise<number> {
    if (this.key === null) return 0;
    const { address, port } = this.options.bind;
    this.boundPort = await this.listener.listen(address, port);
    return this.boundPort;
  }

  /** Takes the secret of the cluster, of a node that had none. To be called before `listen`. */
  setSecret(secret: string): void {
    this.key = keyOf(secret);
  }

  /** The node has peers from now on. */
  setCluster(clusterId: Uint8Array): void {
    this.clusterId = clusterId;
    if (this.key === null || this.stopBeats !== null) return;
    const { heartbeatMs, every = systemClock.every } = this.options;
    this.lastBeat = performance.now();
    this.stopBeats = every(heartbeatMs, () => this.beat());
  }

  /** Says who is to be dialled; this node itself is left out. Who was removed is told so when it dials. */
  setPeers(peers: readonly PeerAddress[], removed: readonly number[]): void {
    this.removed = new Set(removed);
    if (this.key === null || this.clusterId === null || this.closed) return;
    const wanted = peers.filter(
      ({ nodeId }) => nodeId !== this.options.self.nodeId && !this.removed.has(nodeId),
    );
    const ids = new Set(wanted.map(({ nodeId }) => nodeId));
    for (const nodeId of [...this.peers.keys()]) {
      if (!ids.has(nodeId) && (!this.guests.has(nodeId) || this.removed.has(nodeId))) this.forget(nodeId);
    }
    for (const { nodeId, host, port } of wanted) {
      this.guests.delete(nodeId);
      const peer = this.peers.get(nodeId);
      if (peer === undefined) this.peers.set(nodeId, new Peer(nodeId, { host, port }, this.owner));
      else peer.moveTo({ host, port });
    }
  }

  /**
   * Sends a frame; payloads must not change afterwards.
   *
   * @param bulk large things that others should not wait for
   * @returns false: not connected, or too much waits already
   */
  send(
    to: number,
    kind: number,
    payload: Uint8Array | readonly Uint8Array[],
    bulk = false,
    sent?: () => void,
  ): boolean {
    const parts = payload instanceof Uint8Array ? [payload] : payload;
    return this.peers.get(to)?.send(kind, parts, bulk, sent) ?? false;
  }

  /**
   * Asks any node that has the same secret, in a cluster or not.
   *
   * @throws AskError
   */
  ask(host: string, port: number, question: Uint8Array, timeoutMs: number): Promise<Buffer> {
    return this.questions.ask(host, port, question, timeoutMs);
  }

  /** Bytes that wait to be sent to a node: all, or those of bulk. */
  waiting(to: number, which: 'all' | 'bulk'): number {
    return this.peers.get(to)?.waiting(which) ?? 0;
  }

  /** True if what is sent to a node goes over a network in plain. */
  isPlain(node: number): boolean {
    return this.peers.get(node)?.isPlain ?? false;
  }

  isUp(node: number): boolean {
    return this.peers.get(node)?.isUp ?? false;
  }

  /** True if a node is up, and every sign of life that was due of it has come. */
  isWell(node: number): boolean {
    return this.peers.get(node)?.isWell ?? false;
  }

  /** When a node was last heard, in monotonic milliseconds (`performance.now()`); 0 for never. */
  lastHeard(node: number): number {
    return this.peers.get(node)?.lastHeard ?? 0;
  }

  /** The identity that a peer last told. */
  identityOf(node: number): PeerIdentity | null {
    return this.peers.get(node)?.identity ?? null;
  }

  /** Takes other certificates for connections to come. */
  renewTls(tls: PeerTls): void {
    if (this.tls === null) return;
    this.tls = tls;
    this.listener.renewTls(tls);
  }

  /** Sends what waits and closes everything. No callback is called any more. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.stopBeats?.();
    const closed = this.listener.close();
    this.questions.close();
    for (const peer of this.peers.values()) peer.close();
    this.peers.clear();
    await closed;
  }

  private makeOwner(): PeerOwner {
    const { options, limits } = this;
    return {
      credentials: () => this.credentials(),
      now: () => performance.now(),
      random: options.random ?? Math.random,
      silenceMs: options.silenceMs,
      ...signsOfLife(options.silenceMs, options.heartbeatMs),
      connectMs: limits.connectMs,
      greetingMs: limits.greetingMs,
      limits,
      confirm: (peer, place, identity) => this.confirm(peer, place, identity),
      missed: (_peer, place, outcome) => this.missed(place, outcome),
      frame: (peer, kind, payload) => {
        if (!this.closed) options.onFrame(peer.nodeId, kind, payload);
      },
      changed: (peer, up) => this.changed(peer, up),
      unreadable: (peer, address, error) => {
        const name = peer.identity?.name ?? peer.nodeId;
        this.note('damaged', address, `what came from the node "${name}" can not be read: ${error.message}`);
      },
      low: (peer) => options.onLow?.(peer.nodeId),
      broke: (peer) => options.onBroke?.(peer.nodeId),
    };
  }

  private credentials(): Credentials {
    const { self, versions } = this.options;
    if (this.key === null) throw new Error('a node without a secret talks to nobody');
    return {
      key: this.key,
      tls: this.tls,
      encryption: this.options.encryption ?? 'auto',
      versions: versions ?? PROTOCOL_VERSIONS,
      identity: {
        nodeId: self.nodeId,
        incarnation: self.incarnation,
        clusterId: this.clusterId,
        name: self.name,
        host: self.host,
        port: self.port === 0 ? this.boundPort : self.port,
        version: self.version,
      },
    };
  }

  private request(place: NetworkAddress, purpose: Purpose): Parameters<typeof dial>[0] {
    const { connectMs, greetingMs } = this.limits;
    return { ...place, purpose, credentials: this.credentials(), connectMs, greetingMs };
  }

  /** The refusal of a node that dials and has proved the secret; null where it may come in. */
  private judge({ purpose, identity }: Prove): Refusal | null {
    const { self } = this.options;
    if (this.closed) return Refusal.Busy;
    if (purpose === Purpose.Ask) return this.questions.isFull ? Refusal.Busy : null;
    if (identity.nodeId === self.nodeId) {
      if (identity.incarnation > self.incarnation) this.options.onSuperseded();
      return identity.incarnation < self.incarnation ? Refusal.Superseded : Refusal.Self;
    }
    if (this.clusterId === null) return Refusal.NoCluster;
    if (!isSame(identity.clusterId, this.clusterId)) return Refusal.OtherCluster;
    if (this.removed.has(identity.nodeId)) return Refusal.Removed;
    const peer = this.peers.get(identity.nodeId);
    if (peer === undefined) return this.guests.size >= GUESTS_MAX ? Refusal.Busy : null;
    return identity.incarnation < peer.incarnation ? Refusal.Superseded : null;
  }

  private accept(channel: Channel, { purpose, identity }: Greeted): void {
    if (purpose === Purpose.Ask) {
      this.questions.take(channel);
      return;
    }
    const { nodeId, host, port } = identity;
    let peer = this.peers.get(nodeId);
    if (peer === undefined) {
      this.guests.add(nodeId);
      peer = new Peer(nodeId, { host, port }, this.owner);
      this.peers.set(nodeId, peer);
    }
    peer.accept(channel, identity);
  }

  /** True if the node that answered at the place of a peer is that peer. */
  private confirm(peer: Peer, place: NetworkAddress, identity: PeerIdentity): boolean {
    if (identity.nodeId !== peer.nodeId) {
      const expected = peer.identity === null ? 'another one' : `"${peer.identity.name}"`;
      this.note(
        'wrong_node',
        addressOf(place.host, place.port),
        `"${identity.name}" answers where ${expected} should`,
      );
      return false;
    }
    if (!isSame(identity.clusterId, this.clusterId)) {
      // A node that is about to join knows of no cluster yet.
      if (identity.clusterId === null) return false;
      this.note(
        'other_cluster',
        addressOf(place.host, place.port),
        `"${identity.name}" belongs to another cluster`,
      );
      return false;
    }
    return identity.incarnation >= peer.incarnation;
  }

  private missed(place: NetworkAddress, outcome: Missed): void {
    this.noteMissed(place, outcome);
    if (outcome.kind !== 'refused' || outcome.refused.identity === null) return;
    if (!isSame(outcome.refused.identity.clusterId, this.clusterId)) return;
    if (outcome.refused.code === Refusal.Removed) this.options.onRemoved();
    if (outcome.refused.code === Refusal.Superseded) this.options.onSuperseded();
  }

  private noteMissed(place: NetworkAddress, outcome: Missed): void {
    const missed = missText(outcome);
    if (missed.cause !== null) this.note(missed.cause, addressOf(place.host, place.port), missed.message);
  }

  private note(cause: PeerLogCause, address: string, message: string): void {
    if (this.closed) return;
    this.options.onRefused?.(cause);
    this.refusals.note(cause, address, message);
  }

  private changed(peer: Peer, up: boolean): void {
    if (this.closed) return;
    this.options.onPeer(peer.nodeId, up ? 'up' : 'down', peer.identity?.version ?? '');
  }

  private forget(nodeId: number): void {
    const peer = this.peers.get(nodeId);
    if (peer === undefined) return;
    const wasUp = peer.isUp;
    peer.close();
    this.peers.delete(nodeId);
    this.guests.delete(nodeId);
    if (wasUp) this.changed(peer, false);
  }

  /** If this thread was halted, what others sent meanwhile is not read yet: they were not silent. */
  private beat(): void {
    const now = performance.now();
    const late = now - this.lastBeat - this.options.heartbeatMs;
    const beats = Math.max(1, Math.round((now - this.lastBeat) / this.options.heartbeatMs));
    this.lastBeat = now;
    for (const [nodeId, peer] of this.peers) {
      if (late > this.options.silenceMs / 2) peer.forgive(late);
      peer.beat(beats);
      if (this.guests.has(nodeId) && !peer.isHeard) this.forget(nodeId);
    }
  }
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a !== null && b !== null && Buffer.compare(a, b) === 0;
}
