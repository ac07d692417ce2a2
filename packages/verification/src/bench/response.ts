/**
 * Finds where responses end, and nothing more. Only what servers under load send is understood: HTTP/1.1 with a
 * Content-Length, one response at a time.
 */

/** A response that can't be measured. */
export class ResponseError extends Error {}

const headEnd = Buffer.from('\r\n\r\n');
/** Longest head of a response. */
const headSizeMax = 16 * 1024;

export class ResponseReader {
  /** Status of the response that was complete last. */
  status = 0;
  /** Head of the last response and the length of its body: the next head is often the same. */
  #lastHead: Buffer = Buffer.alloc(0);
  #lastLength = 0;
  #lastStatus = 0;
  /** Bytes that are still missing from the body; -1 while in the head. */
  #missing = -1;
  /** A head that came in pieces. */
  #partial: Buffer = Buffer.alloc(0);

  /**
   * Takes what arrived.
   *
   * @param chunk may be reused by the caller afterwards
   * @returns whether the response is complete
   * @throws {ResponseError} when it is none
   */
  take(chunk: Buffer): boolean {
    if (this.#missing >= 0) return this.#body(chunk.length);
    if (this.#partial.length > 0) return this.#head(Buffer.concat([this.#partial, chunk]));
    const last = this.#lastHead;
    if (last.length > 0 && chunk.length >= last.length && last.compare(chunk, 0, last.length) === 0) {
      this.status = this.#lastStatus;
      this.#missing = this.#lastLength;
      return this.#body(chunk.length - last.length);
    }
    return this.#head(chunk);
  }

  #head(bytes: Buffer): boolean {
    const end = bytes.indexOf(headEnd);
    if (end === -1) {
      if (bytes.length > headSizeMax) throw new ResponseError('the head of a response is too long');
      this.#partial = Buffer.from(bytes);
      return false;
    }
    this.#partial = Buffer.alloc(0);
    const size = end + headEnd.length;
    const text = bytes.toString('latin1', 0, size);
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1];
    const length = /\r\ncontent-length: *(\d{1,9})\r\n/i.exec(text)?.[1];
    if (status === undefined) throw new ResponseError(`no response: ${JSON.stringify(text.slice(0, 60))}`);
    if (length === undefined) throw new ResponseError('a response without Content-Length');
    this.#lastHead = Buffer.from(bytes.subarray(0, size));
    this.#lastLength = Number(length);
    this.#lastStatus = Number(status);
    this.status = this.#lastStatus;
    this.#missing = this.#lastLength;
    return this.#body(bytes.length - size);
  }

  #body(size: number): boolean {
    this.#missing -= size;
    if (this.#missing > 0) return false;
    if (this.#missing < 0) throw new ResponseError('more bytes than one response has');
    this.#missing = -1;
    return true;
  }
}
