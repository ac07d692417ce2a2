/** The connections of a simulated node: others are up as long as their process is heard now and then. */

import {
  FrameKind,
  type InviteAnswer,
  type InvitedPlace,
  type JoinAnswer,
  type Joiner,
  type Network,
  type NetworkEvents,
  type NodeId,
  type PeerAddress,
} from '@althing/node/parts';
import { isCutInTime, type LinkQuality, SendingLine } from './sending-line.js';
import type { Thread } from './thread.js';

/** A message between nodes. */
export interface Frame {
  readonly kind: number;
  readonly payload: Uint8Array;
}

export interface ConnectionsOptions {
  readonly nodeId: NodeId;
  readonly thread: Thread;
  readonly now: () => number;
  readonly quality: LinkQuality;
  /** Time between two looks at who is heard, and after which a node counts as down, in milliseconds. */
  readonly lookMs: number;
  readonly silenceMs: number;
  readonly send: (to: NodeId, frame: Frame) => void;
  readonly nodes: () => readonly NodeId[];
  /** The start of another node that can be heard now; null for none. */
  readonly heard: (from: NodeId) => number | null;
  /** Calls a node outside of the cluster. */
  readonly invite: (place: InvitedPlace) => Promise<InviteAnswer>;
  readonly onReached: (place: string) => void;
  readonly onFailure: (what: string, error: unknown) => void;
}

interface Peer {
  /** The start of it that is known; null while it counts as down. */
  start: number | null;
  heardAt: number;
}

export class Connections implements Network {
  private readonly peers = new Map<NodeId, Peer>();
  private readonly lines = new Map<NodeId, SendingLine>();
  private removed: readonly NodeId[] = [];

  constructor(
    private readonly options: ConnectionsOptions,
    private readonly events: NetworkEvents,
  ) {
    options.thread.every(options.lookMs, () => this.watchPeers());
  }

  isUp(node: NodeId): boolean {
    return this.peers.get(node)?.start != null;
  }

  isWell(node: NodeId): boolean {
    const { now, lookMs } = this.options;
    const peer = this.peers.get(node);
    return peer?.start != null && now() - peer.heardAt <= 3 * lookMs;
  }

  waiting(to: NodeId): number {
    return this.lines.get(to)?.waitingBytes ?? 0;
  }

  send(to: NodeId, kind: number, parts: Uint8Array | readonly Uint8Array[], bulk = false): boolean {
    const { quality, send, onFailure } = this.options;
    if (!this.isUp(to)) return false;
    const payload = parts instanceof Uint8Array ? parts : Buffer.concat(parts);
    const frame = { kind, payload };
    if (kind === FrameKind.RAFT && !isCutInTime(payload, quality)) {
      onFailure('the outbox', new Error(`a frame of ${payload.length} bytes was not cut`));
    }
    if (kind === FrameKind.RAFT && bulk) return this.sendBulk(to, frame);
    send(to, frame);
    return true;
  }

  /** The world decides which nodes are connected. */
  setMembers(_members: readonly PeerAddress[], gone: readonly NodeId[]): void {
    this.removed = gone;
  }

  /** The nodes that this one tells that they were removed. */
  get gone(): readonly NodeId[] {
    return this.removed;
  }

  invite(place: InvitedPlace): Promise<InviteAnswer> {
    return this.options.invite(place);
  }

  renewTls(): void {}

  async close(): Promise<void> {}

  /** A frame of another node came. */
  receive(from: NodeId, { kind, payload }: Frame): void {
    this.events.frame(from, kind, payload);
  }

  /** A node outside of the cluster asks to be taken in. */
  askToJoin(joiner: Joiner): Promise<JoinAnswer> {
    return this.events.askedToJoin(joiner);
  }

  /** The connection to another node broke. */
  disconnect(node: NodeId): void {
    const peer = this.peers.get(node);
    if (peer === undefined || peer.start === null) return;
    peer.start = null;
    this.events.peer(node, false, '');
  }

  private sendBulk(to: NodeId, frame: Frame): boolean {
    const { quality, thread, now, send, onReached } = this.options;
    let line = this.lines.get(to);
    if (line === undefined) {
      line = new SendingLine(quality, thread, () => this.events.low(to));
      this.lines.set(to, line);
    }
    const isTaken = line.push(frame.payload.length, now(), () => send(to, frame));
    if (!isTaken) onReached('an outbox refuses a frame');
    return isTaken;
  }

  private watchPeers(): void {
    const { nodeId, now, silenceMs, nodes, heard, events } = { ...this.options, events: this.events };
    for (const node of nodes()) {
      if (node === nodeId) continue;
      let peer = this.peers.get(node);
      if (peer === undefined) {
        peer = { start: null, heardAt: Number.NEGATIVE_INFINITY };
        this.peers.set(node, peer);
      }
      const start = heard(node);
      if (start !== null) {
        if (peer.start !== null && peer.start !== start) this.disconnect(node);
        const isNews = peer.start === null;
        peer.start = start;
        peer.heardAt = now();
        if (isNews) events.peer(node, true, '');
      } else if (peer.start !== null && now() - peer.heardAt >= silenceMs) {
        this.disconnect(node);
      }
    }
    for (const node of this.peers.keys()) {
      if (nodes().includes(node)) continue;
      this.disconnect(node);
      this.peers.delete(node);
    }
  }
}
