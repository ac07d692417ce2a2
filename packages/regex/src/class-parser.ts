import { type CharSet, CharSetBuilder, complement, POSIX_CLASSES } from './char-set.js';
import { readOctal, readSharedEscape } from './escapes.js';
import { isDigit, isOctalDigit, type PatternReader } from './pattern-reader.js';
import type { PropertyTable, PropertyTables } from './properties.js';

/** The options of a pattern that matter inside of a class. */
export interface ClassOptions {
  /** Flag i: letters stand for both cases. */
  readonly fold: boolean;
  /** Inline flag xx: blanks and tabs between the brackets do not count. */
  readonly ignoreBlanks: boolean;
  readonly tables: PropertyTables;
}

/** Reads a class; the reader stands behind its opening bracket, and afterwards behind the closing one. */
export function parseClass(reader: PatternReader, options: ClassOptions): CharSet {
  return new ClassParser(reader, options).parse();
}

/** The characters with one of the properties; see PropertyTables. */
export function propertyTable(
  reader: PatternReader,
  tables: PropertyTables,
  properties: readonly string[],
  position: number,
): PropertyTable {
  return (
    tables.table(properties) ?? reader.fail('the pattern has too many different sets with \\p', position)
  );
}

/**
 * Looks if `[:name:]`, `[.name.]` or `[=name=]` begins here; the reader stands at the bracket. Gives the position of
 * the closing mark (relative to the reader), or 0.
 */
export function posixEnd(reader: PatternReader): number {
  const mark = reader.peek(1);
  if (mark !== COLON && mark !== DOT && mark !== EQUALS) return 0;
  for (let i = 2; reader.peek(i) !== -1; i++) {
    const char = reader.peek(i);
    const after = reader.peek(i + 1);
    if (char === BACKSLASH && (after === CLOSE || after === BACKSLASH)) i++;
    else if ((char === OPEN && after === mark) || char === CLOSE) return 0;
    else if (char === mark && after === CLOSE) return i;
  }
  return 0;
}

const OPEN = 0x5b;
const CLOSE = 0x5d;
const BACKSLASH = 0x5c;
const HYPHEN = 0x2d;
const CARET = 0x5e;
const COLON = 0x3a;
const DOT = 0x2e;
const EQUALS = 0x3d;

/** The meaning of a hyphen at this point of a class. */
enum Range {
  /** A character: there is nothing that a range could begin with. */
  Impossible,
  /** The middle of a range, if a character follows. */
  Possible,
  /** The hyphen has been read. */
  Begun,
}

class ClassParser {
  readonly #reader: PatternReader;
  readonly #options: ClassOptions;
  readonly #start: number;
  readonly #builder = new CharSetBuilder();
  readonly #properties: string[] = [];
  #range = Range.Impossible;
  /** The last single character. */
  #before = 0;
  #quoting = false;

  constructor(reader: PatternReader, options: ClassOptions) {
    this.#reader = reader;
    this.#options = options;
    this.#start = reader.position - 1;
  }

  parse(): CharSet {
    const reader = this.#reader;
    this.#skipIgnored();
    const negated = reader.takes('^');
    if (negated) this.#skipIgnored();
    for (let first = true; ; first = false) {
      const char = reader.peek();
      if (char === -1) reader.fail('the class has no closing ]; write \\[ for a bracket', this.#start);
      if (this.#quoting) {
        if (reader.takes('\\E')) this.#quoting = false;
        else this.#addCode(reader.next());
      } else if (char === CLOSE && !first) {
        reader.position++;
        break;
      } else {
        this.#parseItem(char);
      }
    }
    if (this.#range === Range.Begun) this.#builder.addRange(HYPHEN, HYPHEN);
    if (this.#options.fold) this.#builder.foldCase();
    if (this.#properties.length === 0) return this.#builder.build(negated);
    return this.#builder.build(
      negated,
      propertyTable(reader, this.#options.tables, this.#properties, this.#start),
    );
  }

  #skipIgnored(): void {
    const reader = this.#reader;
    for (;;) {
      if (reader.takes('\\Q\\E') || reader.takes('\\E')) continue;
      if (this.#options.ignoreBlanks && (reader.takes(' ') || reader.takes('\t'))) continue;
      return;
    }
  }

  #parseItem(char: number): void {
    const reader = this.#reader;
    if (this.#options.ignoreBlanks && (char === 0x20 || char === 0x09)) {
      reader.position++;
    } else if (char === OPEN && posixEnd(reader) > 0) {
      this.#parsePosix();
    } else if (char === HYPHEN && this.#range === Range.Possible) {
      reader.position++;
      this.#range = Range.Begun;
    } else if (char === BACKSLASH) {
      this.#parseEscape();
    } else {
      reader.position++;
      this.#addCode(char);
    }
  }

  #addCode(code: number): void {
    if (this.#range !== Range.Begun) {
      this.#builder.addRange(code, code);
      this.#before = code;
      this.#range = Range.Possible;
      return;
    }
    if (code < this.#before)
      this.#reader.fail('the range is out of order: its first character is the higher one');
    this.#builder.addRange(this.#before, code);
    this.#range = Range.Impossible;
  }

  /** Checks that a set, which was just read, is not used as the end of a range. */
  #endSet(): void {
    const reader = this.#reader;
    const after = reader.peek(1);
    if (this.#range === Range.Begun || (reader.peek() === HYPHEN && after !== CLOSE && after !== -1)) {
      reader.fail('a set of characters can not be the end of a range; write the hyphen as \\-');
    }
    this.#range = Range.Impossible;
  }

  #parsePosix(): void {
    const reader = this.#reader;
    const end = posixEnd(reader);
    if (reader.peek(1) !== COLON) reader.fail('collating elements such as [.a.] and [=a=] are not supported');
    const negated = reader.peek(2) === CARET;
    let name = reader.slice(reader.position + (negated ? 3 : 2), reader.position + end);
    if (!POSIX_CLASSES.has(name))
      reader.fail(`there is no class [:${name}:]; there is alpha, digit, space ...`);
    if (this.#options.fold && (name === 'lower' || name === 'upper')) name = 'alpha';
    const ranges = POSIX_CLASSES.get(name) ?? [];
    reader.position += end + 2;
    this.#endSet();
    this.#builder.addRanges(negated ? complement(ranges) : ranges);
  }

  #parseEscape(): void {
    const reader = this.#reader;
    const start = reader.position++;
    if (reader.takes('Q')) {
      this.#quoting = true;
      return;
    }
    if (reader.takes('E')) return;
    const shared = readSharedEscape(reader);
    if (shared === null) {
      this.#addCode(this.#parseClassOnlyEscape(start));
    } else if (shared.kind === 'code') {
      this.#addCode(shared.code);
    } else {
      this.#endSet();
      if (shared.kind === 'ranges') this.#builder.addRanges(shared.ranges);
      else this.#properties.push(shared.body);
    }
  }

  #parseClassOnlyEscape(start: number): number {
    const reader = this.#reader;
    const char = reader.peek();
    if (isOctalDigit(char)) return readOctal(reader);
    if (isDigit(char)) return reader.next();
    if (reader.takes('b')) return 0x08;
    if (reader.takes('g')) return 0x67;
    return reader.fail(`\\${String.fromCodePoint(char)} is not possible in a class`, start);
  }
}
