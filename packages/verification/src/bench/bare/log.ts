/**
 * The log of the bare path: a file whose blocks were written before, opened with O_DSYNC as the log of a node is, so that a
 * write is durable when it returns. Nothing reads it, so it begins again at its end.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs';

const FILE_BYTES = 4 * 1024 ** 2;
const FILL_BYTES = 1024 ** 2;

export class BareLog {
  readonly #file: number;
  #at = 0;

  constructor(path: string) {
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_DSYNC, 0o600);
    const zeros = Buffer.alloc(FILL_BYTES);
    for (let at = 0; at < FILE_BYTES; at += zeros.length) writeSync(this.#file, zeros, 0, zeros.length, at);
  }

  /** Holds the thread until the bytes are durable, as a node does while its disk is fast. */
  append(bytes: Uint8Array): void {
    if (this.#at + bytes.length > FILE_BYTES) this.#at = 0;
    writeSync(this.#file, bytes, 0, bytes.length, this.#at);
    this.#at += bytes.length;
  }

  close(): void {
    closeSync(this.#file);
  }
}
