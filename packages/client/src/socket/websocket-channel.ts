import { createHash, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { PackageChannel } from './connection.js';
import { openStream, type SocketPlace } from './tcp.js';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const BINARY = 2;
const CLOSE = 8;

interface OpeningOptions {
  /** The header of that name. */
  readonly host?: string;
  /** Gives it up while there is no connection. */
  readonly signal?: AbortSignal;
}

/**
 * Packages in the messages of a WebSocket (RFC 6455), for programs on Node.js: one in each message. Pings of the node are
 * not answered, since it sends none.
 */
export class WebSocketChannel implements PackageChannel {
  private readonly socket: Socket;
  private rest: Buffer;
  private received: (bytes: Uint8Array) => void = () => {};

  /**
   * @param path of the request, as `/@ws`
   * @throws Error when the node does not go on as a WebSocket
   */
  static async open(
    place: SocketPlace,
    path = '/',
    headers: readonly string[] = [],
    { host = 'host' in place ? place.host : 'localhost', signal }: OpeningOptions = {},
  ): Promise<WebSocketChannel> {
    const socket = await openStream(place, signal);
    const key = randomBytes(16).toString('base64');
    const lines = [
      `GET ${path} HTTP/1.1`,
      `Host: ${host}`,
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Key: ${key}`,
      'Sec-WebSocket-Version: 13',
      ...headers,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    const { head, rest } = await headOf(socket);
    const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64');
    if (!head.startsWith('HTTP/1.1 101 ') || !head.includes(accept)) {
      socket.destroy();
      throw new Error(`the node does not go on as a WebSocket: ${head}`);
    }
    return new WebSocketChannel(socket, rest);
  }

  private constructor(socket: Socket, rest: Buffer) {
    this.socket = socket;
    this.rest = rest;
  }

  send(bytes: Uint8Array): void {
    this.socket.write(clientFrame(BINARY, bytes));
  }

  listen(received: (bytes: Uint8Array) => void, ended: (error: Error) => void): void {
    this.received = received;
    let failure = new Error('the connection has ended');
    this.socket.on('data', (bytes: Buffer) => this.take(bytes));
    this.socket.on('error', (error) => {
      failure = error;
    });
    this.socket.once('close', () => ended(failure));
    this.socket.resume();
    this.take(Buffer.alloc(0));
  }

  close(): void {
    this.socket.end(clientFrame(CLOSE, Buffer.of(0x03, 0xe8)));
  }

  private take(bytes: Buffer): void {
    this.rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    for (;;) {
      const frame = serverFrame(this.rest);
      if (frame === null) return;
      this.rest = this.rest.subarray(frame.end);
      if (frame.opcode <= BINARY) this.received(frame.payload);
    }
  }
}

/** A whole frame of a client. */
export function clientFrame(opcode: number, payload: Uint8Array, isLast = true): Buffer {
  const { length } = payload;
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = Buffer.alloc(6 + extra + length);
  frame[0] = (isLast ? 0x80 : 0) | opcode;
  frame[1] = 0x80 | (extra === 0 ? length : extra === 2 ? 126 : 127);
  if (extra === 2) frame.writeUInt16BE(length, 2);
  if (extra === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  frame.set(mask, 2 + extra);
  for (let i = 0; i < length; i++) frame[6 + extra + i] = (payload[i] ?? 0) ^ (mask[i & 3] ?? 0);
  return frame;
}

/** The frame of a server that bytes begin with; null when it is not complete. */
export function serverFrame(
  bytes: Buffer,
): { readonly opcode: number; readonly payload: Buffer; readonly end: number } | null {
  if (bytes.length < 2) return null;
  const short = bytes.readUInt8(1) & 0x7f;
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < start) return null;
  const length =
    short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const end = start + length;
  if (bytes.length < end) return null;
  return { opcode: bytes.readUInt8(0) & 0x0f, payload: bytes.subarray(start, end), end };
}

/** The head of the answer to a handshake, and what came behind it. */
function headOf(socket: Socket): Promise<{ readonly head: string; readonly rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const failed = (): void => reject(new Error(`the node answered: ${bytes.toString('latin1')}`));
    const take = (more: Buffer): void => {
      bytes = Buffer.concat([bytes, more]);
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', take);
      socket.off('close', failed);
      socket.pause();
      resolve({ head: bytes.subarray(0, end).toString('latin1'), rest: bytes.subarray(end + 4) });
    };
    socket.on('data', take);
    socket.on('error', failed);
    socket.once('close', failed);
  });
}
