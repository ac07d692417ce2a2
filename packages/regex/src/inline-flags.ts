/** The options of a pattern, and the inline flags that change them. */
import type { PatternReader } from './pattern-reader.js';

/** The options that inline flags can change; those of the regex's own flags are the initial ones. */
export interface Options {
  /** i: ASCII letters match both cases. */
  readonly fold: boolean;
  /** m: `^` and `$` also at line ends. */
  readonly multiline: boolean;
  /** s: the dot matches a newline. */
  readonly dotAll: boolean;
  /** x: white space and comments in the pattern do not count. */
  readonly extended: boolean;
  /** xx: neither do blanks in classes. */
  readonly extendedMore: boolean;
  /** n: plain parentheses do not capture. */
  readonly noCapture: boolean;
  /** U: quantifiers are lazy unless a `?` follows. */
  readonly lazy: boolean;
  /** J: group names may be used more than once. */
  readonly duplicateNames: boolean;
}

/** `(?i)`, `(?i-s)`, `(?^i)`, `(?i:...)`; the reader stands behind the question mark. */
export function readInlineFlags(
  reader: PatternReader,
  outer: Options,
  start: number,
): { readonly options: Options; readonly hasBody: boolean } {
  const options: { -readonly [K in keyof Options]: Options[K] } = { ...outer };
  const reset = reader.takes('^');
  if (reset) {
    Object.assign(options, { fold: false, multiline: false, dotAll: false, noCapture: false });
    Object.assign(options, { extended: false, extendedMore: false });
  }
  let on = true;
  for (;;) {
    const position = reader.position;
    const char = reader.next();
    switch (char === -1 ? '' : String.fromCodePoint(char)) {
      case '-':
        if (!on || reset) reader.fail('a second hyphen in inline flags', position);
        on = false;
        break;
      case 'i':
        options.fold = on;
        break;
      case 'm':
        options.multiline = on;
        break;
      case 's':
        options.dotAll = on;
        break;
      case 'x':
        options.extended = on;
        options.extendedMore = reader.takes('x') && on;
        break;
      case 'n':
        options.noCapture = on;
        break;
      case 'U':
        options.lazy = on;
        break;
      case 'J':
        options.duplicateNames = on;
        break;
      case ')':
      case ':':
        return { options, hasBody: char === COLON };
      case '':
        return reader.fail(UNCLOSED, start);
      default:
        return reader.fail(
          'there is no such inline flag or group; flags are i, m, s, x, n, U and J',
          position,
        );
    }
  }
}

export const UNCLOSED = 'the parenthesis has no closing one; write \\( for the character';

const COLON = 0x3a;
