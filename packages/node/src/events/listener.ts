/** The interface between the rooms of a node and its connections. */
import type { ScopeName, User, WireValues } from '@althing/engine';
import type { Client } from '../groups/request.js';

/** Types of what is pushed to a client; the numbers are those of the native protocol. */
export const Push = { JOIN: 6, LEAVE: 7, EMIT: 8, DELETE: 9 } as const;

export type Push = (typeof Push)[keyof typeof Push];

/**
 * A connection that can be in rooms. Neither method may throw or wait: a connection whose client does not read what it gets ends itself,
 * and calls `Rooms.end`.
 */
export interface Listener {
  /** Unique among all connections that this start of the node has had, and above 0. */
  readonly id: number;
  /** The user that it is authenticated as now. */
  readonly userId: number;
  /**
   * Sends something to the client.
   *
   * @param body MessagePack, shared with other listeners: it must not be modified
   */
  push(type: Push, body: Uint8Array): void;
  /**
   * The listener missed events of a collection, since a snapshot took the place of entries of the log, and is in none of its rooms any
   * more. The connection must end, so that the client joins again.
   *
   * @param scope as in `@collection:stuff`
   */
  gap(scope: string): void;
}

/** A room as a request names it: by id or by name; undefined for what is neither an int nor a text. */
export type RoomKey = number | bigint | string | undefined;

/** JOIN and LEAVE. */
export interface RoomsRequest {
  readonly scope: ScopeName;
  readonly user: User;
  readonly listener: Listener;
  readonly rooms: readonly RoomKey[];
  readonly client: Client;
}

/** EMIT, and EMIT to peers. */
export interface EmitRequest {
  readonly scope: ScopeName;
  readonly user: User;
  readonly room: RoomKey;
  /** Undefined for what is no text. */
  readonly event: string | undefined;
  /** An array in MessagePack; null for none. */
  readonly args: WireValues | null;
  /** The connection that sends it; null for none that could be in a room. */
  readonly listener: Listener | null;
  /** The connection that does not get the event; null when all in the room get it. */
  readonly except: Listener | null;
  readonly client: Client;
  /** The name by which the log knows the request. */
  readonly id?: string;
}
