import type { Message } from 'raft-ts';
import { CodecError } from 'raft-ts';
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
  /** Bytes came that are no frame of a known kind. */
  readonly malformed: (from: NodeId, problem: string) => void;
}

/** Calls and returns of this size yield to shorter ones, and to Raft. */
const BULK_BYTES = 64 * 1024;

/** Between the transport and the rest of the consensus side: what the frames mean. */
export class Links {
  private readonly options: LinksOptions;
  private readonly frames = new RaftFrames();
  private planned = false;
  /** Whom a call went to that is not answered yet. */
  private readonly calls = new Map<number, NodeId>();
  /** How many groups each of the other nodes leads. */
  readonly leading = new Map<NodeId, number>();

  constructor(options: LinksOptions) {
    this.options = options;
  }

  /** Messages of one turn of the event loop go out together. */
  transmit(group: GroupId, messages: readonly Message[]): void {
    this.frames.add(group, messages);
    if (this.planned) return;
    this.planned = true;
    queueMicrotask(() => {
      this.planned = false;
      this.frames.take((to, frame) => this.options.sender.send(to, FrameKind.RAFT, frame));
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
    for (const node of peers) this.options.sender.send(node, FrameKind.LOAD, payload);
  }

  peerDown(node: NodeId): void {
    this.leading.delete(node);
    for (const [id, to] of this.calls) {
      if (to !== node) continue;
      this.calls.delete(id);
      this.options.emit({ kind: 'returned', id, payload: null });
    }
  }

  frame(from: NodeId, kind: number, payload: Uint8Array): void {
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
      default:
        this.options.malformed(from, `a frame of the unknown kind ${kind}`);
    }
  }

  private sendNumbered(to: NodeId, kind: number, id: number, payload: Uint8Array): boolean {
    return this.options.sender.send(to, kind, encodeNumbered(id, payload), payload.length >= BULK_BYTES);
  }
}
