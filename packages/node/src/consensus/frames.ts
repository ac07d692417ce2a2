/**
 * What nodes send each other once they know each other. The kinds are those of frames of the transport:
 *
 *   raft   (1) := part*                  part := group:varint count:varint message*     message: see raft-ts
 *   call   (2) := id:varint payload      from one engine side to the other
 *   return (3) := id:varint payload      the answer
 *   load   (6) := leading:varint         how many groups the sender leads
 *   ping   (7) := id:varint              to be answered at once
 *   pong   (8) := id:varint              the answer
 */
import { ByteReader, ByteWriter, type Message, readMessage, writeMessage } from 'raft-ts';
import type { GroupId } from './protocol.js';

export const FrameKind = { RAFT: 1, CALL: 2, RETURN: 3, LOAD: 6, PING: 7, PONG: 8 } as const;

/** Messages of a group in one frame at most. */
const MESSAGES_MAX = 65_536;

/** Messages to other nodes, collected until they are sent. */
export class RaftFrames {
  private parts = new Map<number, { readonly group: GroupId; readonly messages: Message[] }[]>();

  get isEmpty(): boolean {
    return this.parts.size === 0;
  }

  add(group: GroupId, messages: readonly Message[]): void {
    for (const message of messages) {
      let parts = this.parts.get(message.to);
      if (parts === undefined) {
        parts = [];
        this.parts.set(message.to, parts);
      }
      const last = parts[parts.length - 1];
      if (last !== undefined && last.group === group) last.messages.push(message);
      else parts.push({ group, messages: [message] });
    }
  }

  /** One frame for each node; nothing is left. */
  take(send: (to: number, frame: Uint8Array) => void): void {
    for (const [to, parts] of this.parts) {
      const writer = new ByteWriter(1024);
      for (const { group, messages } of parts) {
        writer.varint(group);
        writer.varint(messages.length);
        for (const message of messages) writeMessage(writer, message);
      }
      send(to, writer.finish());
    }
    // Not cleared: an old map would keep what stood in it alive, see number-table.ts.
    this.parts = new Map();
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
