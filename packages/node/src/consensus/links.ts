import type { Message } from 'raft-ts';
import { CodecError } from 'raft-ts';
import { NumberTable } from '../number-table.js';
import { decodeNumbered, encodeNumbered, FrameKind, RaftFrames, readRaftFrame } from './frames.js';
import type { Command, Event, GroupId, NodeId } from './protocol.js';

/** What links need of the transport. */
export interface Sender {
  /** False when the node can't be reached or too much waits for it. */
  send(to: NodeId, kind: number, payload: Uint8Array, bulk?: boolean): boolean;
}

export interface LinksOptions {
  readonly sender: Sender;
  readonly emit: (event: Event) => void;
  /** A message for a group of this node. */
  readonly receive: (group: GroupId, message: Message) => void;
  /** A clock in milliseconds; without one no ways are measured. */
  readonly now?: () => number;
  /** Bytes came that are no frame of a known kind. */
  readonly malformed: (from: NodeId, problem: string) => void;
}

/** Calls and returns of this size yield to shorter ones, and to Raft. */
const BULK_BYTES = 64 * 1024;

/** What goes between this node and another one. */
export interface Traffic {
  /** Bytes of frames. */
  sent: number;
  received: number;
  /** The last that was measured, in milliseconds; null before. */
  roundTripMs: number | null;
}

/** Between the transport and the rest of the consensus side: what the frames mean. */
export class Links {
  private readonly options: LinksOptions;
  private readonly frames = new RaftFrames();
  private planned = false;
  /** Whom a call went to that is not answered yet. */
  private readonly calls = new NumberTable<NodeId>();
  /** How many groups each of the other nodes leads. */
  readonly leading = new Map<NodeId, number>();
  readonly traffic = new Map<NodeId, Traffic>();
  private readonly pings = new Map<NodeId, { readonly id: number; readonly at: number }>();
  private nextPing = 1;

  constructor(options: LinksOptions) {
    this.options = options;
  }

  /** Messages of one callback of the event loop go out together. */
  transmit(group: GroupId, messages: readonly Message[]): void {
    this.frames.add(group, messages);
    if (this.planned) return;
    this.planned = true;
    queueMicrotask(() => {
      this.planned = false;
      this.frames.take((to, frame) => this.send(to, FrameKind.RAFT, frame));
    });
  }

  call({ to, id, payload }: Extract<Command, { kind: 'call' }>): void {
    if (this.sendNumbered(to, FrameKind.CALL, id, payload)) this.calls.set(id, to);
    else this.options.emit({ kind: 'returned', id, payload: null });
  }

  return({ to, id, payload }: Extract<Command, { kind: 'return' }>): void {
    this.sendNumbered(to, FrameKind.RETURN, id, payload);
  }

  /** Tells the others how many groups this node leads. */
  tellLoad(peers: readonly NodeId[], leading: number): void {
    const payload = encodeNumbered(leading, new Uint8Array(0));
    for (const node of peers) this.send(node, FrameKind.LOAD, payload);
  }

  /** Measures the way to others and back. */
  ping(peers: readonly NodeId[]): void {
    const { now } = this.options;
    if (now === undefined) return;
    const id = this.nextPing++;
    const payload = encodeNumbered(id, new Uint8Array(0));
    for (const node of peers) {
      if (this.send(node, FrameKind.PING, payload)) this.pings.set(node, { id, at: now() });
    }
  }

  peerDown(node: NodeId): void {
    this.pings.delete(node);
    this.leading.delete(node);
    for (const [id, to] of this.calls.entries()) {
      if (to !== node) continue;
      this.calls.delete(id);
      this.options.emit({ kind: 'returned', id, payload: null });
    }
  }

  frame(from: NodeId, kind: number, payload: Uint8Array): void {
    this.trafficOf(from).received += payload.length;
    try {
      this.take(from, kind, payload);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      this.options.malformed(from, error.message);
    }
  }

  private take(from: NodeId, kind: number, payload: Uint8Array): void {
    switch (kind) {
      case FrameKind.RAFT:
        readRaftFrame(payload, (group, message) => {
          if (message.from === from) this.options.receive(group, message);
          else this.options.malformed(from, 'a message in the name of another node');
        });
        return;
      case FrameKind.CALL:
        this.options.emit({ kind: 'called', from, ...decodeNumbered(payload) });
        return;
      case FrameKind.RETURN: {
        const { id, payload: answer } = decodeNumbered(payload);
        if (this.calls.get(id) !== from) return;
        this.calls.delete(id);
        this.options.emit({ kind: 'returned', id, payload: answer });
        return;
      }
      case FrameKind.LOAD:
        this.leading.set(from, decodeNumbered(payload).id);
        return;
      case FrameKind.PING:
        this.sendNumbered(from, FrameKind.PONG, decodeNumbered(payload).id, new Uint8Array(0));
        return;
      case FrameKind.PONG: {
        const ping = this.pings.get(from);
        const { now } = this.options;
        if (!ping || !now || ping.id !== decodeNumbered(payload).id) return;
        this.pings.delete(from);
        this.trafficOf(from).roundTripMs = now() - ping.at;
        return;
      }
      default:
        this.options.malformed(from, `a frame of the unknown kind ${kind}`);
    }
  }

  private sendNumbered(to: NodeId, kind: number, id: number, payload: Uint8Array): boolean {
    return this.send(to, kind, encodeNumbered(id, payload), payload.length >= BULK_BYTES);
  }

  private send(to: NodeId, kind: number, payload: Uint8Array, bulk = false): boolean {
    const sent = this.options.sender.send(to, kind, payload, bulk);
    if (sent) this.trafficOf(to).sent += payload.length;
    return sent;
  }

  private trafficOf(node: NodeId): Traffic {
    let traffic = this.traffic.get(node);
    if (traffic === undefined) {
      traffic = { sent: 0, received: 0, roundTripMs: null };
      this.traffic.set(node, traffic);
    }
    return traffic;
  }
}
