import {
  argumentsError,
  ErrorCode,
  existsError,
  lookupError,
  operationError,
  QueryError,
  typeError,
  valueError,
} from '../error.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import { MSGPACK_NESTING_MAX, type PackOptions, pack } from '../pack/walk.js';
import { type Entry, func, MODIFIES, method, type Receiver, variadicMethod } from '../run/builtin.js';
import { computeIn } from '../run/computed.js';
import { NO_IDS } from '../run/execution.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { Code } from '../run/unit.js';
import { NAME } from '../schema/name.js';
import { EVENTS_BYTES_MAX, Outbox, type Sender, tooMuch } from '../state/events.js';
import { nameRoom } from '../state/parts/rooms.js';
import { isInt } from '../value/numbers.js';
import { Room } from '../value/room.js';
import { Tag } from '../value/tag.js';
import { typeName, type Value } from '../value/value.js';

const ROOM: Receiver<Room> = { tags: [Tag.ROOM] };

/** Rooms, which clients join, and the events that they are told of there. */
export const ROOMS: readonly Entry[] = [
  func('room', {
    doc: 'A new room; or the stored one with an id or a name.',
    readsState: true,
    params: [p.optional(p.any('room'))],
    run: (rt, given) => {
      if (given === undefined) {
        return new Room();
      }
      if (given instanceof Room) return given;
      if (typeof given === 'string') return roomByName(rt, given);
      if (isInt(given)) return roomById(rt, given);
      throw typeError(`room() takes a room, an id or a name, not ${typeName(given)}`);
    },
  }),
  method(ROOM, 'id', {
    doc: 'The id; nil unless the room is stored.',
    run: (_rt, { id }) => (id === 0 ? null : id),
  }),
  method(ROOM, 'name', {
    doc: 'The name; nil when it has none.',
    run: (_rt, { name }) => name,
  }),
  method(ROOM, 'set_name', {
    doc: 'Gives a stored room a name, unique in the collection, by which it can be found and joined; nil takes it away.',
    params: [p.later(p.any('name'))],
    lock: null,
    changes: MODIFIES,
    run: (rt, room, name) => {
      const { store } = rt;
      if (store === null || !room.stored) {
        throw operationError(
          'only a stored room can have a name: make it a property of something stored first',
        );
      }
      setName(rt, room, name());
      return null;
    },
  }),
  variadicMethod(ROOM, 'emit', {
    doc: 'Tells those who joined the room of an event when the query has succeeded; a depth and flags (NO_IDS) may stand before the event.',
    rest: p.lazy('event, argument'),
    min: 1,
    run: (rt, room, codes) => {
      const { deep, ids, event, args } = readEmit(rt, codes);
      emit(rt, { room, deep, ids, event, args, except: null });
      return null;
    },
  }),
];

/** Characters that the name of an event has at most. */
const EVENT_MAX = 255;

/** Arguments of an emit, each evaluated and checked before the next. */
function readEmit(
  rt: Runtime,
  codes: readonly Code[],
): { readonly deep: number; readonly ids: boolean; readonly event: string; readonly args: readonly Value[] } {
  let at = 0;
  const next = (): Value => {
    const code = codes[at++];
    if (code === undefined) throw argumentsError('emit() takes the name of an event behind depth and flags');
    return code();
  };
  let { deep } = rt;
  let ids = true;
  let event = next();
  if (isInt(event)) {
    deep = p.checkedDeep(event);
    event = next();
    if (isInt(event)) {
      ids = (BigInt(event) & BigInt(NO_IDS)) === 0n;
      event = next();
    }
  }
  if (typeof event !== 'string') throw typeError(`an event must be a str, not ${typeName(event)}`);
  if (event === '') throw valueError('an event needs a name');
  if (event.length > EVENT_MAX && [...event.slice(0, 2 * EVENT_MAX + 2)].length > EVENT_MAX) {
    throw valueError(`the name of an event has at most ${EVENT_MAX} characters`);
  }
  return { deep, ids, event, args: codes.slice(at).map((code) => code()) };
}

/** The event for those who are in a room. */
export interface Emit {
  readonly room: Room;
  readonly deep: number;
  readonly ids: boolean;
  readonly event: string;
  readonly args: readonly Value[];
  readonly except: Sender | null;
}

/**
 * Notes that those who are in a room are to be told of an event when the call has succeeded. Nobody can be in one that is not stored.
 *
 * @throws QueryError max_quota_err when the events of the call get too large, and what packing throws
 */
export function emit(rt: Runtime, { room, deep, ids, event, args, except }: Emit): void {
  if (rt.store === null || !room.stored) return;
  rt.assertNoSnapshot('events are sent');
  const { transaction } = rt;
  transaction.outbox ??= new Outbox();
  const { outbox } = transaction;
  const sizeMax = outbox.room;
  const writer = new MsgpackWriter();
  const options = {
    deep,
    ids,
    store: rt.store,
    compute: computeIn(rt),
    sizeMax: EVENTS_BYTES_MAX,
    nestingMax: MSGPACK_NESTING_MAX,
    charge: (units: number) => {
      rt.charge(units);
      if (writer.size > sizeMax) throw tooMuch();
    },
  };
  rt.charge(UNITS_PER_EMIT);
  writer.beginArray(args.length);
  for (const value of args) {
    packArgument(value, writer, options);
    if (writer.size > sizeMax) throw tooMuch();
  }
  const told = writer.out.take();
  const listeners = rt.store.rooms.listenersIn?.(room.id) ?? 0;
  rt.spend(listeners * (MS_PER_LISTENER + told.length * MS_PER_TOLD_BYTE));
  outbox.add({ kind: 'emit', room: room.id, name: event, args: told, except });
}

/** A single value may be too large by itself. */
function packArgument(value: Value, writer: MsgpackWriter, options: PackOptions): void {
  try {
    pack(value, writer, options);
  } catch (error) {
    if (error instanceof QueryError && error.code === ErrorCode.RESULT_TOO_LARGE) throw tooMuch();
    throw error;
  }
}

/**
 * Milliseconds that it takes to tell one listener of an event, and for each byte of it, which the node spends behind the query: it knows of those
 * who listen on the node that runs it.
 */
const MS_PER_LISTENER = 0.005;
const MS_PER_TOLD_BYTE = 1e-6;

/** Units charged for an event, beside what its arguments cost. */
const UNITS_PER_EMIT = 256;

function setName(rt: Runtime, room: Room, name: Value): void {
  const { store, transaction } = rt;
  if (store === null) return;
  if (name !== null && typeof name !== 'string') {
    throw typeError(`the name of a room must be a str or nil, not ${typeName(name)}`);
  }
  if (name !== null) checkName(name);
  transaction.assertWritable(room);
  const other = name === null ? undefined : store.rooms.byName.get(name);
  if (other !== undefined && other !== room) throw existsError(`another room has the name '${name}'`);
  nameRoom(store.rooms, transaction, room, name);
}

export function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw valueError(
    `${JSON.stringify(name.slice(0, 60))} can not be the name of a room: names have up to 255 letters, digits and _, and begin with no digit`,
  );
}

/**
 * The stored room with a name.
 *
 * @throws QueryError value_err for what can be no name, lookup_err
 */
export function roomByName(rt: Runtime, name: string): Room {
  checkName(name);
  const room = rt.store?.rooms.byName.get(name);
  if (room === undefined || room.refs === 0) throw lookupError(`there is no room '${name}'`);
  return room;
}

/**
 * The stored room with an id.
 *
 * @throws QueryError lookup_err
 */
export function roomById(rt: Runtime, id: number | bigint): Room {
  const room = rt.store?.rooms.byId.get(Number(id));
  if (room === undefined || room.refs === 0) throw lookupError(`there is no room with the id ${id}`);
  return room;
}
