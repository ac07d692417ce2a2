/** Requests about rooms that are no programs: to tell those who are in a room of an event, and to find rooms that are to be joined. */
import { badDataError, forbiddenError, type QueryError } from '../error.js';
import { readArguments, type WireOptions, type WireValues } from '../pack/wire-values.js';
import { DEEP_MAX } from '../run/limits.js';
import type { Runtime } from '../run/runtime.js';
import type { Sender } from '../state/events.js';
import { listOf } from '../value/containers.js';
import type { Room } from '../value/room.js';
import type { Value } from '../value/value.js';
import { checkName, emit, roomById, roomByName } from './rooms.js';

/** A room as a request names it: by id or by name. */
export type RoomKey = number | bigint | string;

export interface EmitBody {
  readonly kind: 'emit';
  readonly room: RoomKey;
  readonly event: string;
  /** An array; null for none. */
  readonly args: WireValues | null;
  readonly except: Sender | null;
}

export interface FindRoomsBody {
  readonly kind: 'find_rooms';
  readonly rooms: readonly RoomKey[];
  /** True if the user's whitelist counts: for those that are to be joined. */
  readonly checksWhitelist: boolean;
}

/**
 * Tells those who are in a room of an event. It gives nil.
 *
 * @throws QueryError forbidden_err for what the user's whitelist does not allow, lookup_err, value_err for what can be no name, and the errors of values and limits
 */
export function emitRequest(rt: Runtime, { room, event, args, except }: EmitBody, wire: WireOptions): Value {
  if (typeof room === 'string') checkName(room);
  if (!isAllowed(rt, room)) throw notAllowed(rt, room);
  const found = typeof room === 'string' ? roomByName(rt, room) : roomById(rt, room);
  const values = args === null ? [] : readArguments(args, wire);
  if (!Array.isArray(values)) throw badDataError('the arguments of an event must be an array');
  emit(rt, { room: found, deep: DEEP_MAX, ids: true, event, args: values, except });
  return null;
}

/**
 * The ids of rooms: nil for one that is not there, or that the user's whitelist does not allow.
 *
 * @throws QueryError forbidden_err when the only room is not allowed, and the errors of limits
 */
export function findRooms(rt: Runtime, { rooms, checksWhitelist }: FindRoomsBody): Value {
  const isOnly = rooms.length === 1;
  return listOf(
    rooms.map((key) => {
      rt.charge(UNITS_PER_ROOM);
      const room = found(rt, key);
      if (room === null) return null;
      if (!checksWhitelist || rt.root.isAllowed(rt.user.id, 'rooms', room.name)) return room.id;
      if (!isOnly) return null;
      throw notAllowed(rt, key);
    }),
  );
}

/** True if the user's whitelist allows events in a room: a name is judged even if there is no such room. */
function isAllowed(rt: Runtime, key: RoomKey): boolean {
  const name = typeof key === 'string' ? key : (found(rt, key)?.name ?? null);
  return rt.root.isAllowed(rt.user.id, 'rooms', name);
}

function notAllowed(rt: Runtime, key: RoomKey): QueryError {
  return forbiddenError(`the whitelist of user '${rt.user.name}' does not allow the room ${key}`);
}

function found(rt: Runtime, key: RoomKey): Room | null {
  const rooms = rt.store?.rooms;
  const room = typeof key === 'string' ? rooms?.byName.get(key) : rooms?.byId.get(Number(key));
  return room === undefined || room.refs === 0 ? null : room;
}

/** Units charged for a room that is looked for; the rules of a whitelist take longer. */
const UNITS_PER_ROOM = 1024;
