import { ANY, CharSet, isAsciiLetter, NOT_NEWLINE, WORD } from './char-set.js';
import { parseClass, posixEnd, propertyTable } from './class-parser.js';
import { readOctal, readSharedEscape } from './escapes.js';
import { Groups } from './groups.js';
import { type Options, readInlineFlags, UNCLOSED } from './inline-flags.js';
import {
  BACKSLASH,
  BAR,
  CARET,
  CLOSE,
  DOLLAR,
  DOT,
  EQUALS,
  EXCLAMATION,
  HYPHEN,
  isNameCode,
  isPatternSpace,
  LESS,
  NEWLINE,
  OPEN,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  QUOTE,
  STAR,
} from './pattern-codes.js';
import { isDigit, isOctalDigit, PatternReader } from './pattern-reader.js';
import { PropertyTables } from './properties.js';
import { type Quantifier, readBraces, readNumber, readQuantifier } from './quantifiers.js';
import {
  type Anchor,
  alternation,
  EMPTY,
  joinStrings,
  type Node,
  type Pattern,
  repeat,
  sequence,
} from './syntax.js';

export const PATTERN_LENGTH_MAX = 65_536;

/**
 * Parses a pattern in the dialect of PCRE2 (its manual page pcre2pattern(3)) with the restrictions of this language:
 * no recursion, conditionals, branch reset, callouts and verbs. Throws RegexSyntaxError.
 */
export function parsePattern(pattern: string, options: Options): Pattern {
  const reader = new PatternReader(pattern);
  if (reader.length > PATTERN_LENGTH_MAX) {
    reader.fail(`the pattern is longer than ${PATTERN_LENGTH_MAX} characters`, PATTERN_LENGTH_MAX);
  }
  return new Parser(reader, options).parse();
}

const NESTING_MAX = 250;
const NAME_LENGTH_MAX = 32;
const NOT_REPEATABLE =
  'there is nothing here that the quantifier could repeat; write it with a backslash for the character';

class Parser {
  readonly #reader: PatternReader;
  readonly #tables = new PropertyTables();
  #options: Options;
  #depth = 0;
  #lookarounds = 0;
  readonly #groups: Groups;

  constructor(reader: PatternReader, options: Options) {
    this.#reader = reader;
    this.#groups = new Groups(reader);
    this.#options = options;
  }

  parse(): Pattern {
    const reader = this.#reader;
    while (reader.takes('(*UTF)'));
    const root = this.#parseAlternation();
    if (!reader.atEnd) reader.fail('the closing parenthesis has no opening one; write \\) for the character');
    return this.#groups.patternOf(root);
  }

  /** Reads up to a closing parenthesis or the end. Inline flags hold up to there, over the bars. */
  #parseAlternation(): Node {
    const outer = this.#options;
    const branches = [this.#parseSequence()];
    while (this.#reader.takes('|')) branches.push(this.#parseSequence());
    this.#options = outer;
    return alternation(branches);
  }

  #parseSequence(): Node {
    const reader = this.#reader;
    const items: Node[] = [];
    /** True if a quantifier may follow. */
    let repeatable = false;
    for (;;) {
      this.#skipIgnored();
      const char = reader.peek();
      if (char === -1 || char === BAR || char === CLOSE) break;
      if (reader.sees('\\Q')) {
        reader.position += 2;
        while (!reader.atEnd && !reader.sees('\\E')) {
          items.push(this.#literal(reader.next()));
          repeatable = true;
        }
        continue;
      }
      const quantifier = readQuantifier(reader, this.#options.lazy, () => this.#skipIgnored());
      if (quantifier !== null) {
        if (!repeatable) reader.fail(NOT_REPEATABLE, quantifier.position);
        items.push(this.#repeat(items.pop() ?? EMPTY, quantifier));
        repeatable = false;
        continue;
      }
      const atom = this.#parseAtom();
      if (atom !== null) items.push(atom.node);
      repeatable = atom?.repeatable ?? false;
    }
    return sequence(joinStrings(items));
  }

  /** Skips comments, a lone `\E`, and under x white space. */
  #skipIgnored(): void {
    const reader = this.#reader;
    for (;;) {
      if (reader.takes('\\E') || reader.takes('\\Q\\E')) continue;
      if (reader.sees('(?#')) {
        const start = reader.position;
        while (reader.peek() !== CLOSE) {
          if (reader.atEnd) reader.fail('the comment has no closing parenthesis', start);
          reader.position++;
        }
        reader.position++;
      } else if (this.#options.extended && isPatternSpace(reader.peek())) {
        reader.position++;
      } else if (this.#options.extended && reader.takes('#')) {
        while (!reader.atEnd && reader.next() !== NEWLINE);
      } else {
        return;
      }
    }
  }

  #literal(code: number): Node {
    const fold = this.#options.fold && isAsciiLetter(code);
    return { kind: 'string', codes: [fold ? code | 0x20 : code], fold };
  }

  #repeat(body: Node, { min, max, mode }: Quantifier): Node {
    // More than one repetition of an assertion changes nothing; an endless number would be a loop without progress.
    const isLook = body.kind === 'lookahead' || body.kind === 'lookbehind';
    return repeat(body, min, isLook && max === Infinity ? min + 1 : max, mode);
  }

  // Single items

  /** Null for what leaves no trace, such as inline flags. */
  #parseAtom(): { node: Node; repeatable: boolean } | null {
    const reader = this.#reader;
    const options = this.#options;
    const char = reader.peek();
    switch (char) {
      case OPEN:
        return this.#parseParenthesis();
      case OPEN_BRACKET:
        return this.#parseBracket();
      case BACKSLASH:
        reader.position++;
        return this.#parseEscape();
      case DOT:
        reader.position++;
        return { node: { kind: 'set', set: options.dotAll ? ANY : NOT_NEWLINE }, repeatable: true };
      case CARET:
        reader.position++;
        return anchor(options.multiline ? 'line start' : 'text start');
      case DOLLAR:
        reader.position++;
        return anchor(options.multiline ? 'line end' : 'text end');
      default:
        reader.position++;
        return { node: this.#literal(char), repeatable: true };
    }
  }

  /** A class, or one of `[[:<:]]` and `[[:>:]]`, which mean the start and the end of a word. */
  #parseBracket(): { node: Node; repeatable: boolean } {
    const reader = this.#reader;
    const word: Node = { kind: 'set', set: new CharSet(WORD) };
    let look: Node | null = null;
    if (reader.takes('[[:<:]]')) look = { kind: 'lookahead', body: word, negative: false };
    else if (reader.takes('[[:>:]]')) {
      look = { kind: 'lookbehind', branches: [{ body: word, length: 1 }], negative: false };
    }
    if (look !== null) {
      return { node: sequence([{ kind: 'anchor', anchor: 'word boundary' }, look]), repeatable: false };
    }
    if (posixEnd(reader) > 0)
      reader.fail('a POSIX class must stand in brackets of its own, as in [[:alpha:]]');
    reader.position++;
    const { fold, extendedMore: ignoreBlanks } = this.#options;
    const set = parseClass(reader, { fold, ignoreBlanks, tables: this.#tables });
    return { node: { kind: 'set', set }, repeatable: true };
  }

  /** The reader stands behind the backslash. */
  #parseEscape(): { node: Node; repeatable: boolean } {
    const reader = this.#reader;
    const start = reader.position - 1;
    const shared = readSharedEscape(reader);
    if (shared !== null) {
      if (shared.kind === 'code') return { node: this.#literal(shared.code), repeatable: true };
      const set =
        shared.kind === 'ranges'
          ? new CharSet(shared.ranges)
          : new CharSet([], propertyTable(reader, this.#tables, [shared.body], start));
      return { node: { kind: 'set', set }, repeatable: true };
    }
    if (isDigit(reader.peek())) return { node: this.#parseDigits(start), repeatable: true };
    const name = String.fromCharCode(reader.next());
    const place = ANCHOR_ESCAPES.get(name);
    if (place !== undefined) return anchor(place);
    switch (name) {
      case 'N':
        if (reader.peek() === OPEN_BRACE && this.#bracesAreText()) {
          reader.fail('characters can not be given by name; write \\x{...} with the number', start);
        }
        return { node: { kind: 'set', set: NOT_NEWLINE }, repeatable: true };
      case 'R':
        return { node: { kind: 'newline' }, repeatable: true };
      case 'X':
        return { node: { kind: 'grapheme' }, repeatable: true };
      case 'K':
        if (this.#lookarounds > 0) reader.fail('\\K is not possible in a look-ahead or look-behind', start);
        return { node: { kind: 'keep' }, repeatable: false };
      case 'g':
        return { node: this.#parseG(start), repeatable: true };
      case 'k':
        return { node: this.#parseK(start), repeatable: true };
      default:
        return reader.fail(`\\${name} has no meaning; for a letter leave the backslash out`, start);
    }
  }

  /** True if the brace that comes next is not the start of a quantifier. */
  #bracesAreText(): boolean {
    const start = this.#reader.position;
    const isText = readBraces(this.#reader) === null;
    this.#reader.position = start;
    return isText;
  }

  // Back references

  /** `\1` to `\9`, more digits if there are so many groups, else a character by its octal number. */
  #parseDigits(start: number): Node {
    const reader = this.#reader;
    const first = reader.position;
    const number = readNumber(reader);
    if (
      number < 10 ||
      number <= this.#groups.count ||
      !isOctalDigit(reader.slice(first, first + 1).charCodeAt(0))
    ) {
      return this.#groups.reference(this.#options.fold, number, start);
    }
    reader.position = first;
    return this.#literal(readOctal(reader));
  }

  /** `\g1`, `\g-1`, `\g{1}`, `\g{-1}`, `\g{name}`; the reader stands behind the g. */
  #parseG(start: number): Node {
    const reader = this.#reader;
    if (reader.peek() === LESS || reader.peek() === QUOTE) {
      reader.fail(
        'calling a group as a subroutine is not supported; \\g{name} refers back to what it matched',
        start,
      );
    }
    const braced = reader.takes('{');
    const sign = reader.takes('-') ? -1 : reader.takes('+') ? 1 : 0;
    if (!isDigit(reader.peek())) {
      if (!braced || sign !== 0) reader.fail('\\g needs a number or a name in braces, as in \\g{1}', start);
      return this.#groups.reference(this.#options.fold, this.#parseName('}'), start);
    }
    const number = readNumber(reader);
    if (braced && !reader.takes('}')) reader.fail('\\g{ has no }', start);
    if (sign === 0) return this.#groups.reference(this.#options.fold, number, start);
    if (number === 0) reader.fail('a relative reference can not be zero', start);
    return this.#groups.reference(
      this.#options.fold,
      sign < 0 ? this.#groups.count + 1 - number : this.#groups.count + number,
      start,
    );
  }

  /** `\k<name>`, `\k'name'`, `\k{name}`; the reader stands behind the k. */
  #parseK(start: number): Node {
    const reader = this.#reader;
    if (reader.takes('<')) return this.#groups.reference(this.#options.fold, this.#parseName('>'), start);
    if (reader.takes("'")) return this.#groups.reference(this.#options.fold, this.#parseName("'"), start);
    if (reader.takes('{')) return this.#groups.reference(this.#options.fold, this.#parseName('}'), start);
    return reader.fail('\\k needs a name, as in \\k<name>', start);
  }

  #parseName(terminator: string): string {
    const reader = this.#reader;
    const start = reader.position;
    while (isNameCode(reader.peek())) reader.position++;
    if (reader.position === start) reader.fail('the name of a group is missing');
    if (isDigit(reader.slice(start, start + 1).charCodeAt(0)))
      reader.fail('the name of a group can not begin with a digit', start);
    if (reader.position - start > NAME_LENGTH_MAX) {
      reader.fail(`the name of a group is longer than ${NAME_LENGTH_MAX} characters`, start);
    }
    const name = reader.slice(start, reader.position);
    if (!reader.takes(terminator)) {
      reader.fail(`a group's name consists of letters, digits and _, and ends with ${terminator}`);
    }
    return name;
  }

  // Parentheses

  #parseParenthesis(): { node: Node; repeatable: boolean } | null {
    const reader = this.#reader;
    const start = reader.position++;
    if (reader.peek() === STAR) {
      reader.fail('verbs such as (*ACCEPT) are not supported; write \\* for the character', start);
    }
    if (!reader.takes('?')) {
      const node = this.#options.noCapture ? this.#parseBody(start) : this.#parseCapture(start, null);
      return { node, repeatable: true };
    }
    const char = reader.peek();
    if (char === -1) reader.fail(UNCLOSED, start);
    if (isDigit(char) || (isDigit(reader.peek(1)) && (char === PLUS || char === HYPHEN))) {
      reader.fail('recursion, as in (?1), is not supported', start);
    }
    switch (String.fromCodePoint(char)) {
      case ':':
        reader.position++;
        return { node: this.#parseBody(start), repeatable: true };
      case '>':
        reader.position++;
        return { node: { kind: 'atomic', body: this.#parseBody(start) }, repeatable: true };
      case '=':
      case '!':
        return { node: this.#parseLookahead(start), repeatable: true };
      case '<':
        if (reader.peek(1) === EQUALS || reader.peek(1) === EXCLAMATION) {
          return { node: this.#parseLookbehind(start), repeatable: true };
        }
        if (reader.peek(1) === STAR) reader.fail('non-atomic look-behinds (?<*...) are not supported', start);
        reader.position++;
        return { node: this.#parseCapture(start, this.#parseName('>')), repeatable: true };
      case "'":
        reader.position++;
        return { node: this.#parseCapture(start, this.#parseName("'")), repeatable: true };
      case 'P':
        reader.position++;
        return { node: this.#parsePython(start), repeatable: true };
      case '|':
        return reader.fail('branch reset (?|...) is not supported', start);
      case '(':
        return reader.fail('conditions (?(1)...) are not supported; use alternatives and look-aheads', start);
      case 'R':
      case '&':
        return reader.fail('recursion, as in (?R), is not supported', start);
      case 'C':
        return reader.fail('callouts (?C...) are not supported', start);
      case '*':
        return reader.fail('non-atomic look-aheads (?*...) are not supported', start);
      default: {
        const { options, hasBody } = readInlineFlags(reader, this.#options, start);
        const outer = this.#options;
        this.#options = options;
        if (!hasBody) return null;
        const node = this.#parseBody(start);
        this.#options = outer;
        return { node, repeatable: true };
      }
    }
  }

  /** `(?P<n>...)`, `(?P=n)`; the reader stands behind the P. */
  #parsePython(start: number): Node {
    const reader = this.#reader;
    if (reader.takes('<')) return this.#parseCapture(start, this.#parseName('>'));
    if (reader.takes('=')) return this.#groups.reference(this.#options.fold, this.#parseName(')'), start);
    if (reader.takes('>')) reader.fail('recursion, as in (?P>name), is not supported', start);
    return reader.fail('(?P must be followed by <name> or =name', start);
  }

  /** Reads a group's body and its closing parenthesis. */
  #parseBody(start: number): Node {
    if (++this.#depth > NESTING_MAX) {
      this.#reader.fail(`parentheses are nested more than ${NESTING_MAX} deep`, start);
    }
    const body = this.#parseAlternation();
    this.#depth--;
    if (!this.#reader.takes(')')) this.#reader.fail(UNCLOSED, start);
    return body;
  }

  #parseCapture(start: number, name: string | null): Node {
    const group = this.#groups.open(name, this.#options.duplicateNames, start);
    const body = this.#parseBody(start);
    this.#groups.close(group, body);
    return { kind: 'capture', group, body };
  }

  #parseLookahead(start: number): Node {
    const negative = this.#reader.next() === EXCLAMATION;
    this.#lookarounds++;
    const body = this.#parseBody(start);
    this.#lookarounds--;
    return { kind: 'lookahead', body, negative };
  }

  #parseLookbehind(start: number): Node {
    this.#reader.position++;
    const negative = this.#reader.next() === EXCLAMATION;
    this.#lookarounds++;
    const body = this.#parseBody(start);
    this.#lookarounds--;
    return this.#groups.lookbehind(body, negative, start);
  }
}

const ANCHOR_ESCAPES: ReadonlyMap<string, Anchor> = new Map<string, Anchor>([
  ['A', 'text start'],
  ['z', 'text end'],
  ['Z', 'text end or final newline'],
  ['b', 'word boundary'],
  ['B', 'no word boundary'],
  ['G', 'search start'],
]);

function anchor(place: Anchor): { node: Node; repeatable: boolean } {
  return { node: { kind: 'anchor', anchor: place }, repeatable: false };
}
