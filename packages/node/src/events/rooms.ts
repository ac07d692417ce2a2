import {
  badDataError,
  type Engine,
  type RoomKey as EngineKey,
  List,
  MsgpackReader,
  nodeError,
  Privilege,
  type QueryError,
  quotaError,
  type RoomEvent,
  type ScopeName,
  ShapeTree,
  type Target,
  type User,
} from '@althing/engine';
import type { Clock } from '../base/clock.js';
import { type GroupId, ROOT_GROUP } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';
import type { Client, Reply, Request, Respond } from '../groups/request.js';
import { Hub, type HubFigures } from './hub.js';
import type { EmitRequest, Listener, RoomKey, RoomsRequest } from './listener.js';

/** Rooms that one connection may be in. */
export const ROOMS_PER_LISTENER_MAX = 10_000;

/** Memberships of all connections of a node. */
const MEMBERSHIPS_MAX = 2_000_000;

/** Attempts to join rooms that come and go meanwhile. */
const ATTEMPTS_MAX = 20;

/** Milliseconds that an answer waits at most for the events of its change, which come by another way. */
const EVENTS_WAIT_MS = 2000;

export interface RoomsOptions {
  readonly engine: Engine;
  readonly nodeId: number;
  readonly incarnation: number;
  /** Runs a request; see `Router.handle`. */
  readonly handle: (request: Request, respond: Respond) => void;
  readonly session: (target: Target) => GroupSession | undefined;
  readonly clock: Pick<Clock, 'after'>;
}

/**
 * The rooms of a node as its connections use them: they join, leave, and tell each other of events. Who is in a room is known to the
 * node of the connection alone; events come with the log, so that all nodes tell their listeners the same.
 */
export class Rooms {
  private readonly hub: Hub;
  /** Connections that are over. */
  private readonly ended = new WeakSet<Listener>();
  /** Changes of the root scope up to which memberships were checked. */
  private checkedChange = -1;

  constructor(private readonly options: RoomsOptions) {
    const { engine, nodeId, incarnation } = options;
    const { root } = engine;
    this.hub = new Hub({
      nodeId,
      incarnation,
      nameOf: (collection) => root.collections.get(collection)?.name,
      // Nobody is put out for rights that are being read from a snapshot; it is looked at again behind that.
      mayJoin: (collection, userId) =>
        root.isLoading || (root.users.has(userId) && root.allows(collection, userId, Privilege.JOIN)),
      listening: (collection, isHeard) => {
        const rooms = engine.scope(collection)?.store?.rooms;
        if (rooms !== undefined)
          rooms.listenersIn = isHeard ? (room) => this.hub.listenersIn(collection, room) : null;
      },
    });
  }

  /** Connections of this node that are in a room. */
  get listeners(): number {
    return this.hub.figures.listeners;
  }

  get figures(): HubFigures {
    return this.hub.figures;
  }

  /**
   * Lets a connection join rooms: all that there are and that it may join, or with an error none. The answer holds the id of each, or
   * nil, as an array in MessagePack; then the connection is told of each that it had not joined before.
   */
  join(request: RoomsRequest, respond: Respond): void {
    this.withRooms(request, true, respond, (collection, ids, reply) => {
      const { listener } = request;
      const missing = this.shortage(listener, ids);
      if (missing !== null) {
        respond({ ok: false, error: missing });
        return;
      }
      respond(reply);
      if (!this.ended.has(listener)) this.hub.join(listener, collection, ids);
    });
  }

  /** Lets a connection leave rooms. It is told of each that it was in, and then gets the answer, which is that of `join`. */
  leave(request: RoomsRequest, respond: Respond): void {
    this.withRooms(request, false, respond, (collection, ids, reply) => {
      this.hub.leave(request.listener, collection, ids);
      respond(reply);
    });
  }

  /**
   * Tells all in a room of an event, or all but one connection. It is a change like others, so it goes to the leader, and the answer
   * comes when it is committed, behind the event where the connection gets it.
   */
  emit(request: EmitRequest, respond: Respond): void {
    const { scope, user, room, event, args, except, client, id, listener } = request;
    if (event === undefined || room === undefined || (typeof room !== 'string' && room < 0)) {
      this.refuse(
        request,
        'an event is sent with [scope, room, event, ...args]: a room by id or name, and a str',
        respond,
      );
      return;
    }
    const { nodeId: node, incarnation: start } = this.options;
    const sender = except === null ? null : { node, start, connection: except.id };
    const body = { type: 'emit', room, event, args, except: sender } as const;
    const named = id === undefined ? {} : { id };
    this.options.handle({ scope, user, body, format: 'msgpack', client, ...named }, (reply) =>
      this.answer(listener ?? except, scope, reply, respond),
    );
  }

  /**
   * Gives the answer to a request of a connection, behind the events that its change brings to it: an answer that came from another
   * node may be faster than the log. To be called with the answers to all requests of a connection that is in rooms.
   */
  answer(listener: Listener | null, scope: ScopeName, reply: Reply, respond: Respond): void {
    const collection = this.collectionOf(scope);
    const session = collection === undefined ? undefined : this.options.session(collection);
    const { index = 0 } = reply;
    if (
      listener === null ||
      collection === undefined ||
      session === undefined ||
      session.appliedIndex >= index ||
      !this.hub.isIn(listener, collection)
    ) {
      respond(reply);
      return;
    }
    let isOver = false;
    const done = (): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      respond(reply);
    };
    const cancel = this.options.clock.after(EVENTS_WAIT_MS, done);
    session.whenApplied(index, done);
  }

  /** A connection ended: it leaves all rooms, silently. */
  end(listener: Listener): void {
    this.ended.add(listener);
    this.hub.end(listener);
  }

  /** The login of a connection has ended: it is out of all rooms, and told so. */
  loggedOut(listener: Listener): void {
    this.hub.expel(listener);
  }

  /** A connection has another user than before, who may not be allowed to be in all of its rooms. */
  userChanged(): void {
    this.hub.recheck();
  }

  /** The state of the root scope may be another one: users, privileges, names of collections. */
  rootChanged(): void {
    const { changeCount } = this.options.engine.root;
    if (changeCount === this.checkedChange) return;
    this.checkedChange = changeCount;
    this.hub.recheck();
  }

  /** Something happened in the rooms of a group; it is committed. */
  told({ id }: GroupSession, events: readonly RoomEvent[]): void {
    this.hub.tellAll(id, events);
  }

  /** The state of a group was replaced by that of a snapshot. */
  replaced(group: GroupId): void {
    if (group === ROOT_GROUP) this.hub.recheck();
    else this.hub.missed(group);
  }

  deleted(collection: GroupId): void {
    this.hub.collectionGone(collection);
  }

  /** Finds rooms in a state that holds all that was acknowledged, and does something with those that there are. */
  private withRooms(
    request: RoomsRequest,
    checksWhitelist: boolean,
    respond: Respond,
    then: (collection: GroupId, ids: readonly number[], reply: Reply) => void,
  ): void {
    const rooms = request.rooms.filter(isKey);
    if (rooms.length < request.rooms.length) {
      this.refuse(request, 'a room is an int or a str', respond);
      return;
    }
    this.find(request, rooms, checksWhitelist, respond, then, 1);
  }

  private find(
    request: RoomsRequest,
    rooms: readonly EngineKey[],
    checksWhitelist: boolean,
    respond: Respond,
    then: (collection: GroupId, ids: readonly number[], reply: Reply) => void,
    attempt: number,
  ): void {
    const { root } = this.options.engine;
    const version = root.accessVersion;
    this.ask(request, rooms, checksWhitelist, (reply) => {
      if (!reply.ok) {
        respond(reply);
        return;
      }
      const ids = idsOf(reply.result);
      const collection = this.collectionOf(request.scope);
      // Whitelists take time to be looked at, and are asked again only where one may have changed.
      const isSameList =
        !checksWhitelist ||
        version === root.accessVersion ||
        root.whitelists.of(request.user.id, 'rooms') === undefined;
      if (collection !== undefined && isSameList && this.areThere(collection, request.user, rooms, ids)) {
        then(
          collection,
          ids.filter((id) => id !== null),
          reply,
        );
      } else if (attempt < ATTEMPTS_MAX) {
        // The read is committed, and the state was changed since: the next attempt waits for that.
        this.find(request, rooms, checksWhitelist, respond, then, attempt + 1);
      } else {
        respond({ ok: false, error: RESTLESS });
      }
    });
  }

  private ask(
    { scope, user, client }: { readonly scope: ScopeName; readonly user: User; readonly client: Client },
    rooms: readonly EngineKey[],
    checksWhitelist: boolean,
    respond: Respond,
  ): void {
    const body = { type: 'find_rooms', rooms, checksWhitelist } as const;
    this.options.handle({ scope, user, body, format: 'msgpack', client }, respond);
  }

  /** Refuses what has the wrong form, unless there is something else to be said before. */
  private refuse(
    request: { readonly scope: ScopeName; readonly user: User; readonly client: Client },
    why: string,
    respond: Respond,
  ): void {
    const error = badDataError(why);
    this.ask(request, [], false, (reply) => respond(reply.ok ? { ok: false, error } : reply));
  }

  /** True if rooms are still what they were when they were found, and the user may still be there. */
  private areThere(
    collection: GroupId,
    user: User,
    keys: readonly EngineKey[],
    ids: readonly (number | null)[],
  ): boolean {
    const { engine } = this.options;
    if (!engine.root.allows(collection, user.id, Privilege.JOIN)) return false;
    const rooms = engine.scope(collection)?.store?.rooms;
    return keys.every((key, i) => {
      const id = ids[i] ?? null;
      if (id === null) return true;
      const room = rooms?.byId.get(id);
      return room !== undefined && room.refs > 0 && (typeof key !== 'string' || room.name === key);
    });
  }

  /** Why a connection can't be in so many more rooms; null when it can. */
  private shortage(listener: Listener, ids: readonly number[]): QueryError | null {
    if (this.hub.roomsOf(listener) + ids.length > ROOMS_PER_LISTENER_MAX) {
      return quotaError(
        `a connection is in ${ROOMS_PER_LISTENER_MAX} rooms at most: leave some, or use another connection`,
      );
    }
    if (this.hub.size + ids.length > MEMBERSHIPS_MAX) {
      return quotaError(
        `the connections of a node are in ${MEMBERSHIPS_MAX} rooms at most: use another node`,
      );
    }
    return null;
  }

  private collectionOf(scope: ScopeName): GroupId | undefined {
    if (scope.kind !== 'collection') return undefined;
    return this.options.engine.root.collectionsByName.get(scope.name)?.id;
  }
}

function isKey(key: RoomKey): key is EngineKey {
  return key !== undefined;
}

/** The answer of the engine: an array of ids and nils. */
function idsOf(result: string | Uint8Array): (number | null)[] {
  if (typeof result === 'string') throw new Error('rooms are found in MessagePack');
  const value = new MsgpackReader(Buffer.from(result), new ShapeTree(), 2).value();
  if (!(value instanceof List)) throw new Error('rooms are found as a list');
  return value.items.map((id) => (typeof id === 'number' ? id : null));
}

const RESTLESS = nodeError('the rooms came and went faster than they could be joined: try again');
