/**
 * Frames of a WebSocket (RFC 6455, section 5.2), as a client sends them:
 *
 *   frame   := fin:1 rsv:3 opcode:4 masked:1 length:7 (length:u16 | length:u64)? mask:4 payload
 *
 * A payload is handed on as it comes, whatever its length is, so a long one takes no memory here.
 */

export const Opcode = { CONTINUATION: 0, TEXT: 1, BINARY: 2, CLOSE: 8, PING: 9, PONG: 10 } as const;

/** Why a connection is closed (RFC 6455, section 7.4.1). */
export const CloseCode = { NORMAL: 1000, GOING_AWAY: 1001, PROTOCOL: 1002 } as const;

export interface FrameSink {
  /** Takes the next bytes of a message. @returns false when no more are wanted */
  data(bytes: Buffer): boolean;
  /** The message has come to its end. @returns false when no more are wanted */
  messageEnded(): boolean;
  ping(payload: Buffer): void;
  /** The client closes the connection. */
  closed(payload: Buffer): void;
}

/** Bytes of the longest head. */
const HEAD_MAX = 14;

const CONTROL_BYTES_MAX = 125;

/** Takes frames out of a stream of bytes, cut anywhere. */
export class FrameReader {
  private readonly head = Buffer.alloc(HEAD_MAX);
  private headLength = 0;
  /** Bytes of the payload that are still to come; -1 between two frames. */
  private left = -1;
  private opcode = 0;
  private isLast = true;
  private readonly mask = Buffer.alloc(4);
  /** Bytes of the payload that came, modulo 4. */
  private phase = 0;
  private isInMessage = false;
  private control: Buffer | null = null;
  private ended = false;

  constructor(private readonly sink: FrameSink) {}

  /** True if a part of a message is here, and the rest is not. */
  get isWithin(): boolean {
    return this.isInMessage || this.left >= 0 || this.headLength > 0;
  }

  /**
   * Takes the next bytes, and changes them.
   *
   * @returns false when they are no frames, or the sink wants no more: nothing is read any more then
   */
  push(chunk: Buffer): boolean {
    let at = 0;
    while (!this.ended && (at < chunk.length || this.left === 0)) {
      if (this.left < 0) {
        at = this.readHead(chunk, at);
        continue;
      }
      const piece = chunk.subarray(at, at + Math.min(this.left, chunk.length - at));
      at += piece.length;
      this.left -= piece.length;
      this.unmask(piece);
      if (!this.take(piece)) this.ended = true;
    }
    return !this.ended;
  }

  private readHead(chunk: Buffer, start: number): number {
    const { head } = this;
    let at = start;
    for (;;) {
      const needed = this.headLength < 2 ? 2 : headBytes(head.readUInt8(1));
      if (this.headLength === needed) break;
      if (at === chunk.length) return at;
      const size = Math.min(needed - this.headLength, chunk.length - at);
      chunk.copy(head, this.headLength, at, at + size);
      this.headLength += size;
      at += size;
      if (this.headLength >= 2 && !this.isSound()) {
        this.ended = true;
        return at;
      }
    }
    const length = lengthOf(head);
    head.copy(this.mask, 0, this.headLength - 4, this.headLength);
    this.headLength = 0;
    this.phase = 0;
    this.left = length;
    // A payload is refused by what is in it, and not by a length that no number holds.
    if (!Number.isSafeInteger(length)) this.ended = true;
    return at;
  }

  /** Looks at the first two bytes of a head. */
  private isSound(): boolean {
    const first = this.head.readUInt8(0);
    const second = this.head.readUInt8(1);
    const opcode = first & 0x0f;
    const isLast = (first & 0x80) !== 0;
    const isMasked = (second & 0x80) !== 0;
    if ((first & 0x70) !== 0 || !isMasked) return false;
    this.opcode = opcode;
    this.isLast = isLast;
    if (opcode >= Opcode.CLOSE) {
      return opcode <= Opcode.PONG && isLast && (second & 0x7f) <= CONTROL_BYTES_MAX;
    }
    return opcode <= Opcode.BINARY && (opcode === Opcode.CONTINUATION) === this.isInMessage;
  }

  private unmask(piece: Buffer): void {
    const { mask } = this;
    let { phase } = this;
    for (let i = 0; i < piece.length; i++) {
      piece[i] = (piece[i] ?? 0) ^ (mask[phase] ?? 0);
      phase = (phase + 1) & 3;
    }
    this.phase = phase;
  }

  private take(piece: Buffer): boolean {
    const isWhole = this.left === 0;
    if (isWhole) this.left = -1;
    if (this.opcode >= Opcode.CLOSE) {
      this.control = this.control === null ? Buffer.from(piece) : Buffer.concat([this.control, piece]);
      return isWhole ? this.takeControl() : true;
    }
    this.isInMessage = true;
    if (piece.length > 0 && !this.sink.data(piece)) return false;
    if (!isWhole || !this.isLast) return true;
    this.isInMessage = false;
    return this.sink.messageEnded();
  }

  private takeControl(): boolean {
    const payload = this.control ?? Buffer.alloc(0);
    this.control = null;
    if (this.opcode === Opcode.PING) this.sink.ping(payload);
    if (this.opcode !== Opcode.CLOSE) return true;
    this.sink.closed(payload);
    return false;
  }
}

/** Bytes of a head whose second byte is known, mask included. */
function headBytes(second: number): number {
  const length = second & 0x7f;
  if (length < 126) return 6;
  return length === 126 ? 8 : HEAD_MAX;
}

function lengthOf(head: Buffer): number {
  const length = head.readUInt8(1) & 0x7f;
  if (length < 126) return length;
  return length === 126 ? head.readUInt16BE(2) : head.readUInt32BE(2) * 2 ** 32 + head.readUInt32BE(6);
}

/** Bytes of the head of a frame that a server sends. */
export function serverHeadBytes(length: number): number {
  if (length < 126) return 2;
  return length < 65_536 ? 4 : 10;
}

/** Writes the head of a frame that holds a whole message in binary. */
export function writeServerHead(
  out: Buffer,
  at: number,
  length: number,
  opcode: number = Opcode.BINARY,
): void {
  out.writeUInt8(0x80 | opcode, at);
  if (length < 126) {
    out.writeUInt8(length, at + 1);
  } else if (length < 65_536) {
    out.writeUInt8(126, at + 1);
    out.writeUInt16BE(length, at + 2);
  } else {
    out.writeUInt8(127, at + 1);
    out.writeUInt32BE(0, at + 2);
    out.writeUInt32BE(length, at + 6);
  }
}

/** A frame of a server that says something about the connection. */
export function controlFrame(opcode: number, payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(2 + payload.length);
  writeServerHead(frame, 0, payload.length, opcode);
  frame.set(payload, 2);
  return frame;
}

export function closeFrame(code: number): Buffer {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return controlFrame(Opcode.CLOSE, payload);
}
