/**
 * The progress of reading or writing a large file, for people: on a terminal a line that changes, else a line now and
 * then.
 */
import { type Io, tell, write } from './io.js';

const TERMINAL_MS = 200;
const OTHERWISE_MS = 10_000;

export class Progress {
  private readonly isTerminal: boolean;
  private bytes = 0;
  private toldAt = performance.now();
  private hasLine = false;

  /** @param total bytes that there will be, if that is known */
  constructor(
    private readonly io: Io,
    private readonly verb: string,
    private readonly total: number | null = null,
  ) {
    this.isTerminal = 'isTTY' in io.stderr && io.stderr.isTTY === true;
  }

  /** Bytes so far, in words. */
  get size(): string {
    return sizeText(this.bytes);
  }

  /** Counts what passes. */
  async *watch(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const bytes of source) {
      this.bytes += bytes.length;
      await this.look();
      yield bytes;
    }
  }

  /** Says what came of it. */
  async end(line: string): Promise<void> {
    if (this.hasLine) await write(this.io.stderr, '\r\u001b[K');
    await tell(this.io, line);
  }

  private async look(): Promise<void> {
    const now = performance.now();
    if (now - this.toldAt < (this.isTerminal ? TERMINAL_MS : OTHERWISE_MS)) return;
    this.toldAt = now;
    const of = this.total === null ? '' : ` of ${sizeText(this.total)}`;
    const line = `${this.size}${of} ${this.verb}`;
    if (this.isTerminal) await write(this.io.stderr, `\r\u001b[K${line}`);
    else await tell(this.io, line);
    this.hasLine = this.isTerminal;
  }
}

export function sizeText(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
