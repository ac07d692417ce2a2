import type { Socket } from 'node:net';
import { backgroundClock, type Clock } from '../../base/clock.js';
import type { Transport } from '../../telemetry/families.js';
import { HEADER_BYTES, writeHeader } from './package.js';
import type { Wire } from './wire.js';
import { SLICE_BYTES, type WritePacer } from './write-pacer.js';

/** The way in which packages are told from each other on the way to the client. */
export interface Envelope {
  /** Bytes in front of a package of so many bytes. */
  size(bytes: number): number;
  /** Writes them to a place in a buffer that has room for them. */
  write(out: Buffer, at: number, bytes: number): void;
  /** The last bytes of a connection; null for none. */
  readonly farewell: Uint8Array | null;
  /** True if packages are messages of a WebSocket. */
  readonly isWebSocket: boolean;
}

/** Packages that follow each other. */
export const NO_ENVELOPE: Envelope = { size: () => 0, write: () => {}, farewell: null, isWebSocket: false };

/** The address of a client on a Unix socket. */
export const UNIX_ADDRESS = 'local';

/** Bytes that wait to be sent before nothing more is read from the client. */
export const UNSENT_MAX = 256 * 1024;

/** Data up to this size are copied behind their header, and sent with what else there is; others are not. */
const COPIED_MAX = 512;

/** Size of what is collected before it is handed to the system. */
const BATCH_BYTES = 1024;

const NO_BYTES = new Uint8Array();

/** Time for a connection that was ended to take what was sent, in milliseconds. */
export const LAST_WORDS_MS = 2000;

/**
 * A connection of Node.js. What is sent in one turn of the event loop leaves in one piece, unless it is long: then slice by slice, each
 * when the one before was taken, so that neither the time of others nor memory goes to who does not read.
 */
export class SocketWire implements Wire {
  readonly transport: Transport;
  private batch: Buffer | null = null;
  /** Where what was collected in the batch begins and ends. */
  private batchStart = 0;
  private batchEnd = 0;
  private parts: Uint8Array[] = [];
  private partBytes = 0;
  private isScheduled = false;
  private isEnding = false;
  /** True if a part of what is handed over was handed over already. */
  private isSliced = false;
  /** True if the next slice waits for its turn. */
  private isPaced = false;
  private readonly flushLater = (): void => {
    this.isScheduled = false;
    this.flush();
  };
  private readonly pumpInTurn = (): void => {
    this.isPaced = false;
    this.pump();
    this.written();
  };
  private readonly written = (): void => {
    if (this.unsent === 0) this.onDrained();
  };

  /** Called when what waited to be sent was taken. */
  onDrained: () => void = () => {};

  /** @param onFull called when the client takes less than is sent */
  constructor(
    private readonly socket: Socket,
    readonly address: string,
    private readonly onFull: () => void,
    private readonly pacer: WritePacer,
    private readonly envelope: Envelope = NO_ENVELOPE,
    private readonly after: Clock['after'] = backgroundClock.after,
  ) {
    this.transport = transportOf(address, envelope);
    socket.on('drain', () => {
      this.pump();
      this.onDrained();
    });
  }

  /** Bytes that the system took so far. */
  get sent(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }

  get unsent(): number {
    return this.socket.writableLength + this.partBytes + this.batchEnd - this.batchStart;
  }

  get isEnded(): boolean {
    return this.isEnding;
  }

  send(type: number, id: number, data: Uint8Array | null): void {
    if (this.isEnding) return;
    const length = data === null ? 0 : data.length;
    const around = this.envelope.size(HEADER_BYTES + length);
    const isCopied = length <= COPIED_MAX;
    const batch = this.room(around + HEADER_BYTES + (isCopied ? length : 0));
    this.envelope.write(batch, this.batchEnd, HEADER_BYTES + length);
    this.batchEnd += around;
    writeHeader(batch, this.batchEnd, type, id, length);
    this.batchEnd += HEADER_BYTES;
    if (data !== null) {
      if (isCopied) {
        batch.set(data, this.batchEnd);
        this.batchEnd += length;
      } else {
        this.cut();
        this.parts.push(data);
        this.partBytes += length;
      }
    }
    this.schedule();
  }

  /** Sends bytes that are no package. */
  sendRaw(bytes: Uint8Array): void {
    if (this.isEnding) return;
    this.cut();
    this.parts.push(bytes);
    this.partBytes += bytes.length;
    this.schedule();
  }

  /** Hands over what was collected. */
  flush(): void {
    this.cut();
    // An idle connection keeps no memory.
    this.batch = null;
    this.batchStart = 0;
    this.batchEnd = 0;
    this.pump();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** @param farewell what is said at last */
  end(farewell: Uint8Array | null = this.envelope.farewell): void {
    if (this.isEnding) return;
    if (farewell !== null) this.sendRaw(farewell);
    this.isEnding = true;
    this.flush();
    const { socket } = this;
    // Bytes that were not read would make the system cut off what was sent.
    socket.removeAllListeners('data');
    socket.on('data', () => {});
    socket.resume();
    socket.once(
      'close',
      this.after(LAST_WORDS_MS, () => socket.destroy()),
    );
  }

  destroy(): void {
    this.isEnding = true;
    this.drop();
    this.socket.destroy();
  }

  /** Hands over what was collected, as far as it is taken in this turn; the rest follows. */
  private pump(): void {
    const { socket, pacer } = this;
    if (socket.destroyed) this.drop();
    while (this.parts.length > 0 && !this.isPaced && !socket.writableNeedDrain) {
      if (pacer.takes(Math.min(this.partBytes, SLICE_BYTES))) this.writeSlice();
      else {
        this.isPaced = true;
        pacer.later(this.pumpInTurn);
      }
    }
    if (this.parts.length === 0 && this.isEnding && !socket.writableEnded) socket.end();
  }

  private writeSlice(): void {
    const { socket } = this;
    const isLast = this.partBytes <= SLICE_BYTES;
    const parts = isLast ? this.parts.splice(0) : this.takeSlice();
    if (parts.length > 1) socket.cork();
    for (const part of parts) {
      this.partBytes -= part.length;
      socket.write(part);
    }
    // A short rest of what was long is not followed by 'drain'.
    if (isLast && this.isSliced) socket.write(NO_BYTES, this.written);
    this.isSliced = !isLast;
    if (parts.length > 1) socket.uncork();
    if (socket.writableNeedDrain) this.onFull();
  }

  private takeSlice(): Uint8Array[] {
    const slice: Uint8Array[] = [];
    let left = SLICE_BYTES;
    for (let part = this.parts[0]; part !== undefined && left > 0; part = this.parts[0]) {
      if (part.length <= left) this.parts.shift();
      else this.parts[0] = part.subarray(left);
      slice.push(part.subarray(0, left));
      left -= Math.min(left, part.length);
    }
    return slice;
  }

  private drop(): void {
    this.parts = [];
    this.partBytes = 0;
  }

  /** A batch with room for so many bytes, at `batchEnd`. */
  private room(bytes: number): Buffer {
    if (this.batch !== null && this.batch.length - this.batchEnd >= bytes) return this.batch;
    this.cut();
    this.batch = Buffer.allocUnsafe(Math.max(bytes, BATCH_BYTES));
    this.batchStart = 0;
    this.batchEnd = 0;
    return this.batch;
  }

  /** The bytes that were collected in the batch become a part of their own. */
  private cut(): void {
    if (this.batch === null || this.batchEnd === this.batchStart) return;
    this.parts.push(this.batch.subarray(this.batchStart, this.batchEnd));
    this.partBytes += this.batchEnd - this.batchStart;
    this.batchStart = this.batchEnd;
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    process.nextTick(this.flushLater);
  }
}

function transportOf(address: string, { isWebSocket }: Envelope): Transport {
  if (isWebSocket) return 'websocket';
  return address === UNIX_ADDRESS ? 'unix' : 'tcp';
}
