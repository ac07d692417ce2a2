/** Lines that a snapshot read gives, without the last one, which says how many there were. */
import { isWireMap, parseJson } from '@althing/client';
import { CommandError } from '../input.js';

/** Lines are missing, or are not what was asked for. */
export class CutDumpError extends CommandError {}

export interface LinesEnd {
  readonly lines: bigint;
  /** The entry of the log that they show. */
  readonly index: bigint;
  /** The position behind which changes are to be followed; null where the node does not say it yet. */
  readonly at: string | null;
}

/** They are read once, in one of two ways. */
export class Lines {
  private count = 0;
  private found: LinesEnd | null = null;

  constructor(private readonly source: AsyncIterable<Uint8Array>) {}

  /** The last line, when all were read. */
  get end(): LinesEnd {
    if (this.found === null)
      throw new CutDumpError('the answer ended before its last line: run the command again');
    return this.found;
  }

  /**
   * Whole lines, many at a time, with their line ends.
   *
   * @throws CutDumpError where some are missing
   */
  async *pieces(): AsyncGenerator<Buffer, void, undefined> {
    // The text behind the last whole line, in parts: a long line comes in many.
    let open: Uint8Array[] = [];
    for await (const bytes of this.source) {
      open.push(bytes);
      if (!bytes.includes(LINE_END)) continue;
      const all = Buffer.concat(open);
      const last = all.lastIndexOf(LINE_END);
      const end = last < 1 ? 0 : all.lastIndexOf(LINE_END, last - 1) + 1;
      open = [all.subarray(end)];
      if (end === 0) continue;
      const piece = all.subarray(0, end);
      this.count += linesIn(piece);
      yield piece;
    }
    this.found = endIn(Buffer.concat(open).toString());
    if (this.end.lines !== BigInt(this.count))
      throw new CutDumpError(`${this.count} lines came of ${this.end.lines}: run the command again`);
  }

  /** The same one by one, without their line ends. */
  async *each(): AsyncGenerator<string, void, undefined> {
    for await (const piece of this.pieces()) yield* piece.toString().slice(0, -1).split('\n');
  }
}

const LINE_END = 0x0a;

function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}

/** The content of the last line; null where it is none. */
function endIn(text: string): LinesEnd | null {
  if (!text.endsWith('\n')) return null;
  const line = parseJson(text);
  const end = isWireMap(line) ? line.get('end') : null;
  if (!isWireMap(end)) return null;
  const [lines, index, at] = [end.get('lines'), end.get('index'), end.get('at')];
  if (typeof lines !== 'bigint' || typeof index !== 'bigint') return null;
  return { lines, index, at: typeof at === 'string' ? at : null };
}
