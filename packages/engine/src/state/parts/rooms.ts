/**
 * Rooms as a part of the state of a collection with their effects and their records.
 *
 *   effect := 29 count:varint id:varint*         new rooms, without names
 *           | 2a count:varint id:varint*         rooms go, to which nothing refers any more
 *           | 2b id:varint name:text             the room gets this name; an empty one: it has none
 *           | 2c length:varint event*            events, which alter no state; see `state/events.ts`
 *
 * Record: ROOM (id) holds `refs:varint name:text`, with an empty name for none. References are counted with the values that refer
 * to a room, as those of members of enums are.
 */
import { ByteReader, ByteWriter, FormatError } from '../../bytes.js';
import { quotaFatal } from '../../error.js';
import { Room } from '../../value/room.js';
import type { Dirty } from '../dirty.js';
import { committedEffect, effect, effectsOn, perform } from '../effect.js';
import { type RoomEvent, readEvents } from '../events.js';
import { RecordKind, type RecordSink } from '../records.js';
import { one } from '../tally.js';
import type { Transaction } from '../transaction.js';
import type { GroupPart } from './part.js';

/** Rooms that one collection may have: all of them are in memory. */
export const ROOMS_MAX = 1_000_000;

export class Rooms implements GroupPart {
  readonly effects = effectsOn(this, RoomEffect);
  readonly kinds = [RecordKind.ROOM];
  /** Rooms whose last stored reference went away in this transaction. */
  readonly orphans = new Set<Room>();
  /** Events for clients, of changes that others made; empty while nobody of this node listens. */
  readonly heard: RoomEvent[] = [];
  /** The number of clients of this node that listen in a room; null while nobody listens in any. */
  listenersIn: ((room: number) => number) | null = null;
  private readonly rooms = new Map<number, Room>();
  private readonly named = new Map<string, Room>();
  /** Ids of those that changed since the last checkpoint began. */
  private changed: Changed = new Map();
  /** Ids of the last checkpoint, with the records of rooms that changed again while it was under way. */
  private frozen: Changed = new Map();

  /** @param noteId told of each id that is used from now on */
  constructor(
    private readonly dirty: Dirty,
    private readonly noteId: (id: number) => void,
  ) {}

  get byId(): ReadonlyMap<number, Room> {
    return this.rooms;
  }

  get byName(): ReadonlyMap<string, Room> {
    return this.named;
  }

  /**
   * Makes a room stored, under an id that was never used.
   *
   * @throws QueryError max_quota_err, which ends the query
   */
  register(room: Room, id: number): void {
    if (this.rooms.size >= ROOMS_MAX) throw quotaFatal(`a collection has at most ${ROOMS_MAX} rooms`);
    this.touch(id);
    room.id = id;
    room.gone = false;
    this.rooms.set(id, room);
    this.noteId(id);
  }

  /** Takes `register` back. */
  unregister(id: number): void {
    const room = this.known(id);
    this.touch(id);
    this.rooms.delete(id);
    this.orphans.delete(room);
    // One that was gone before has its former id again already.
    if (room.id === id) room.id = 0;
  }

  /** Removes a room to which nothing refers. It keeps its id and name for who holds it. */
  remove(room: Room): void {
    this.touch(room.id);
    this.rooms.delete(room.id);
    if (room.name !== null) this.named.delete(room.name);
    this.orphans.delete(room);
    room.gone = true;
  }

  /** Takes `remove` back. */
  revive(room: Room): void {
    this.touch(room.id);
    this.rooms.set(room.id, room);
    if (room.name !== null) this.named.set(room.name, room);
    room.gone = false;
  }

  /** Gives a room a name that is free, or none. */
  rename(room: Room, name: string | null): void {
    this.touch(room.id);
    if (room.name !== null) this.named.delete(room.name);
    room.name = name;
    if (name !== null) this.named.set(name, room);
  }

  /** Counts references from stored data. */
  count(room: Room, by: number): void {
    if (!room.gone) this.touch(room.id);
    room.refs += by;
    if (room.gone) return;
    if (room.refs === 0) this.orphans.add(room);
    else if (this.orphans.size > 0) this.orphans.delete(room);
  }

  /** The room with this id, which a value mentions: made when it is not known yet, since its record may come later. */
  roomOf(id: number): Room {
    const known = this.rooms.get(id);
    if (known !== undefined) return known;
    const room = new Room();
    room.id = id;
    this.rooms.set(id, room);
    return room;
  }

  load(_kind: RecordKind, id: number, _part: number, value: Uint8Array): void {
    const input = new ByteReader(value);
    const room = this.roomOf(id);
    room.refs = input.varint();
    const name = input.text();
    if (name === '') return;
    room.name = name;
    this.named.set(name, room);
  }

  /**
   * Freezes what changed: a checkpoint begins, which writes it by `rest`. A record each at once would take seconds for the most rooms
   * there may be.
   */
  flush(): void {
    this.frozen = this.changed;
    this.changed = new Map();
  }

  /** Writes the frozen rooms as they were then, one at each step. */
  *rest(sink: RecordSink): Generator<void, void, undefined> {
    for (const [id, before] of this.frozen) {
      const record = before === undefined ? this.recordOf(id) : before;
      if (record === null) sink.delete(RecordKind.ROOM, id, 0);
      else sink.put(RecordKind.ROOM, id, 0, record);
      yield;
    }
  }

  /** The checkpoint came to nothing. */
  again(): void {
    for (const id of this.frozen.keys()) this.changed.set(id, undefined);
    this.frozen = new Map();
  }

  clear(): void {
    this.rooms.clear();
    this.named.clear();
    this.changed = new Map();
    this.frozen = new Map();
    this.orphans.clear();
    this.heard.length = 0;
  }

  /** Rooms alone are not in the way of a restore: things that refer to them are. */
  contents(): string | null {
    return null;
  }

  /** The room with this id, which there is. */
  known(id: number): Room {
    const room = this.rooms.get(id);
    if (room === undefined) throw new FormatError(`there is no room ${id}`);
    return room;
  }

  /** Must be called before a room changes. */
  private touch(id: number): void {
    if (this.dirty.freezing && this.frozen.has(id) && this.frozen.get(id) === undefined)
      this.frozen.set(id, this.recordOf(id));
    this.changed.set(id, undefined);
  }

  /** The record of a room as it is now; null when there is none. */
  private recordOf(id: number): Uint8Array | null {
    const room = this.rooms.get(id);
    return room === undefined ? null : roomRecord(room);
  }
}

/** Rooms that changed, by their ids: each with its record (null to delete it) from before it changed again, undefined where it did not. */
type Changed = Map<number, Uint8Array | null | undefined>;

/** The content of the record of a room. Rooms without names, of which there may be very many, share those of the same content. */
export function roomRecord(room: Room): Uint8Array {
  const { refs, name } = room;
  if (name !== null || refs >= NAMELESS.length) return encoded(room);
  NAMELESS[refs] ??= encoded(room);
  return NAMELESS[refs];
}

function encoded({ refs, name }: Room): Uint8Array {
  const out = new ByteWriter();
  out.varint(refs);
  out.text(name ?? '');
  return out.take();
}

/** The records of rooms without names, by their counts of references. */
const NAMELESS = new Array<Uint8Array | null>(16).fill(null);

/** Time it takes to take the name of a room back, that a room comes, and that one goes, in nanoseconds on a slow machine. */
const NS_PER_NAME = 1000;
const NS_PER_NEW_ROOM = 3000;
const NS_PER_GONE_ROOM = 1500;

export const RoomEffect = {
  /** New rooms, without names. */
  PUT: effect<Rooms, [ids: readonly number[]]>({
    code: 0x29,
    write: (out, ids) => out.varints(ids),
    read: (input) => [input.varints()],
    apply: (rooms, ids) => {
      for (const id of ids) rooms.register(new Room(), id);
    },
    inverse: (rooms, ids) => () => {
      for (const id of ids.toReversed()) rooms.unregister(id);
    },
    cost: (_, ids) => NS_PER_NEW_ROOM * ids.length,
    counts: (_, { length }) => ['rooms', length],
  }),
  /** Rooms go, to which nothing refers any more. */
  REMOVE: effect<Rooms, [ids: readonly number[]]>({
    code: 0x2a,
    write: (out, ids) => out.varints(ids),
    read: (input) => [input.varints()],
    apply: (rooms, ids) => {
      for (const id of ids) {
        rooms.remove(rooms.known(id));
        if (rooms.listenersIn !== null) rooms.heard.push({ kind: 'gone', room: id });
      }
    },
    inverse: (rooms, ids) => {
      const removed = ids.map((id) => rooms.known(id));
      return () => {
        for (const room of removed.toReversed()) rooms.revive(room);
      };
    },
    cost: (_, ids) => NS_PER_GONE_ROOM * ids.length,
    counts: (_, { length }) => ['rooms', length],
  }),
  /** The name must be free; null for none. */
  NAME: effect<Rooms, [id: number, name: string | null]>({
    code: 0x2b,
    write: (out, id, name) => {
      out.varint(id);
      out.text(name ?? '');
    },
    read: (input) => [input.varint(), input.text() || null],
    apply: (rooms, id, name) => rooms.rename(rooms.known(id), name),
    inverse: (rooms, id) => {
      const room = rooms.known(id);
      const { name } = room;
      return () => rooms.rename(room, name);
    },
    cost: () => NS_PER_NAME,
    counts: one('rooms'),
  }),
  /** Events, which alter no state. */
  EVENTS: committedEffect<Rooms, [events: Uint8Array]>({
    code: 0x2c,
    write: (out, events) => out.blob(events),
    read: (input) => [input.blobView()],
    apply: (rooms, events) => {
      // Most nodes have nobody who listens, and what is not decoded costs nothing.
      if (rooms.listenersIn !== null) rooms.heard.push(...readEvents(events.slice()));
    },
  }),
};

/** Gives a stored room a name in a query. The name must be free. */
export function nameRoom(rooms: Rooms, transaction: Transaction, room: Room, name: string | null): void {
  if (room.name !== name) perform(transaction, RoomEffect.NAME, rooms, room.id, name);
}
