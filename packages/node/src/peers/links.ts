import type { Message } from 'raft-ts';
import { CodecError } from 'raft-ts';
import { NumberTable } from '../base/number-table.js';
import type { Command, Event, GroupId, NodeId } from '../between/protocol.js';
import {
  decodeNumbered,
  encodeNumbered,
  FrameKind,
  type FrameSizes,
  type RaftFrame,
  RaftFrames,
  readNumberedFrame,
  readRaftFrame,
} from './frames.js';
import { NumberedBatches } from './numbered-batch.js';

/** The content of a frame, in one piece or in several. */
export type Payload = Uint8Array | readonly Uint8Array[];

/** The transport, as links need it. */
export interface Sender {
  /**
   * False when the node can't be reached or too much waits for it.
   *
   * @param sent is called when the last byte of a bulk frame has left, and the payload is not needed any more; never, where it may not
   *   have left
   */
  send(to: NodeId, kind: number, payload: Payload, bulk?: boolean, sent?: () => void): boolean;
  /** Bytes that wait to be sent to a node: all, or those of bulk. */
  waiting(to: NodeId, which: 'all' | 'bulk'): number;
}

export interface LinksOptions {
  readonly sender: Sender;
  readonly emit: (event: Event) => void;
  readonly receive: (group: GroupId, message: Message) => void;
  /** Entries of a group could not be sent to a node. */
  readonly unsent: (group: GroupId, to: NodeId) => void;
  /** There is room for entries of a group again, which `hasRoom` had denied. */
  readonly room: (group: GroupId, to: NodeId) => void;
  readonly sizes?: LinkSizes;
  /** A clock in milliseconds; without one no ways are measured. */
  readonly now?: () => number;
  /** Bytes came that are no frame of a known kind. */
  readonly malformed: (from: NodeId, problem: string) => void;
}

export interface LinkSizes extends FrameSizes {
  /** Bytes that may wait for a node before there is no room for more entries. */
  readonly roomBytes: number;
}

/** There is room for a third of what the transport takes as bulk, so that calls find some, too. */
export const LINK_SIZES: LinkSizes = {
  frameBytes: 1024 * 1024,
  bulkBytes: 64 * 1024,
  roomBytes: 4 * 1024 * 1024,
};

/** The traffic between this node and another one. */
export interface Traffic {
  /** Bytes of frames. */
  sent: number;
  received: number;
  /** The last that was measured, in milliseconds; null before. */
  roundTripMs: number | null;
}

/** Between the transport and the rest of the consensus side: what the frames mean. */
export class Links {
  private readonly frames: RaftFrames;
  private readonly sizes: LinkSizes;
  private planned = false;
  /** Groups that were told that there is no room for a node, the first of them first. */
  private readonly held = new Map<NodeId, Set<GroupId>>();
  /** The receivers of calls that are not answered yet. */
  private readonly calls = new NumberTable<NodeId>();
  /** The number of groups that each of the other nodes leads. */
  readonly leading = new Map<NodeId, number>();
  readonly traffic = new Map<NodeId, Traffic>();
  private readonly shortCalls: NumberedBatches;
  private readonly shortReturns: NumberedBatches;
  private readonly pings = new Map<NodeId, { readonly id: number; readonly at: number }>();
  private nextPing = 1;

  constructor(private readonly options: LinksOptions) {
    const { sender, sizes = LINK_SIZES } = options;
    this.sizes = sizes;
    this.frames = new RaftFrames(sizes, (to) => sender.waiting(to, 'bulk') > 0);
    this.shortCalls = new NumberedBatches(sizes.frameBytes, (to, frame, ids) => {
      if (!this.send(to, FrameKind.CALLS, frame)) for (const id of ids) this.unreached(id);
    });
    this.shortReturns = new NumberedBatches(sizes.frameBytes, (to, frame) => {
      this.send(to, FrameKind.RETURNS, frame);
    });
  }

  /** Messages of one callback of the event loop go out together. */
  transmit(group: GroupId, messages: readonly Message[]): void {
    this.frames.add(group, messages);
    this.planFlush();
  }

  /**
   * True if entries of a group may be handed over for a node now. Otherwise far more than the way takes would
   * be read from the log, sent in vain, and read again: a node that comes back may lack something of each of
   * many groups.
   */
  hasRoom(group: GroupId, to: NodeId): boolean {
    if (this.frames.bytesFor(to) + this.options.sender.waiting(to, 'all') < this.sizes.roomBytes) return true;
    let groups = this.held.get(to);
    if (groups === undefined) {
      groups = new Set();
      this.held.set(to, groups);
    }
    groups.add(group);
    return false;
  }

  /**
   * Little waits for a node any more: the groups that were held have their turn, those first that have waited
   * longest.
   */
  roomFor(to: NodeId): void {
    const groups = this.held.get(to);
    if (groups === undefined) return;
    this.held.delete(to);
    for (const group of groups) this.options.room(group, to);
  }

  call({ to, id, payload, rest }: Extract<Command, { kind: 'call' }>): void {
    this.calls.set(id, to);
    if (rest === undefined && this.travelsWithOthers(payload)) {
      this.shortCalls.add(to, id, payload);
      this.planFlush();
    } else if (!this.sendNumbered(to, FrameKind.CALL, id, payload, rest)) {
      this.unreached(id);
    }
  }

  return({ to, id, payload }: Extract<Command, { kind: 'return' }>): void {
    if (this.travelsWithOthers(payload)) {
      this.shortReturns.add(to, id, payload);
      this.planFlush();
    } else {
      this.sendNumbered(to, FrameKind.RETURN, id, payload);
    }
  }

  private travelsWithOthers(payload: Uint8Array): boolean {
    return payload.length < this.sizes.bulkBytes;
  }

  /** A call could not be sent, or will not be answered any more. */
  private unreached(id: number): void {
    if (this.calls.delete(id)) this.options.emit({ kind: 'returned', id, payload: null });
  }

  /** Tells the others how many groups this node leads. */
  tellLoad(peers: readonly NodeId[], leading: number): void {
    const payload = encodeNumbered(leading, NOTHING);
    for (const node of peers) this.send(node, FrameKind.LOAD, payload);
  }

  /** Measures the way to others and back. */
  ping(peers: readonly NodeId[]): void {
    const { now } = this.options;
    if (now === undefined) return;
    const id = this.nextPing++;
    const payload = encodeNumbered(id, NOTHING);
    for (const node of peers) {
      if (this.send(node, FrameKind.PING, payload)) this.pings.set(node, { id, at: now() });
    }
  }

  peerDown(node: NodeId): void {
    this.held.delete(node);
    this.frames.forget(node);
    this.pings.delete(node);
    this.leading.delete(node);
    this.shortCalls.forget(node);
    this.shortReturns.forget(node);
    for (const [id, to] of this.calls.entries()) if (to === node) this.unreached(id);
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

  private planFlush(): void {
    if (this.planned) return;
    this.planned = true;
    queueMicrotask(() => {
      this.planned = false;
      this.flush();
    });
  }

  private flush(): void {
    if (!this.shortCalls.isEmpty) this.shortCalls.flush();
    if (!this.shortReturns.isEmpty) this.shortReturns.flush();
    const refused: RaftFrame[] = [];
    this.frames.take((frame) => {
      if (!this.send(frame.to, FrameKind.RAFT, frame.bytes, frame.isBulk)) refused.push(frame);
    });
    for (const { to, entriesOf } of refused) {
      for (const group of entriesOf) {
        this.frames.refused(to, group);
        this.options.unsent(group, to);
      }
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
        this.options.emit({ kind: 'called', from, ...decodeNumbered(payload), ...ownOf(payload) });
        return;
      case FrameKind.RETURN: {
        const { id, payload: answer } = decodeNumbered(payload);
        this.returned(from, id, answer);
        return;
      }
      case FrameKind.CALLS:
        readNumberedFrame(payload, (id, call) => {
          this.options.emit({ kind: 'called', from, id, payload: call });
        });
        return;
      case FrameKind.RETURNS:
        readNumberedFrame(payload, (id, answer) => this.returned(from, id, answer));
        return;
      case FrameKind.LOAD:
        this.leading.set(from, decodeNumbered(payload).id);
        return;
      case FrameKind.PING:
        this.sendNumbered(from, FrameKind.PONG, decodeNumbered(payload).id, NOTHING);
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

  private returned(from: NodeId, id: number, payload: Uint8Array): void {
    if (this.calls.get(id) !== from) return;
    this.calls.delete(id);
    this.options.emit({ kind: 'returned', id, payload });
  }

  private sendNumbered(
    to: NodeId,
    kind: number,
    id: number,
    payload: Uint8Array,
    rest: Uint8Array = NOTHING,
  ): boolean {
    const bulk = payload.length + rest.length >= this.sizes.bulkBytes;
    // A large payload is not copied to be put behind a number.
    if (bulk) {
      const parts = [encodeNumbered(id, NOTHING), payload, rest];
      const { buffer } = rest;
      if (rest.length === 0 || !(buffer instanceof ArrayBuffer)) return this.send(to, kind, parts, true);
      return this.send(to, kind, parts, true, () => this.options.emit({ kind: 'given_back', buffer }));
    }
    return this.send(
      to,
      kind,
      encodeNumbered(id, rest.length === 0 ? payload : Buffer.concat([payload, rest])),
    );
  }

  private send(to: NodeId, kind: number, payload: Payload, bulk = false, sent?: () => void): boolean {
    const isTaken = this.options.sender.send(to, kind, payload, bulk, sent);
    if (isTaken) this.trafficOf(to).sent += lengthOf(payload);
    return isTaken;
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

const NOTHING = new Uint8Array(0);

/** Bytes from which on a buffer rather changes hands than is copied. */
const GIVEN_BYTES_MIN = 64 * 1024;

/** The buffer of the payload of a frame, if it was put together in one of its own. */
function ownOf({ buffer, byteLength }: Uint8Array): { readonly own?: ArrayBuffer } {
  const isOwn = byteLength >= GIVEN_BYTES_MIN && byteLength === buffer.byteLength;
  return isOwn && buffer instanceof ArrayBuffer ? { own: buffer } : {};
}

function lengthOf(payload: Payload): number {
  if (payload instanceof Uint8Array) return payload.length;
  return payload.reduce((sum, { length }) => sum + length, 0);
}
