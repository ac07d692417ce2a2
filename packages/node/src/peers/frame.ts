/**
 * Frames: the bytes on a connection between two nodes, in each direction.
 *
 *   frame   := length:u32 kind:u8 payload        big endian; `length` counts kind and payload
 *   checked := length:u32 kind:u8 payloadCheck:u32 headCheck:u32 payload
 *                                                instead, once both sides are known, where TLS does not check what comes
 *   payload := part                              of kind Part: a large frame in pieces, so that others get between
 *   part    := last:u8 kind:u8 bytes             0 or 1; `kind` and bytes of the whole; one frame at a time is in pieces
 *
 * The checks are CRC-32 (of zlib): one of the payload, one of what comes before it in the head. The checksum
 * of TCP lets one of 65,536 damaged packets pass.
 */
import { crc32 } from 'node:zlib';

/**
 * Kinds of frames that the transport keeps to itself; below `FIRST_OWN_KIND` they belong to its users, but
 * for `Beat`.
 */
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

/** Bytes of the head of a frame with checks, which is the longer one. */
export const FRAME_HEADER_BYTES = 13;

const LENGTH_BYTES = 4;
const PLAIN_HEADER_BYTES = 5;
/** The place of the check of the head, behind what it covers. */
const HEAD_CHECK_AT = 9;
const PART_HEADER_BYTES = 2;

/** Bytes that are no frames, or frames that are not allowed at this point. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

export class DamagedFrameError extends FrameError {}

/**
 * The bytes before a payload, which is given in parts.
 *
 * @param isChecked whether it has checks
 */
export function frameHeader(kind: number, parts: readonly Uint8Array[], isChecked: boolean): Buffer {
  const header = Buffer.allocUnsafe(isChecked ? FRAME_HEADER_BYTES : PLAIN_HEADER_BYTES);
  let length = 1;
  for (const part of parts) length += part.length;
  header.writeUInt32BE(length, 0);
  header[LENGTH_BYTES] = kind;
  if (!isChecked) return header;
  let check = 0;
  for (const part of parts) check = crc32(part, check);
  header.writeUInt32BE(check, PLAIN_HEADER_BYTES);
  header.writeUInt32BE(crc32(header.subarray(0, HEAD_CHECK_AT)), HEAD_CHECK_AT);
  return header;
}

export function encodeFrame(kind: number, payload: Uint8Array, isChecked = false): Buffer {
  return Buffer.concat([frameHeader(kind, [payload], isChecked), payload]);
}

/** The bytes before a piece of a large frame. */
export function partHeader(kind: number, piece: Uint8Array, last: boolean, isChecked: boolean): Buffer {
  const head = Buffer.of(last ? 1 : 0, kind);
  return Buffer.concat([frameHeader(FrameKind.Part, [head, piece], isChecked), head]);
}

/**
 * Cuts a stream of bytes into frames. Holds what came and never more, whatever length a frame claims.
 * Payloads are views of the bytes that came where that is possible.
 */
export class FrameReader {
  /** Called with pieces of large frames instead, as the parts in which they came: nothing is copied then. */
  onPart: ((parts: readonly Buffer[]) => void) | null = null;
  /** Longest frame that is taken. */
  bytesMax = GREETING_BYTES_MAX;
  isChecked = false;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private neededBytes = LENGTH_BYTES;
  private stopped = false;

  constructor(private readonly onFrame: (kind: number, payload: Buffer) => void) {}

  /** @throws FrameError, DamagedFrameError: the connection is of no use any more */
  push(chunk: Buffer): void {
    let bytes = chunk;
    // A frame of which some came before is put together alone: the others of the chunk are not copied.
    while (this.waitingBytes > 0 && !this.stopped) {
      const missing = this.neededBytes - this.waitingBytes;
      this.waiting.push(bytes.subarray(0, missing));
      this.waitingBytes += Math.min(missing, bytes.length);
      if (bytes.length < missing) return;
      bytes = bytes.subarray(missing);
      if (this.isPartWaiting) this.readPart();
      // With its head it is known how much of it is missing still.
      else this.keep(this.readFrames(Buffer.concat(this.waiting, this.waitingBytes)));
    }
    if (!this.stopped) this.keep(this.readFrames(bytes));
  }

  /** True if what waits is all of a piece of a large frame, with its head in the first part. */
  private get isPartWaiting(): boolean {
    const head = this.waiting[0]!;
    return (
      this.onPart !== null &&
      head[LENGTH_BYTES] === FrameKind.Part &&
      head.length >= this.headerBytes &&
      this.neededBytes > this.headerBytes
    );
  }

  private get headerBytes(): number {
    return this.isChecked ? FRAME_HEADER_BYTES : PLAIN_HEADER_BYTES;
  }

  private readPart(): void {
    const [first = NOTHING, ...others] = this.waiting;
    this.keep(NOTHING);
    const parts = [first.subarray(this.headerBytes), ...others];
    const check = parts.reduce((before, part) => crc32(part, before), 0);
    if (this.isChecked && check !== first.readUInt32BE(PLAIN_HEADER_BYTES))
      throw damaged(FrameKind.Part, parts);
    this.onPart?.(parts);
  }

  private keep(rest: Buffer): void {
    const isKept = rest.length > 0 && !this.stopped;
    this.waiting = isKept ? [rest] : [];
    this.waitingBytes = isKept ? rest.length : 0;
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
      this.neededBytes = this.isChecked ? FRAME_HEADER_BYTES : LENGTH_BYTES;
      if (left < this.neededBytes) break;
      const length = this.lengthAt(bytes, at);
      const header = this.headerBytes;
      this.neededBytes = header + length - 1;
      if (left < this.neededBytes) break;
      const payload = bytes.subarray(at + header, at + this.neededBytes);
      const kind = bytes[at + LENGTH_BYTES]!;
      if (this.isChecked && crc32(payload) !== bytes.readUInt32BE(at + PLAIN_HEADER_BYTES))
        throw damaged(kind, [payload]);
      at += this.neededBytes;
      if (kind === FrameKind.Part && this.onPart !== null) this.onPart([payload]);
      else this.onFrame(kind, payload);
    }
    return bytes.subarray(at);
  }

  private lengthAt(bytes: Buffer, at: number): number {
    const checkAt = at + HEAD_CHECK_AT;
    if (this.isChecked && crc32(bytes.subarray(at, checkAt)) !== bytes.readUInt32BE(checkAt))
      throw new DamagedFrameError('the head of a frame came damaged');
    const length = bytes.readUInt32BE(at);
    if (length === 0) throw new FrameError('a frame without a kind');
    if (length > this.bytesMax)
      throw new FrameError(`a frame of ${length} bytes; allowed are ${this.bytesMax}`);
    return length;
  }
}

const NOTHING = Buffer.alloc(0);

function damaged(kind: number, parts: readonly Buffer[]): DamagedFrameError {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  return new DamagedFrameError(`a frame of kind ${kind} with ${bytes} bytes came damaged`);
}

/** Puts the pieces of a large frame together again. */
export class PartReader {
  private parts: Buffer[] = [];
  private bytes = 0;
  private kind = 0;

  /**
   * The whole frame, when this was its last piece.
   *
   * @param parts of the piece, in order
   * @throws FrameError
   */
  push(parts: readonly Buffer[]): { readonly kind: number; readonly payload: Buffer } | null {
    const [first = NOTHING, ...others] = parts;
    if (first.length < PART_HEADER_BYTES && others.length > 0) return this.push([Buffer.concat(parts)]);
    const last = first[0];
    const kind = first[1];
    if (last === undefined || kind === undefined || last > 1)
      throw new FrameError('a piece of a frame without its head');
    if (kind >= FIRST_OWN_KIND) throw new FrameError(`frames of kind ${kind} do not come in pieces`);
    if (this.bytes > 0 && kind !== this.kind) throw new FrameError('pieces of two frames are mixed up');
    this.kind = kind;
    this.parts.push(first.subarray(PART_HEADER_BYTES), ...others);
    for (const part of parts) this.bytes += part.length;
    if (this.bytes > FRAME_BYTES_MAX)
      throw new FrameError(`a frame in pieces of more than ${FRAME_BYTES_MAX} bytes`);
    if (last === 0) return null;
    // In a buffer of its own, which can change hands.
    const whole = Buffer.allocUnsafeSlow(this.parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.parts) at += part.copy(whole, at);
    this.parts = [];
    this.bytes = 0;
    return { kind, payload: whole };
  }
}
