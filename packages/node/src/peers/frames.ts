/**
 * The frames between nodes that know each other. The kinds are those of frames of the transport:
 *
 *   raft   (1) := part*                  part := group:varint count:varint message*     message: see raft-ts
 *   call   (2) := id:varint payload      from one engine side to the other
 *   return (3) := id:varint payload      the answer
 *   load   (6) := leading:varint         how many groups the sender leads
 *   ping   (7) := id:varint              to be answered at once
 *   pong   (8) := id:varint              the answer
 *   calls  (9) := numbered*              short calls
 *   returns (10) := numbered*            short answers, as `calls`       numbered := id:varint length:varint payload
 */
import { type Append, ByteReader, ByteWriter, type Message, readMessage, writeMessage } from 'raft-ts';
import type { GroupId, NodeId } from '../between/protocol.js';

export const FrameKind = {
  RAFT: 1,
  CALL: 2,
  RETURN: 3,
  LOAD: 6,
  PING: 7,
  PONG: 8,
  CALLS: 9,
  RETURNS: 10,
} as const;

/** Sizes in bytes that decide how messages travel. */
export interface FrameSizes {
  /** A frame is closed once it holds so much: it is larger by less than one message. */
  readonly frameBytes: number;
  /** Size from which a message yields to shorter ones. */
  readonly bulkBytes: number;
}

/** Messages of a group in one frame at most. */
const MESSAGES_MAX = 65_536;

/** About what a message and an entry take beside payloads, in bytes. */
const MESSAGE_BYTES = 64;
const ENTRY_BYTES = 32;

/** A frame that is ready to be sent. */
export interface RaftFrame {
  readonly to: NodeId;
  readonly bytes: Uint8Array;
  /** True if it yields to others. */
  readonly isBulk: boolean;
  /** The groups of which it holds entries. */
  readonly entriesOf: readonly GroupId[];
}

/** Messages of a group, in order. */
interface Part {
  readonly group: GroupId;
  readonly messages: Message[];
}

/**
 * The messages that are collected for a node: large appends, with all that goes with them, apart from the
 * rest.
 */
interface Collected {
  readonly urgent: Part[];
  readonly bulk: Part[];
  /** About what all of it takes. */
  bytes: number;
}

/** A large append that waits to be sent. */
interface Waiting {
  readonly term: number;
  readonly prevIndex: number;
  /** The number of times that it came again meanwhile, and that it may until it is sent again. */
  again: number;
  patience: number;
}

/** Times that an append that waits may come again until it is sent twice; each further time takes twice as often, up to a limit. */
const PATIENCE = 8;
const PATIENCE_MAX = 64;

/** Messages to other nodes, collected until they are sent. */
export class RaftFrames {
  private collected = new Map<NodeId, Collected>();
  /** Groups of which a large append waits for a node, with the last of them: later ones must not pass it. */
  private readonly following = new Map<NodeId, Map<GroupId, Waiting>>();

  /** @param isBulkWaiting whether frames that yield wait for a node, of those that were taken */
  constructor(
    private readonly sizes: FrameSizes,
    private readonly isBulkWaiting: (to: NodeId) => boolean,
  ) {}

  /** About how many bytes are collected for a node. */
  bytesFor(to: NodeId): number {
    return this.collected.get(to)?.bytes ?? 0;
  }

  add(group: GroupId, messages: readonly Message[]): void {
    for (const message of messages) {
      const { to } = message;
      const size = sizeOf(message);
      if (message.kind === 'append' && size >= this.sizes.bulkBytes && this.isWaiting(group, message))
        continue;
      let collected = this.collected.get(to);
      if (collected === undefined) {
        collected = { urgent: [], bulk: [], bytes: 0 };
        this.collected.set(to, collected);
      }
      collected.bytes += size;
      const isBulk =
        message.kind === 'append' && this.yields(group, message, size, collected.bulk.length > 0);
      const parts = isBulk ? collected.bulk : collected.urgent;
      const last = parts[parts.length - 1];
      if (last !== undefined && last.group === group) last.messages.push(message);
      else parts.push({ group, messages: [message] });
    }
  }

  /** Hands over everything as frames, which hold several messages and are not too large; nothing is left. */
  take(send: (frame: RaftFrame) => void): void {
    const { collected } = this;
    // Not cleared: an old map would keep what stood in it alive, see number-table.ts.
    this.collected = new Map();
    for (const [to, { urgent, bulk }] of collected) {
      this.pack(to, urgent, false, send);
      this.pack(to, bulk, true, send);
    }
  }

  /**
   * True if an append is large, or behind one of its group that is still to leave: out of order it would be
   * refused.
   */
  private yields(
    group: GroupId,
    { to, term, prevIndex }: Append,
    bytes: number,
    isCollected: boolean,
  ): boolean {
    let groups = this.following.get(to);
    if (groups !== undefined && !isCollected && !this.isBulkWaiting(to)) {
      this.following.delete(to);
      groups = undefined;
    }
    if (bytes < this.sizes.bulkBytes) return groups?.has(group) === true;
    if (groups === undefined) {
      groups = new Map();
      this.following.set(to, groups);
    }
    const known = groups.get(group);
    const isAgain = known?.term === term && known.prevIndex === prevIndex;
    const patience = isAgain ? Math.min(known.patience * 2, PATIENCE_MAX) : PATIENCE;
    groups.set(group, { term, prevIndex, again: 0, patience });
    return true;
  }

  /**
   * True if the same append still waits for its turn, or may: a leader that hears no answer sends one again with each heartbeat, which
   * on a slow way would be more than it takes, and nothing else would get through. It may be lost on its way, though other ones wait.
   */
  private isWaiting(group: GroupId, { to, term, prevIndex }: Append): boolean {
    const known = this.following.get(to)?.get(group);
    if (known?.term !== term || known.prevIndex !== prevIndex || !this.isBulkWaiting(to)) return false;
    known.again += 1;
    return known.again < known.patience;
  }

  /** Does not wait for frames to a node any more: they may be lost. */
  forget(to: NodeId): void {
    this.following.delete(to);
  }

  /** The transport did not take the appends of a group: they may come again at once. */
  refused(to: NodeId, group: GroupId): void {
    const known = this.following.get(to)?.get(group);
    if (known !== undefined) known.again = known.patience;
  }

  private pack(to: NodeId, parts: readonly Part[], isBulk: boolean, send: (frame: RaftFrame) => void): void {
    if (parts.length === 0) return;
    let writer = new ByteWriter(1024);
    let entriesOf: GroupId[] = [];
    let bytes = 0;
    for (const { group, messages } of parts) {
      for (let from = 0; from < messages.length; ) {
        let end = from;
        while (end < messages.length && (end === from || bytes < this.sizes.frameBytes)) {
          bytes += sizeOf(messages[end]!);
          end += 1;
        }
        writer.varint(group);
        writer.varint(end - from);
        for (const message of messages.slice(from, end)) writeMessage(writer, message);
        if (messages.slice(from, end).some(hasEntries)) entriesOf.push(group);
        from = end;
        if (bytes < this.sizes.frameBytes) continue;
        send({ to, bytes: writer.finish(), isBulk, entriesOf });
        writer = new ByteWriter(1024);
        entriesOf = [];
        bytes = 0;
      }
    }
    if (bytes > 0) send({ to, bytes: writer.finish(), isBulk, entriesOf });
  }
}

/**
 * Calls `receive` for each message of a frame, in order.
 *
 * @throws CodecError for what is no such frame
 */
export function readRaftFrame(frame: Uint8Array, receive: (group: GroupId, message: Message) => void): void {
  const reader = new ByteReader(frame);
  while (reader.remaining > 0) {
    const group = reader.varint();
    const count = reader.varint();
    if (count > MESSAGES_MAX) reader.fail('invalid', 'Too many messages in a frame');
    for (let i = 0; i < count; i++) receive(group, readMessage(reader));
  }
}

/** A number and what belongs to it: calls and returns. */
export function encodeNumbered(id: number, payload: Uint8Array): Uint8Array {
  const writer = new ByteWriter(payload.length + 10);
  writer.varint(id);
  writer.raw(payload);
  return writer.finish();
}

/** @throws CodecError */
export function decodeNumbered(frame: Uint8Array): { readonly id: number; readonly payload: Uint8Array } {
  const reader = new ByteReader(frame);
  const id = reader.varint();
  return { id, payload: reader.rest() };
}

/**
 * Calls `receive` for each call of a frame of calls, or return of one of returns, in order.
 *
 * @throws CodecError
 */
export function readNumberedFrame(
  frame: Uint8Array,
  receive: (id: number, payload: Uint8Array) => void,
): void {
  const reader = new ByteReader(frame);
  while (reader.remaining > 0) {
    const id = reader.varint();
    receive(id, reader.bytes());
  }
}

function hasEntries(message: Message): boolean {
  return message.kind === 'append' && message.entries.length > 0;
}

function sizeOf(message: Message): number {
  if (message.kind !== 'append') return MESSAGE_BYTES;
  let bytes = MESSAGE_BYTES;
  for (const { payload } of message.entries) bytes += payload.length + ENTRY_BYTES;
  return bytes;
}
