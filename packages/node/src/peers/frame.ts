/**
 * What goes over a connection between two nodes, in each direction: frames.
 *
 *   frame   := length:u32 kind:u8 payload        big endian; `length` counts kind and payload
 *   payload := part                              of kind Part: a large frame in pieces, so that others get between
 *   part    := last:u8 kind:u8 bytes             0 or 1; `kind` and bytes of the whole; one frame at a time is in pieces
 */

/** Kinds of frames that the transport keeps to itself; below `FIRST_OWN_KIND` they belong to its users, but for `Beat`. */
export const FrameKind = {
  /** A sign of life; with a payload, a byte 1, it says that nothing is heard of who gets it. */
  Beat: 0,
  Part: 0xf0,
  Open: 0xf1,
  Challenge: 0xf2,
  Prove: 0xf3,
  Welcome: 0xf4,
  Refused: 0xf5,
  Question: 0xf6,
  Answer: 0xf7,
} as const;

export const FIRST_OWN_KIND = 0xf0;

/** Longest frame once the other side has proved who it is, in bytes. */
export const FRAME_BYTES_MAX = 72 * 1024 * 1024;

/** Longest frame before that. */
export const GREETING_BYTES_MAX = 16 * 1024;

export const FRAME_HEADER_BYTES = 5;

const LENGTH_BYTES = 4;
const PART_HEADER_BYTES = 2;

/** Bytes that are no frames, or frames that are not allowed at this point. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** The bytes before a payload. */
export function frameHeader(kind: number, payloadLength: number): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  header.writeUInt32BE(payloadLength + 1, 0);
  header[LENGTH_BYTES] = kind;
  return header;
}

export function encodeFrame(kind: number, payload: Uint8Array): Buffer {
  return Buffer.concat([frameHeader(kind, payload.length), payload]);
}

/** The bytes before a piece of a large frame. */
export function partHeader(kind: number, pieceLength: number, last: boolean): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES + PART_HEADER_BYTES);
  header.writeUInt32BE(pieceLength + 1 + PART_HEADER_BYTES, 0);
  header[LENGTH_BYTES] = FrameKind.Part;
  header[FRAME_HEADER_BYTES] = last ? 1 : 0;
  header[FRAME_HEADER_BYTES + 1] = kind;
  return header;
}

/**
 * Cuts a stream of bytes into frames. Holds what came and never more, whatever length a frame claims. Payloads are
 * views of the bytes that came where that is possible.
 */
export class FrameReader {
  /** Longest frame that is taken. */
  bytesMax = GREETING_BYTES_MAX;
  private readonly onFrame: (kind: number, payload: Buffer) => void;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private neededBytes = LENGTH_BYTES;
  private stopped = false;

  constructor(onFrame: (kind: number, payload: Buffer) => void) {
    this.onFrame = onFrame;
  }

  /** @throws FrameError: the connection is of no use any more */
  push(chunk: Buffer): void {
    if (this.stopped) return;
    let bytes = chunk;
    if (this.waitingBytes > 0) {
      this.waiting.push(chunk);
      this.waitingBytes += chunk.length;
      if (this.waitingBytes < this.neededBytes) return;
      bytes = Buffer.concat(this.waiting, this.waitingBytes);
      this.waiting = [];
      this.waitingBytes = 0;
    }
    const rest = this.readFrames(bytes);
    if (rest.length === 0 || this.stopped) return;
    this.waiting = [rest];
    this.waitingBytes = rest.length;
  }

  /** Nothing is read any more, not even what is here already. */
  stop(): void {
    this.stopped = true;
    this.waiting = [];
    this.waitingBytes = 0;
  }

  private readFrames(bytes: Buffer): Buffer {
    let at = 0;
    while (!this.stopped) {
      const left = bytes.length - at;
      this.neededBytes = LENGTH_BYTES;
      if (left < LENGTH_BYTES) break;
      const length = bytes.readUInt32BE(at);
      if (length === 0) throw new FrameError('a frame without a kind');
      if (length > this.bytesMax)
        throw new FrameError(`a frame of ${length} bytes; allowed are ${this.bytesMax}`);
      this.neededBytes = LENGTH_BYTES + length;
      if (left < this.neededBytes) break;
      const payload = bytes.subarray(at + FRAME_HEADER_BYTES, at + this.neededBytes);
      const kind = bytes[at + LENGTH_BYTES]!;
      at += this.neededBytes;
      this.onFrame(kind, payload);
    }
    return bytes.subarray(at);
  }
}

/** Puts the pieces of a large frame together again. */
export class PartReader {
  private parts: Buffer[] = [];
  private bytes = 0;
  private kind = 0;

  /**
   * The whole frame, when this was its last piece.
   *
   * @throws FrameError
   */
  push(payload: Buffer): { readonly kind: number; readonly payload: Buffer } | null {
    const last = payload[0];
    const kind = payload[1];
    if (last === undefined || kind === undefined || last > 1)
      throw new FrameError('a piece of a frame without its head');
    if (kind >= FIRST_OWN_KIND) throw new FrameError(`frames of kind ${kind} do not come in pieces`);
    if (this.bytes > 0 && kind !== this.kind) throw new FrameError('pieces of two frames are mixed up');
    this.kind = kind;
    this.bytes += payload.length;
    if (this.bytes > FRAME_BYTES_MAX)
      throw new FrameError(`a frame in pieces of more than ${FRAME_BYTES_MAX} bytes`);
    this.parts.push(payload.subarray(PART_HEADER_BYTES));
    if (last === 0) return null;
    const whole = Buffer.concat(this.parts);
    this.parts = [];
    this.bytes = 0;
    return { kind, payload: whole };
  }
}
