/** Sockets of browsers, for rooms and for calls over WebSocket. */
import type { Dial } from '../socket/session.js';
import { openWebSocket, standardWebSocket } from '../socket/websocket.js';

export { RoomHub } from '../rooms/room-hub.js';
export { SocketTransport } from '../transport/socket-transport.js';

/** Opens `/@ws` of a node. */
export const dialWebSocket: Dial = async ({ url }, signal) => {
  const Socket = standardWebSocket();
  if (Socket === null) throw new Error('this platform has no WebSocket');
  return openWebSocket(Socket, url, signal);
};
