import { getOrInsertComputed, MsgpackWriter, type RoomEvent, type Sender } from '@althing/engine';
import type { GroupId } from '../between/protocol.js';
import { type Listener, Push } from './listener.js';

export interface HubOptions {
  /** The node and its start: by them its connections are told from those of others. */
  readonly nodeId: number;
  readonly incarnation: number;
  /** The present name of a collection; undefined for one that is gone. */
  readonly nameOf: (collection: GroupId) => string | undefined;
  readonly mayJoin: (collection: GroupId, userId: number) => boolean;
  /** Says whether anybody listens to a collection, so that what nobody hears need not be decoded. */
  readonly listening: (collection: GroupId, isHeard: boolean) => void;
}

/** Counts since the start. */
export interface HubFigures {
  /** Connections that are in a room, and rooms that they are in, each counted once for each of them. */
  readonly listeners: number;
  readonly memberships: number;
  /** Pushes to clients by their kind, each counted once for each client. */
  readonly pushed: Readonly<Record<'join' | 'leave' | 'emit' | 'delete', number>>;
  /** Memberships that ended by themselves: because the user lost the privilege or its login ended, or the node missed what happened. */
  readonly ended: Readonly<Record<'revoked' | 'gap', number>>;
}

/** The listeners of one collection. */
interface Audience {
  /** `@collection:NAME`. */
  scope: string;
  readonly rooms: Map<number, Set<Listener>>;
}

/**
 * The rooms that listeners of this node are in, and the events for them. Events come in the order of the log, from all nodes the same;
 * each event is encoded once for all.
 */
export class Hub {
  private readonly audiences = new Map<GroupId, Audience>();
  /** The rooms that each listener is in, by collection. */
  private readonly joined = new Map<Listener, Map<GroupId, Set<number>>>();
  private memberships = 0;
  private readonly pushed = { join: 0, leave: 0, emit: 0, delete: 0 };
  private readonly ended = { revoked: 0, gap: 0 };

  constructor(private readonly options: HubOptions) {}

  get figures(): HubFigures {
    const { memberships, pushed, ended } = this;
    return { listeners: this.joined.size, memberships, pushed: { ...pushed }, ended: { ...ended } };
  }

  /** Rooms of all listeners, each counted once for each of them. */
  get size(): number {
    return this.memberships;
  }

  listenersIn(collection: GroupId, room: number): number {
    return this.audiences.get(collection)?.rooms.get(room)?.size ?? 0;
  }

  roomsOf(listener: Listener): number {
    let count = 0;
    for (const rooms of this.joined.get(listener)?.values() ?? []) count += rooms.size;
    return count;
  }

  isIn(listener: Listener, collection: GroupId): boolean {
    return this.joined.get(listener)?.has(collection) === true;
  }

  /** Lets a listener be in rooms, and tells it of those that are new to it. */
  join(listener: Listener, collection: GroupId, rooms: readonly number[]): void {
    for (const room of rooms)
      if (this.add(listener, collection, room)) this.tell(listener, collection, 'join', room);
  }

  leave(listener: Listener, collection: GroupId, rooms: readonly number[]): void {
    for (const room of rooms) {
      if (this.joined.get(listener)?.get(collection)?.has(room) !== true) continue;
      this.tell(listener, collection, 'leave', room);
      this.remove(listener, collection, room);
    }
  }

  end(listener: Listener): void {
    for (const collection of [...(this.joined.get(listener)?.keys() ?? [])])
      this.removeAll(listener, collection);
  }

  /** Tells those who are in rooms of a collection what happened, in this order. */
  tellAll(collection: GroupId, events: readonly RoomEvent[]): void {
    const audience = this.audiences.get(collection);
    if (audience === undefined) return;
    for (const event of events) {
      const listeners = audience.rooms.get(event.room);
      if (listeners === undefined) continue;
      if (event.kind === 'gone') {
        this.close(collection, audience, event.room, listeners);
        continue;
      }
      const { room, name, args, except } = event;
      const body = emitBody(audience.scope, room, name, args);
      const own = this.connectionOf(except);
      for (const listener of listeners) {
        if (listener.id === own) continue;
        listener.push(Push.EMIT, body);
        this.pushed.emit += 1;
      }
    }
  }

  /** A collection was deleted, with all its rooms. */
  collectionGone(collection: GroupId): void {
    const audience = this.audiences.get(collection);
    if (audience === undefined) return;
    for (const [room, listeners] of [...audience.rooms]) this.close(collection, audience, room, listeners);
  }

  /** Events of a collection were missed: listeners in its rooms must join again. */
  missed(collection: GroupId): void {
    const audience = this.audiences.get(collection);
    if (audience === undefined) return;
    const listeners = new Set([...audience.rooms.values()].flatMap((members) => [...members]));
    for (const listener of listeners) {
      this.ended.gap += this.joined.get(listener)?.get(collection)?.size ?? 0;
      this.removeAll(listener, collection);
      listener.gap(audience.scope);
    }
  }

  /** Users, privileges, or names of collections may be others than before: ends what is not allowed any more. */
  recheck(): void {
    for (const [collection, audience] of this.audiences) {
      const name = this.options.nameOf(collection);
      if (name !== undefined) audience.scope = scopeOf(name);
    }
    const allowed = new Map<string, boolean>();
    for (const [listener, collections] of this.joined) {
      const { userId } = listener;
      for (const collection of [...collections.keys()]) {
        // Listeners in rooms of a collection that is gone are told of that.
        if (this.options.nameOf(collection) === undefined) continue;
        const key = `${userId} ${collection}`;
        const may = allowed.get(key) ?? this.options.mayJoin(collection, userId);
        allowed.set(key, may);
        if (!may) this.takeOut(listener, collection);
      }
    }
  }

  /** A listener may not be in any room any more: it is told of those that it was in. */
  expel(listener: Listener): void {
    for (const collection of [...(this.joined.get(listener)?.keys() ?? [])])
      this.takeOut(listener, collection);
  }

  /** Takes a listener out of the rooms of a collection, where it may not be any more. */
  private takeOut(listener: Listener, collection: GroupId): void {
    const rooms = [...(this.joined.get(listener)?.get(collection) ?? [])];
    this.ended.revoked += rooms.length;
    this.leave(listener, collection, rooms);
  }

  /** The connection of this node that does not get an event; 0 for none. */
  private connectionOf(except: Sender | null): number {
    const { nodeId, incarnation } = this.options;
    return except !== null && except.node === nodeId && except.start === incarnation ? except.connection : 0;
  }

  private tell(listener: Listener, collection: GroupId, kind: 'join' | 'leave', room: number): void {
    const scope = this.audiences.get(collection)?.scope ?? '';
    listener.push(kind === 'join' ? Push.JOIN : Push.LEAVE, roomBody(scope, room));
    this.pushed[kind] += 1;
  }

  /** Tells all in a room that it is no more. */
  private close(
    collection: GroupId,
    { scope }: Audience,
    room: number,
    listeners: ReadonlySet<Listener>,
  ): void {
    const body = roomBody(scope, room);
    for (const listener of [...listeners]) {
      this.remove(listener, collection, room);
      listener.push(Push.DELETE, body);
      this.pushed.delete += 1;
    }
  }

  private add(listener: Listener, collection: GroupId, room: number): boolean {
    let audience = this.audiences.get(collection);
    if (audience === undefined) {
      audience = { scope: scopeOf(this.options.nameOf(collection) ?? ''), rooms: new Map() };
      this.audiences.set(collection, audience);
      this.options.listening(collection, true);
    }
    const members = getOrInsertComputed(audience.rooms, room, () => new Set<Listener>());
    if (members.has(listener)) return false;
    members.add(listener);
    const own = getOrInsertComputed(this.joined, listener, () => new Map<GroupId, Set<number>>());
    getOrInsertComputed(own, collection, () => new Set<number>()).add(room);
    this.memberships += 1;
    return true;
  }

  private remove(listener: Listener, collection: GroupId, room: number): void {
    const audience = this.audiences.get(collection);
    const members = audience?.rooms.get(room);
    if (audience === undefined || members?.delete(listener) !== true) return;
    this.memberships -= 1;
    if (members.size === 0) audience.rooms.delete(room);
    if (audience.rooms.size === 0) {
      this.audiences.delete(collection);
      this.options.listening(collection, false);
    }
    const own = this.joined.get(listener);
    const rooms = own?.get(collection);
    rooms?.delete(room);
    if (rooms?.size === 0) own?.delete(collection);
    if (own?.size === 0) this.joined.delete(listener);
  }

  private removeAll(listener: Listener, collection: GroupId): void {
    for (const room of [...(this.joined.get(listener)?.get(collection) ?? [])]) {
      this.remove(listener, collection, room);
    }
  }
}

function scopeOf(name: string): string {
  return `@collection:${name}`;
}

/** `{scope, id}` in MessagePack. */
function roomBody(scope: string, room: number): Uint8Array {
  const writer = new MsgpackWriter();
  writer.beginMap(2);
  writeRoom(writer, scope, room);
  return writer.out.take();
}

/** `{scope, id, event, args}` in MessagePack. */
function emitBody(scope: string, room: number, event: string, args: Uint8Array): Uint8Array {
  const writer = new MsgpackWriter();
  writer.beginMap(4);
  writeRoom(writer, scope, room);
  writer.key('event');
  writer.str(event);
  writer.key('args');
  writer.packed(args);
  return writer.out.take();
}

function writeRoom(writer: MsgpackWriter, scope: string, room: number): void {
  writer.key('scope');
  writer.str(scope);
  writer.key('id');
  writer.int(room);
}
