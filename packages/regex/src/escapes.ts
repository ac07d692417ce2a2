import {
  CODE_MAX,
  complement,
  DIGIT,
  HORIZONTAL_SPACE,
  isAsciiLetter,
  SPACE,
  VERTICAL_SPACE,
  WORD,
} from './char-set.js';
import { hexDigit, isDigit, isOctalDigit, type PatternReader } from './pattern-reader.js';
import { propertyBody } from './properties.js';

/** The meaning of an escape that is the same inside and outside of a class. */
export type SharedEscape =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'ranges'; readonly ranges: readonly number[] }
  /** A property, as propertyBody() gives it. */
  | { readonly kind: 'property'; readonly body: string };

/**
 * Reads an escape that is valid both inside and outside of a class; the reader stands behind the backslash. Gives
 * null, without moving, when the character has another meaning that depends on the place (`\b`, `\1`, `\R` ...).
 */
export function readSharedEscape(reader: PatternReader): SharedEscape | null {
  const start = reader.position - 1;
  const char = reader.peek();
  if (char === -1) reader.fail('the pattern ends with a backslash; write \\\\ for a backslash', start);
  if (char > 0x7e || char < 0x20 || (!isAsciiLetter(char) && !isDigit(char))) {
    reader.position++;
    return { kind: 'code', code: char };
  }
  const name = String.fromCharCode(char);
  const simple = SIMPLE_ESCAPES.get(name);
  if (simple !== undefined) {
    reader.position++;
    return simple;
  }
  switch (name) {
    case '0':
      return { kind: 'code', code: readOctal(reader) };
    case 'o':
      reader.position++;
      return { kind: 'code', code: readBraced(reader, 8, start) };
    case 'x':
      reader.position++;
      return { kind: 'code', code: readHex(reader, start) };
    case 'c':
      reader.position++;
      return { kind: 'code', code: readControl(reader, start) };
    case 'N':
      if (!reader.sees('N{U+')) return null;
      reader.position += 3;
      return { kind: 'code', code: readBraced(reader, 16, start) };
    case 'p':
    case 'P':
      reader.position++;
      return readProperty(reader, name === 'P', start);
    case 'F':
    case 'L':
    case 'l':
    case 'U':
    case 'u':
      return reader.fail(`\\${name} is not supported; write \\x{...} for a character by its number`, start);
    case 'C':
      return reader.fail('\\C is not supported: a character is never split into bytes', start);
    default:
      if ('imyjqIJMOTY'.includes(name))
        reader.fail(`\\${name} has no meaning; for a letter leave the backslash out`, start);
      return null;
  }
}

/** Reads up to three octal digits (at least one is there). */
export function readOctal(reader: PatternReader): number {
  let value = 0;
  for (let i = 0; i < 3 && isOctalDigit(reader.peek()); i++) value = value * 8 + reader.next() - 0x30;
  return value;
}

const SIMPLE_ESCAPES: ReadonlyMap<string, SharedEscape> = new Map<string, SharedEscape>([
  ['a', { kind: 'code', code: 0x07 }],
  ['e', { kind: 'code', code: 0x1b }],
  ['f', { kind: 'code', code: 0x0c }],
  ['n', { kind: 'code', code: 0x0a }],
  ['r', { kind: 'code', code: 0x0d }],
  ['t', { kind: 'code', code: 0x09 }],
  ['d', { kind: 'ranges', ranges: DIGIT }],
  ['D', { kind: 'ranges', ranges: complement(DIGIT) }],
  ['w', { kind: 'ranges', ranges: WORD }],
  ['W', { kind: 'ranges', ranges: complement(WORD) }],
  ['s', { kind: 'ranges', ranges: SPACE }],
  ['S', { kind: 'ranges', ranges: complement(SPACE) }],
  ['h', { kind: 'ranges', ranges: HORIZONTAL_SPACE }],
  ['H', { kind: 'ranges', ranges: complement(HORIZONTAL_SPACE) }],
  ['v', { kind: 'ranges', ranges: VERTICAL_SPACE }],
  ['V', { kind: 'ranges', ranges: complement(VERTICAL_SPACE) }],
]);

/** `\x`, `\xh`, `\xhh`, `\x{h...}`; the reader stands behind the x. */
function readHex(reader: PatternReader, start: number): number {
  if (reader.peek() === 0x7b) return readBraced(reader, 16, start);
  let value = 0;
  for (let i = 0; i < 2 && hexDigit(reader.peek()) >= 0; i++) value = value * 16 + hexDigit(reader.next());
  return value;
}

/** A number in braces: `\x{..}`, `\o{..}`, `\N{U+..}`; the reader stands at the brace or the plus sign. */
function readBraced(reader: PatternReader, base: 8 | 16, start: number): number {
  const open = reader.next();
  if (open !== 0x7b && open !== 0x2b) reader.fail('a number in braces is missing, as in \\o{101}', start);
  const first = reader.position;
  let value = 0;
  for (let digit = hexDigit(reader.peek()); digit >= 0 && digit < base; digit = hexDigit(reader.peek())) {
    value = Math.min(CODE_MAX + 1, value * base + digit);
    reader.position++;
  }
  if (reader.peek() !== 0x7d) {
    reader.fail(`only ${base === 8 ? 'octal' : 'hexadecimal'} digits and then } may follow the brace`);
  }
  if (reader.position === first) reader.fail('digits are missing between the braces');
  reader.position++;
  if (value > CODE_MAX) reader.fail('no character has so high a number', start);
  if (value >= 0xd800 && value <= 0xdfff) reader.fail('the number of a surrogate is no character', start);
  return value;
}

function readControl(reader: PatternReader, start: number): number {
  const char = reader.next();
  if (char < 0x20 || char > 0x7e) reader.fail('\\c must be followed by a printable ASCII character', start);
  return (char >= 0x61 && char <= 0x7a ? char - 0x20 : char) ^ 0x40;
}

function readProperty(reader: PatternReader, upper: boolean, start: number): SharedEscape {
  let name: string;
  let negated = upper;
  if (reader.takes('{')) {
    if (reader.takes('^')) negated = !negated;
    const first = reader.position;
    while (reader.peek() !== 0x7d) {
      if (reader.atEnd || reader.position - first > PROPERTY_NAME_MAX) reader.fail('\\p{ has no }', start);
      reader.position++;
    }
    name = reader.slice(first, reader.position);
    reader.position++;
  } else {
    const char = reader.peek();
    if (char === -1 || !isAsciiLetter(char))
      reader.fail('\\p needs a property, as in \\pL or \\p{Greek}', start);
    name = String.fromCharCode(reader.next());
  }
  const body = propertyBody(name, negated);
  if (body === null) {
    return reader.fail(
      `there is no property \\p{${name}}; use a general category or a script, as in \\p{Lu} or \\p{Greek}`,
      start,
    );
  }
  return { kind: 'property', body };
}

const PROPERTY_NAME_MAX = 80;
