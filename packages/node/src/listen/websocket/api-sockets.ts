/**
 * WebSockets on the port of the HTTP API, which uWebSockets.js reads. It hands over whole messages and can't be told to
 * read no more, so messages are shorter here than elsewhere, and too many that wait are refused.
 */
import type { WebSocket } from 'uWebSockets.js';
import { networkOf } from '../../base/network-of.js';
import { NetworkCounts } from '../gate/network-counts.js';
import type { SocketData } from '../http/apps.js';
import type { ApiSockets } from '../http/options.js';
import type { NativeListener, OpenedConnection } from '../native/listener.js';
import { HEADER_BYTES, writeHeader } from '../native/package.js';
import { UNSENT_MAX } from '../native/socket-wire.js';
import type { Wire } from '../native/wire.js';
import type { WritePacer } from '../native/write-pacer.js';
import { CloseCode } from './frames.js';
import { subprotocolOf } from './handshake.js';
import { MessagePackage } from './messages.js';

/** Bytes of a message: this much may lie here for each client before it has logged in. */
export const API_MESSAGE_BYTES_MAX = 1024 * 1024;

/** Bytes that may wait to be sent, besides one answer. */
const UNSENT_BESIDES = 8 * 1024 * 1024;

/** Connections that have not logged in, in all and of one network: each may take the memory of a message. */
const STRANGERS_MAX = 256;
const STRANGERS_OF_NETWORK_MAX = 64;

interface Open {
  readonly opened: OpenedConnection<ApiWire>;
  readonly message: MessagePackage;
  /** It is no stranger any more. */
  readonly known: () => void;
}

/** @param answerMax bytes that an answer may have */
export function apiSockets(listener: NativeListener, answerMax: number): ApiSockets {
  const open = new WeakMap<WebSocket<SocketData>, Open>();
  const strangers = new NetworkCounts();
  return {
    maxPayloadLength: API_MESSAGE_BYTES_MAX,
    maxBackpressure: answerMax + UNSENT_BESIDES,
    closeOnBackpressureLimit: true,
    idleTimeout: 0,
    sendPingsAutomatically: false,
    subprotocolOf: (header) => {
      const protocol = subprotocolOf(header);
      return protocol === undefined ? null : (protocol ?? '');
    },
    admits: (address) =>
      strangers.all < STRANGERS_MAX && strangers.of(networkOf(address)) < STRANGERS_OF_NETWORK_MAX,
    open: (ws) => {
      const network = networkOf(ws.getUserData().address);
      let isStranger = true;
      strangers.opened(network);
      const known = (): void => {
        if (isStranger) strangers.closed(network);
        isStranger = false;
      };
      const drained = (): void => open.get(ws)?.opened.connection.drained();
      const opened = listener.take((onFull, pacer) => new ApiWire(ws, { onFull, drained, pacer }), known);
      open.set(ws, { opened, message: new MessagePackage(opened.connection), known });
    },
    message: (ws, data) => {
      // Its memory is gone after the call.
      const bytes = Buffer.from(Buffer.from(data));
      const to = open.get(ws);
      if (to === undefined) return;
      to.opened.connection.received(bytes.length);
      if (to.message.take(bytes)) return;
      to.opened.connection.unreadable();
      ws.end(CloseCode.PROTOCOL);
    },
    drain: (ws) => {
      open.get(ws)?.opened.wire.pump();
      open.get(ws)?.opened.connection.drained();
    },
    close: (ws) => {
      const gone = open.get(ws);
      if (gone === undefined) return;
      open.delete(ws);
      gone.known();
      gone.message.end();
      gone.opened.wire.close();
      gone.opened.closed();
    },
  };
}

interface ApiWireOptions {
  /** Called when the client takes less than is sent. */
  readonly onFull: () => void;
  /** Called when what waited was sent. */
  readonly drained: () => void;
  readonly pacer: WritePacer;
}

/** The wire of a socket, which must not be touched when it is closed. */
export class ApiWire implements Wire {
  readonly address: string;
  readonly transport = 'api_websocket';
  private readonly onFull: () => void;
  private readonly drained: () => void;
  private readonly pacer: WritePacer;
  private isClosed = false;
  private bytes = 0;
  /** Messages that wait for their turn, or until the client has taken others: each is copied when it is sent. */
  private waiting: Message[] = [];
  private waitingBytes = 0;
  private isPaced = false;

  constructor(
    private readonly ws: Pick<
      WebSocket<SocketData>,
      'getUserData' | 'getBufferedAmount' | 'send' | 'end' | 'close'
    >,
    { onFull, drained, pacer }: ApiWireOptions,
  ) {
    this.pacer = pacer;
    this.drained = drained;
    this.address = ws.getUserData().address;
    this.onFull = onFull;
  }

  get unsent(): number {
    return this.isClosed ? 0 : this.ws.getBufferedAmount() + this.waitingBytes;
  }

  get sent(): number {
    return this.bytes - this.unsent;
  }

  send(type: number, id: number, data: Uint8Array | null): void {
    if (this.isClosed) return;
    const bytes = HEADER_BYTES + (data === null ? 0 : data.length);
    this.bytes += bytes;
    this.waiting.push({ type, id, data, bytes });
    this.waitingBytes += bytes;
    this.pump();
    if (this.unsent > 0) this.onFull();
  }

  /** Sends what may be sent in this turn, one long message at a time. */
  pump(): void {
    for (
      let next = this.waiting[0];
      next !== undefined && !this.isPaced && !this.isClosed;
      next = this.waiting[0]
    ) {
      if (this.ws.getBufferedAmount() > UNSENT_MAX) return;
      if (!this.pacer.takes(next.bytes)) {
        this.isPaced = true;
        this.pacer.later(() => {
          this.isPaced = false;
          this.pump();
          this.drained();
        });
        return;
      }
      this.transmit(next);
    }
  }

  private transmit({ type, id, data, bytes: size }: Message): void {
    this.waiting.shift();
    this.waitingBytes -= size;
    const length = data === null ? 0 : data.length;
    const bytes = Buffer.allocUnsafe(HEADER_BYTES + length);
    writeHeader(bytes, 0, type, id, length);
    if (data !== null) bytes.set(data, HEADER_BYTES);
    this.ws.send(bytes, true);
  }

  pause(): void {
    // There is no way to: see the head of this file.
  }

  resume(): void {}

  end(): void {
    for (const message of [...this.waiting]) if (!this.isClosed) this.transmit(message);
    if (!this.isClosed) this.ws.end(CloseCode.GOING_AWAY);
  }

  destroy(): void {
    if (!this.isClosed) this.ws.close();
  }

  close(): void {
    this.isClosed = true;
    this.waiting = [];
    this.waitingBytes = 0;
  }
}

interface Message {
  readonly type: number;
  readonly id: number;
  readonly data: Uint8Array | null;
  /** In all. */
  readonly bytes: number;
}
