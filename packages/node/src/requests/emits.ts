/**
 * Requests to tell those who are in a room of an event, on their way to the leader.
 *
 *   emit   := c1 room event:text except args:rest       c1 begins nothing in MessagePack
 *   room   := 00 id:varint | 01 name:text
 *   except := 00 | 01 node:varint start:varint connection:varint
 *
 * `args` is an array in MessagePack; nothing for none.
 */
import {
  ByteReader,
  ByteWriter,
  FormatError,
  type RoomKey,
  type Sender,
  type WireValues,
} from '@althing/engine';
import type { RequestBody, RoomBody } from '../groups/request.js';

const MARK = 0xc1;

type Emit = Extract<RoomBody, { readonly type: 'emit' }>;

/** True if a body is such a request. */
export function isEmit(body: Uint8Array): boolean {
  return body[0] === MARK && (body[1] ?? 0) <= 1;
}

/** @param toMsgpack gives values as MessagePack; what it throws is thrown */
export function encodeEmit(
  { room, event, except, args }: Emit,
  toMsgpack: (values: WireValues) => Uint8Array,
): Uint8Array {
  const out = new ByteWriter();
  out.u8(MARK);
  if (typeof room === 'string') {
    out.u8(1);
    out.text(room);
  } else {
    out.u8(0);
    // No room has an id beyond; -1 would be one of none.
    out.varint(room < 0 || room > Number.MAX_SAFE_INTEGER ? 0 : Number(room));
  }
  out.text(event);
  out.u8(except === null ? 0 : 1);
  if (except !== null) {
    out.varint(except.node);
    out.varint(except.start);
    out.varint(except.connection);
  }
  if (args !== null) out.bytes(toMsgpack(args));
  return out.take();
}

/** @throws FormatError */
export function decodeEmit(body: Buffer): RequestBody {
  const input = new ByteReader(body, 1);
  const room = readRoom(input);
  const event = input.text();
  const except = readSender(input);
  const { remaining } = input;
  const args =
    remaining === 0 ? null : ({ format: 'msgpack', data: bufferOf(input.bytes(remaining)) } as const);
  return { type: 'emit', room, event, except, args };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readRoom(input: ByteReader): RoomKey {
  const kind = input.u8();
  if (kind > 1) throw new FormatError(`a room of the unknown kind ${kind}`);
  return kind === 1 ? input.text() : input.varint();
}

function readSender(input: ByteReader): Sender | null {
  if (input.u8() === 0) return null;
  return { node: input.varint(), start: input.varint(), connection: input.varint() };
}
