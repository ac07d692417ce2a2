/** The exact form of values on the wire, in both formats. */
export { floatText, parseJson, stringifyJson } from './json.js';
export { decodeMessagePack, encodeMessagePack } from './msgpack.js';
export { showValue } from './show.js';
export { encodePackage, type Package, PackageDecoder, PackageType } from './socket/package.js';
export {
  openStream,
  type PackageChannel,
  SocketClient,
  SocketError,
  type SocketEvent,
  type SocketOptions,
  type SocketPlace,
} from './socket/socket-client.js';
export { clientFrame, serverFrame, WebSocketChannel } from './socket/websocket-channel.js';
export { isWireBytes, isWireList, isWireMap, WireError, type WireValue, wireMap } from './value.js';
