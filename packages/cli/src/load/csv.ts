/** CSV (RFC 4180) and TSV, read as the text comes: values in quotes hold separators, line ends, and quotes written twice. */
import { CommandError } from '../input.js';

/** A record of a file. */
export interface TextRecord {
  /** Values; null where there is nothing, not even quotes. */
  readonly cells: readonly (string | null)[];
  /** As it stands in the file, without the end of its line. */
  readonly raw: string;
  /** The line that it begins in, from 1 on. */
  readonly line: number;
}

/** Characters of one record at most. */
export const RECORD_LENGTH_MAX = 8 * 1024 * 1024;

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** The error for text that is no CSV, with its line. */
export class CsvError extends CommandError {
  constructor(line: number, why: string) {
    super(`line ${line}: ${why}`);
  }
}

export class CsvParser {
  /** The beginning of a record whose end has not come, and how much of it was looked at. */
  private rest = '';
  private scanned = 0;
  /** True if a value in quotes goes on there. */
  private isOpen = false;
  private line = 1;

  /** @param separator one character */
  constructor(private readonly separator: string) {}

  /**
   * Takes text; gives the records that are complete.
   *
   * @throws CsvError
   */
  *push(text: string): Generator<TextRecord, void, undefined> {
    const all = this.rest + text;
    let start = 0;
    for (let at = this.scanned; at < all.length; at++) {
      const code = all.charCodeAt(at);
      if (code === QUOTE) this.isOpen = !this.isOpen;
      else if (code === LINE_FEED && !this.isOpen) {
        const isPair = at > start && all.charCodeAt(at - 1) === CARRIAGE_RETURN;
        const record = this.record(all.slice(start, isPair ? at - 1 : at));
        start = at + 1;
        if (record !== null) yield record;
      }
    }
    this.rest = all.slice(start);
    this.scanned = this.rest.length;
    if (this.rest.length > RECORD_LENGTH_MAX)
      throw new CsvError(
        this.line,
        `a record of more than ${RECORD_LENGTH_MAX} characters: a quote may be missing`,
      );
  }

  /** The last record, which may have no line end. */
  *end(): Generator<TextRecord, void, undefined> {
    const { rest } = this;
    this.rest = '';
    if (rest === '') return;
    if (this.isOpen) throw new CsvError(this.line, 'a quote that begins here does not end');
    const record = this.record(rest);
    if (record !== null) yield record;
  }

  /** Null for an empty line. */
  private record(raw: string): TextRecord | null {
    const { line } = this;
    for (let at = raw.indexOf('\n'); at >= 0; at = raw.indexOf('\n', at + 1)) this.line += 1;
    this.line += 1;
    if (raw === '') return null;
    const cells = raw.includes('"')
      ? this.quotedCells(raw, line)
      : raw.split(this.separator).map((cell) => (cell === '' ? null : cell));
    return { cells, raw, line };
  }

  private quotedCells(raw: string, line: number): (string | null)[] {
    const { separator } = this;
    const cells: (string | null)[] = [];
    for (let at = 0; ; at++) {
      if (raw[at] === '"') {
        let text = '';
        for (;;) {
          const end = raw.indexOf('"', at + 1);
          text += raw.slice(at + 1, end);
          at = end + 1;
          if (raw[at] !== '"') break;
          text += '"';
        }
        if (at < raw.length && raw[at] !== separator)
          throw new CsvError(line, 'behind the quote that ends a value comes more than a separator');
        cells.push(text);
      } else {
        const end = raw.indexOf(separator, at);
        const text = raw.slice(at, end < 0 ? raw.length : end);
        if (text.includes('"')) throw new CsvError(line, 'a quote in the middle of a value without quotes');
        cells.push(text === '' ? null : text);
        at = end < 0 ? raw.length : end;
      }
      if (at >= raw.length) return cells;
      // A separator at the end has an empty value behind it.
      if (at === raw.length - 1) return [...cells, null];
    }
  }
}
