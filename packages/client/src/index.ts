/**
 * The client of Althing, for Node.js.
 *
 * @example
 * import { connect } from '@althing/client';
 *
 * const db = connect('http://127.0.0.1:9210', { token });
 * const adults = await db.stuff.query`.guests.filter(|g| g.age >= ${18})`;
 * await db.stuff.procs.add_guest('Ann', 31);
 * await db.$close();
 */
export { connect } from './connect/node.js';
export * from './public.js';
export type { PackageChannel, SocketEvent } from './socket/connection.js';
/** The native protocol by hand: for tests and tools. */
export { type Package, PackageDecoder, PackageType } from './socket/package.js';
export { encodePackage, SocketClient, SocketError, type SocketOptions } from './socket/socket-client.js';
export { openStream, type SocketPlace, StreamChannel } from './socket/tcp.js';
export { clientFrame, serverFrame, WebSocketChannel } from './socket/websocket-channel.js';
