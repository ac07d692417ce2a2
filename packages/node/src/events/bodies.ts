/**
 * The data of packages about rooms, in MessagePack.
 *
 *   JOIN, LEAVE           [scope:str, room...]
 *   EMIT, EMIT to peers   [scope:str, room, event:str, argument...]
 *   room := int | str
 *
 * An array with a scope that is none of these comes out as undefined: other mistakes are told before that one.
 */
import {
  badDataError,
  MsgpackReader,
  MsgpackWriter,
  quotaError,
  ShapeTree,
  type WireValues,
} from '@althing/engine';
import type { RoomKey } from './listener.js';
import { ROOMS_PER_LISTENER_MAX } from './rooms.js';

/** Nothing is made of values here. */
const NO_SHAPES = new ShapeTree();

/** Arrays and maps inside each other at most. */
const NESTING_MAX = 1000;

/** @throws QueryError bad_data_err, or max_quota_err for too many rooms */
export function decodeRooms(data: Uint8Array): {
  readonly scope: string;
  readonly rooms: readonly RoomKey[];
} {
  const { reader, scope, left } = begin(data);
  if (left > ROOMS_PER_LISTENER_MAX) {
    throw quotaError(`a request names ${ROOMS_PER_LISTENER_MAX} rooms at most, not ${left}`);
  }
  const rooms: RoomKey[] = [];
  for (let i = 0; i < left; i++) rooms.push(readRoom(reader));
  return { scope, rooms };
}

/** @throws QueryError bad_data_err */
export function decodeEmit(data: Uint8Array): {
  readonly scope: string;
  readonly room: RoomKey;
  /** Undefined for what is no text. */
  readonly event: string | undefined;
  /** An array; null for none. */
  readonly args: WireValues | null;
} {
  const { reader, scope, left } = begin(data);
  const room = left > 0 ? readRoom(reader) : undefined;
  const event = left > 1 ? (reader.str() ?? undefined) : undefined;
  if (left <= 2 || event === undefined) return { scope, room, event, args: null };
  const start = reader.offset;
  for (let i = 2; i < left; i++) reader.skip(1);
  const writer = new MsgpackWriter();
  writer.beginArray(left - 2);
  writer.out.bytes(data.subarray(start, reader.offset));
  return { scope, room, event, args: { format: 'msgpack', data: Buffer.from(writer.out.take()) } };
}

function begin(data: Uint8Array): { reader: MsgpackReader; scope: string; left: number } {
  const reader = new MsgpackReader(
    Buffer.from(data.buffer, data.byteOffset, data.byteLength),
    NO_SHAPES,
    NESTING_MAX,
  );
  const count = data.length === 0 ? null : reader.arraySize();
  const scope = count === null || count === 0 ? null : reader.str();
  if (count === null || scope === null) {
    throw badDataError('the request must be an array that begins with a scope');
  }
  return { reader, scope, left: count - 1 };
}

function readRoom(reader: MsgpackReader): RoomKey {
  const text = reader.str();
  if (text !== null) return text;
  if (reader.hasMap || reader.hasArray) {
    reader.skip(1);
    return undefined;
  }
  const value = reader.value();
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined;
}
