/**
 * The queue of a connection. Frames of one callback of the event loop leave in one write. Bulk frames leave
 * in pieces, only as fast as they are taken, so that others need not wait for them.
 */
import type { Socket } from 'node:net';
import { FRAME_BYTES_MAX, FRAME_HEADER_BYTES, frameHeader, partHeader } from './frame.js';

/**
 * Bytes that may wait, for frames that are not bulk and for those that are. A single frame is always taken.
 */
export interface OutboxLimits {
  readonly urgentBytesMax: number;
  readonly bulkBytesMax: number;
}

/** Size of the pieces of a bulk frame, in bytes. */
const PIECE_BYTES = 64 * 1024;

/** Bulk goes on as long as fewer bytes than this wait in the socket. */
const BULK_WINDOW_BYTES = 256 * 1024;

/** Bytes below which little waits. */
const LOW_BYTES = 1024 * 1024;

/** Buffers up to this size are copied into one; a write costs more than the copy. */
const JOINED_BYTES_MAX = 16 * 1024;

export class Outbox {
  private urgent: Uint8Array[] = [];
  private urgentBytes = 0;
  private readonly bulk: BulkFrame[] = [];
  private bulkBytes = 0;
  private scheduled = false;
  private pumping = false;

  /**
   * @param isChecked whether its frames have checks
   * @param onLow is called when something was sent and little waits any more
   */
  constructor(
    private readonly socket: Socket,
    private readonly limits: OutboxLimits,
    private readonly isChecked: boolean,
    private readonly onLow: () => void,
  ) {
    socket.on('drain', () => this.sent());
  }

  /** True if nothing waits. */
  get isIdle(): boolean {
    return this.urgentBytes === 0 && this.bulkBytes === 0 && this.socket.writableLength === 0;
  }

  get waitingBytes(): number {
    return this.urgentBytes + this.bulkBytes + this.socket.writableLength;
  }

  /** Bytes of bulk frames that wait; what came before them has left, or goes before everything that comes. */
  get waitingBulkBytes(): number {
    return this.bulkBytes;
  }

  /**
   * False: there is no room. The payload must not change afterwards.
   *
   * @param sent is called when the last byte of a bulk frame has left; never, where it may not have
   */
  push(kind: number, payload: readonly Uint8Array[], bulk: boolean, sent?: () => void): boolean {
    const length = payload.reduce((sum, part) => sum + part.length, 0);
    if (length + FRAME_HEADER_BYTES > FRAME_BYTES_MAX) return false;
    if (bulk) {
      if (this.bulkBytes > 0 && this.bulkBytes + length > this.limits.bulkBytesMax) return false;
      this.bulk.push({
        kind,
        parts: payload.filter((part) => part.length > 0),
        part: 0,
        sent: 0,
        onSent: sent,
      });
      this.bulkBytes += length;
    } else {
      const waiting = this.urgentBytes + this.socket.writableLength;
      if (waiting > 0 && waiting + length > this.limits.urgentBytesMax) return false;
      this.urgent.push(frameHeader(kind, payload, this.isChecked), ...payload);
      this.urgentBytes += FRAME_HEADER_BYTES + length;
    }
    if (!this.scheduled) {
      this.scheduled = true;
      // Not in the next phase of the loop: a write of the log might hold the thread before it.
      queueMicrotask(() => this.flush());
    }
    return true;
  }

  /** Writes now what would be written at the end of the callback. */
  flush(): void {
    this.scheduled = false;
    if (this.urgent.length > 0) {
      const buffers = this.urgent;
      this.urgent = [];
      this.urgentBytes = 0;
      this.write(buffers);
    }
    if (!this.pumping) this.pump();
  }

  private write(buffers: readonly Uint8Array[]): void {
    const [first] = buffers;
    let total = 0;
    for (const { length } of buffers) total += length;
    // Little of it is one buffer anyway, which needs no more of the stream's care.
    if (total <= JOINED_BYTES_MAX && first !== undefined) {
      this.socket.write(buffers.length === 1 ? first : Buffer.concat(buffers, total));
      return;
    }
    this.socket.cork();
    let from = 0;
    let bytes = 0;
    const join = (to: number): void => {
      if (to - from === 1) this.socket.write(buffers[from]!);
      else if (to > from) this.socket.write(Buffer.concat(buffers.slice(from, to), bytes));
      from = to;
      bytes = 0;
    };
    for (const [at, buffer] of buffers.entries()) {
      if (bytes > 0 && bytes + buffer.length > JOINED_BYTES_MAX) join(at);
      bytes += buffer.length;
    }
    join(buffers.length);
    this.socket.uncork();
  }

  private sendMore(): void {
    this.pump();
    this.sent();
  }

  private sent(): void {
    if (this.waitingBytes < LOW_BYTES) this.onLow();
  }

  private pump(): void {
    this.pumping = false;
    if (this.bulk.length === 0) return;
    // As many pieces as the window takes leave in one write.
    this.socket.cork();
    this.writePieces();
    this.socket.uncork();
  }

  private writePieces(): void {
    while (this.bulk.length > 0 && this.socket.writable) {
      const frame = this.bulk[0]!;
      const part = frame.parts[frame.part] ?? NOTHING;
      const piece = part.subarray(frame.sent, frame.sent + PIECE_BYTES);
      frame.sent += piece.length;
      this.bulkBytes -= piece.length;
      if (frame.sent === part.length) {
        frame.part += 1;
        frame.sent = 0;
      }
      const last = frame.part >= frame.parts.length;
      if (last) this.bulk.shift();
      this.socket.write(partHeader(frame.kind, piece, last, this.isChecked));
      const full = this.socket.writableLength + piece.length >= BULK_WINDOW_BYTES;
      const onSent = last ? frame.onSent : undefined;
      const isWaitedFor = full || onSent !== undefined;
      const written = (error?: Error | null): void => {
        if (!error) onSent?.();
        if (full) this.sendMore();
      };
      this.socket.write(piece, isWaitedFor ? written : undefined);
      if (full) {
        this.pumping = true;
        return;
      }
    }
  }
}

interface BulkFrame {
  readonly kind: number;
  /** None of them is empty; without any it is an empty frame. */
  readonly parts: readonly Uint8Array[];
  /** The one that is being sent, and how much of it has been. */
  part: number;
  sent: number;
  readonly onSent: (() => void) | undefined;
}

const NOTHING = new Uint8Array(0);
