/** The packages JOIN, LEAVE, EMIT and EMIT_PEER as requests about rooms. */
import type { User } from '@althing/engine';
import { decodeEmit, decodeRooms } from '../../events/bodies.js';
import type { Listener } from '../../events/listener.js';
import type { Rooms } from '../../events/rooms.js';
import type { Client, Respond } from '../../groups/request.js';
import { PackageType } from './package.js';
import { scopeOf } from './requests.js';

export interface RoomPackage {
  readonly type: number;
  readonly data: Buffer;
  readonly user: User;
  readonly connection: Listener & Client;
  /** The name of the request in logs. */
  readonly id: string;
}

/** @throws QueryError for data that are none of such a package */
export function sendRoomRequest(
  rooms: Pick<Rooms, 'join' | 'leave' | 'emit'>,
  { type, data, user, connection, id }: RoomPackage,
  respond: Respond,
): void {
  const own = { user, listener: connection, client: connection };
  if (type === PackageType.EMIT || type === PackageType.EMIT_PEER) {
    const { scope, ...emitted } = decodeEmit(data);
    const except = type === PackageType.EMIT_PEER ? connection : null;
    rooms.emit({ ...emitted, ...own, scope: scopeOf(scope), id, except }, respond);
    return;
  }
  const { scope, rooms: named } = decodeRooms(data);
  const request = { ...own, scope: scopeOf(scope), rooms: named };
  if (type === PackageType.JOIN) rooms.join(request, respond);
  else rooms.leave(request, respond);
}
