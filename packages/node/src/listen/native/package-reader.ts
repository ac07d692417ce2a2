import type { Bytes } from '../limits/byte-budget.js';
import { HEADER_BYTES, type Header, readHeader } from './package.js';

/** The fate of the data of a package: it is read, passed over, or the connection ends. */
export type Taking = 'read' | 'skip' | 'end';

export interface PackageSink {
  /** Memory for packages that come in pieces. */
  readonly memory: Bytes;
  /** Decides by the header of a package what becomes of its data. */
  begins(header: Header): Taking;
  /** Takes a package; what is in `data` stays. */
  take(header: Header, data: Buffer): void;
  /** A package that was passed over has come to its end. */
  skipped(header: Header): void;
  /** There is no memory for a package. */
  full(header: Header): void;
}

const NO_DATA = Buffer.alloc(0);

/**
 * Takes packages out of a stream of bytes, cut anywhere. A package that lies in one piece costs no copy; the
 * memory of others follows what has come of them, not what was announced.
 */
export class PackageReader {
  private readonly head = Buffer.alloc(HEADER_BYTES);
  private headLength = 0;
  private header: Header | null = null;
  private taking: Taking = 'read';
  /** Bytes of the data that are still to come. */
  private left = 0;
  private body: Buffer = NO_DATA;
  private bodyLength = 0;
  private ended = false;

  constructor(private readonly sink: PackageSink) {}

  /** True if a part of a package is here, and the rest is not. */
  get isWithin(): boolean {
    return this.header !== null || this.headLength > 0;
  }

  /**
   * Takes the next bytes, which stay as they are.
   *
   * @returns false when they are no packages, or the sink wants no more: nothing is read any more then
   */
  push(chunk: Buffer): boolean {
    let at = 0;
    while (!this.ended && (at < chunk.length || (this.header !== null && this.left === 0))) {
      if (this.header === null) {
        at = this.readHead(chunk, at);
        continue;
      }
      const size = Math.min(this.left, chunk.length - at);
      const isWhole = size === this.left && this.bodyLength === 0;
      if (this.taking === 'skip' || isWhole) {
        this.left -= size;
        if (this.left === 0) this.finish(chunk.subarray(at, at + size));
      } else if (this.keep(chunk.subarray(at, at + size))) {
        this.left -= size;
        if (this.left === 0) this.finish(this.body.subarray(0, this.bodyLength));
      }
      at += size;
    }
    return !this.ended;
  }

  /** Gives memory back. Nothing is read any more. */
  end(): void {
    this.ended = true;
    this.free();
  }

  private readHead(chunk: Buffer, start: number): number {
    const { head } = this;
    let at = start;
    let header: Header | null;
    if (this.headLength === 0 && chunk.length - at >= HEADER_BYTES) {
      header = readHeader(chunk, at);
      at += HEADER_BYTES;
    } else {
      const size = Math.min(HEADER_BYTES - this.headLength, chunk.length - at);
      chunk.copy(head, this.headLength, at, at + size);
      this.headLength += size;
      at += size;
      if (this.headLength < HEADER_BYTES) return at;
      this.headLength = 0;
      header = readHeader(head);
    }
    this.taking = header === null ? 'end' : this.sink.begins(header);
    if (this.taking === 'end') this.ended = true;
    else {
      this.header = header;
      this.left = header?.length ?? 0;
    }
    return at;
  }

  private keep(piece: Buffer): boolean {
    const size = this.bodyLength + piece.length;
    if (size > this.body.length && !this.grow(size)) {
      const { header } = this;
      this.free();
      this.taking = 'skip';
      this.left -= piece.length;
      if (header !== null) this.sink.full(header);
      if (this.left === 0) this.header = null;
      return false;
    }
    piece.copy(this.body, this.bodyLength);
    this.bodyLength = size;
    return true;
  }

  private grow(size: number): boolean {
    const whole = this.bodyLength + this.left;
    const capacity = Math.max(size, Math.min(whole, Math.max(BYTES_MIN, this.body.length * 2)));
    if (!this.sink.memory.tryTake(capacity - this.body.length)) return false;
    const body = Buffer.allocUnsafeSlow(capacity);
    this.body.copy(body, 0, 0, this.bodyLength);
    this.body = body;
    return true;
  }

  private finish(data: Buffer): void {
    const { header } = this;
    const { taking } = this;
    this.header = null;
    if (header === null) return;
    // The taker of the package counts its memory from here on, if it keeps it.
    this.free();
    if (taking === 'skip') this.sink.skipped(header);
    else this.sink.take(header, data);
  }

  private free(): void {
    if (this.body.length > 0) this.sink.memory.give(this.body.length);
    this.body = NO_DATA;
    this.bodyLength = 0;
  }
}

/** First size of the memory for a package that comes in pieces. */
const BYTES_MIN = 4096;
