/** Standard error of a process as lines, of which only some are told: none is long, and a flood is cut. */
import type { Clock } from '../base/clock.js';

/** Bytes of a line that are told. */
const LINE_BYTES_MAX = 8192;

/** Lines in a second that are told. */
const LINES_MAX = 100;

const SECOND_MS = 1000;

export class ErrorLines {
  private rest = Buffer.alloc(0);
  /** True if the beginning of the line was told, because it is too long. */
  private isCut = false;
  private since = Number.NEGATIVE_INFINITY;
  private count = 0;
  private dropped = 0;

  constructor(
    private readonly tell: (line: string) => void,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  take(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      this.add(bytes.subarray(start, end));
      this.line();
      start = end + 1;
    }
    this.add(bytes.subarray(start));
  }

  /** The process is gone: what is there is a line, and what was dropped is told. */
  end(): void {
    if (this.rest.length > 0) this.line();
    this.since = Number.NEGATIVE_INFINITY;
    this.renew();
  }

  private add(bytes: Buffer): void {
    const room = LINE_BYTES_MAX - this.rest.length;
    if (room <= 0) return;
    this.rest = Buffer.concat([this.rest, bytes.subarray(0, room)]);
    if (this.rest.length === LINE_BYTES_MAX) this.isCut = true;
  }

  private line(): void {
    const text = this.rest.toString('utf8').trimEnd() + (this.isCut ? '...' : '');
    this.rest = Buffer.alloc(0);
    this.isCut = false;
    this.renew();
    this.count += 1;
    if (this.count <= LINES_MAX) this.tell(text);
    else this.dropped += 1;
  }

  private renew(): void {
    const now = this.clock.now();
    if (now - this.since < SECOND_MS) return;
    this.since = now;
    this.count = 0;
    if (this.dropped > 0) this.tell(`(${this.dropped} lines were left out)`);
    this.dropped = 0;
  }
}

const NEWLINE = 0x0a;
