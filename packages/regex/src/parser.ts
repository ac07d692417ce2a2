/**
 * Long because: it is one grammar: the rules call each other, and share what was read of groups and
 * options.
 */
import { ANY, CharSet, isAsciiLetter, NOT_NEWLINE, WORD } from './char-set.js';
import { parseClass, posixEnd, propertyTable } from './class-parser.js';
import { readOctal, readSharedEscape } from './escapes.js';
import { FixedLengths, lookbehindBranches } from './fixed-length.js';
import { isDigit, isOctalDigit, PatternReader } from './pattern-reader.js';
import { PropertyTables } from './properties.js';
import {
  type Anchor,
  alternation,
  EMPTY,
  type Node,
  type Pattern,
  type RepeatMode,
  repeat,
  sequence,
} from './syntax.js';

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
const REPEAT_MAX = 65_535;
const NAME_LENGTH_MAX = 32;
const NOT_REPEATABLE =
  'there is nothing here that the quantifier could repeat; write it with a backslash for the character';

type Reference = Extract<Node, { kind: 'reference' }>;
type Lookbehind = Extract<Node, { kind: 'lookbehind' }>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

class Parser {
  readonly #reader: PatternReader;
  readonly #tables = new PropertyTables();
  #options: Options;
  #depth = 0;
  #lookarounds = 0;
  #groupCount = 0;
  /** Bodies of the groups that have been closed, by number. */
  readonly #bodies = new Map<number, Node>();
  readonly #openGroups = new Set<number>();
  readonly #groupsByName = new Map<string, number[]>();
  readonly #selfReferenced = new Set<number>();
  /** References whose group may follow later. */
  readonly #pending: { node: Mutable<Reference>; target: number | string; position: number }[] = [];
  /** Look-behinds whose length can be told when all groups are known. */
  readonly #lookbehinds: { node: Mutable<Lookbehind>; body: Node; position: number }[] = [];

  constructor(reader: PatternReader, options: Options) {
    this.#reader = reader;
    this.#options = options;
  }

  parse(): Pattern {
    const reader = this.#reader;
    while (reader.takes('(*UTF)'));
    const root = this.#parseAlternation();
    if (!reader.atEnd) reader.fail('the closing parenthesis has no opening one; write \\) for the character');
    for (const { node, target, position } of this.#pending) node.groups = this.#groupsOf(target, position);
    const lengths = new FixedLengths(this.#bodies);
    for (const { node, body, position } of this.#lookbehinds) {
      node.branches = lookbehindBranches(body, lengths, reader, position);
    }
    return {
      root,
      groupCount: this.#groupCount,
      groupsByName: this.#groupsByName,
      hasReferences: this.#pending.length > 0,
      selfReferenced: this.#selfReferenced,
    };
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
    /** Whether a quantifier may follow. */
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
      const quantifier = this.#parseQuantifier();
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

  // Quantifiers

  #parseQuantifier(): Quantifier | null {
    const reader = this.#reader;
    const position = reader.position;
    let bounds: { min: number; max: number } | null;
    if (reader.takes('*')) bounds = { min: 0, max: Infinity };
    else if (reader.takes('+')) bounds = { min: 1, max: Infinity };
    else if (reader.takes('?')) bounds = { min: 0, max: 1 };
    else bounds = this.#parseBraces();
    if (bounds === null) return null;
    this.#skipIgnored();
    let mode: RepeatMode = this.#options.lazy ? 'lazy' : 'greedy';
    if (reader.takes('+')) mode = 'possessive';
    else if (reader.takes('?')) mode = this.#options.lazy ? 'greedy' : 'lazy';
    return { ...bounds, mode, position };
  }

  /** `{2}`, `{2,}` or `{2,5}`; anything else in braces is text. */
  #parseBraces(): { min: number; max: number } | null {
    const reader = this.#reader;
    if (reader.peek() !== OPEN_BRACE || !isDigit(reader.peek(1))) return null;
    const start = reader.position++;
    const min = this.#parseNumber(REPEAT_MAX);
    let max = min;
    if (reader.takes(',')) max = isDigit(reader.peek()) ? this.#parseNumber(REPEAT_MAX) : Infinity;
    if (!reader.takes('}')) {
      reader.position = start;
      return null;
    }
    if (min > REPEAT_MAX || (max > REPEAT_MAX && max !== Infinity)) {
      reader.fail(`a quantifier can not ask for more than ${REPEAT_MAX} repetitions`, start);
    }
    if (max < min) reader.fail('the quantifier has its numbers out of order', start);
    return { min, max };
  }

  /** Reads digits; beyond the limit the value is the limit plus one. */
  #parseNumber(limit: number): number {
    let value = 0;
    while (isDigit(this.#reader.peek())) value = Math.min(limit + 1, value * 10 + this.#reader.next() - 0x30);
    return value;
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

  /** Whether the brace that comes next is not the start of a quantifier. */
  #bracesAreText(): boolean {
    const start = this.#reader.position;
    const isText = this.#parseBraces() === null;
    this.#reader.position = start;
    return isText;
  }

  // Back references

  /** `\1` to `\9`, more digits if there are so many groups, else a character by its octal number. */
  #parseDigits(start: number): Node {
    const reader = this.#reader;
    const first = reader.position;
    const number = this.#parseNumber(REPEAT_MAX);
    if (
      number < 10 ||
      number <= this.#groupCount ||
      !isOctalDigit(reader.slice(first, first + 1).charCodeAt(0))
    ) {
      return this.#reference(number, start);
    }
    reader.position = first;
    return this.#literal(readOctal(reader, 3));
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
      return this.#reference(this.#parseName('}'), start);
    }
    const number = this.#parseNumber(REPEAT_MAX);
    if (braced && !reader.takes('}')) reader.fail('\\g{ has no }', start);
    if (sign === 0) return this.#reference(number, start);
    if (number === 0) reader.fail('a relative reference can not be zero', start);
    return this.#reference(sign < 0 ? this.#groupCount + 1 - number : this.#groupCount + number, start);
  }

  /** `\k<name>`, `\k'name'`, `\k{name}`; the reader stands behind the k. */
  #parseK(start: number): Node {
    const reader = this.#reader;
    if (reader.takes('<')) return this.#reference(this.#parseName('>'), start);
    if (reader.takes("'")) return this.#reference(this.#parseName("'"), start);
    if (reader.takes('{')) return this.#reference(this.#parseName('}'), start);
    return reader.fail('\\k needs a name, as in \\k<name>', start);
  }

  #reference(target: number | string, position: number): Node {
    const groups = typeof target === 'number' ? [target] : (this.#groupsByName.get(target) ?? []);
    for (const group of groups) if (this.#openGroups.has(group)) this.#selfReferenced.add(group);
    const node: Mutable<Reference> = { kind: 'reference', groups: [], fold: this.#options.fold };
    this.#pending.push({ node, target, position });
    return node;
  }

  #groupsOf(target: number | string, position: number): readonly number[] {
    if (typeof target === 'string') {
      const groups = this.#groupsByName.get(target);
      return groups ?? this.#reader.fail(`there is no group with the name ${target}`, position);
    }
    if (target < 1 || target > this.#groupCount)
      this.#reader.fail(`there is no group number ${target}`, position);
    return [target];
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
        const node = this.#parseInlineFlags(start);
        return node === null ? null : { node, repeatable: true };
      }
    }
  }

  /** `(?P<n>...)`, `(?P=n)`; the reader stands behind the P. */
  #parsePython(start: number): Node {
    const reader = this.#reader;
    if (reader.takes('<')) return this.#parseCapture(start, this.#parseName('>'));
    if (reader.takes('=')) return this.#reference(this.#parseName(')'), start);
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
    const group = ++this.#groupCount;
    if (name !== null) this.#nameGroup(group, name, start);
    this.#openGroups.add(group);
    const body = this.#parseBody(start);
    this.#openGroups.delete(group);
    this.#bodies.set(group, body);
    return { kind: 'capture', group, body };
  }

  #nameGroup(group: number, name: string, position: number): void {
    const groups = this.#groupsByName.get(name);
    if (groups === undefined) {
      this.#groupsByName.set(name, [group]);
    } else {
      if (!this.#options.duplicateNames)
        this.#reader.fail(`there are two groups with the name ${name}`, position);
      groups.push(group);
    }
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
    const node: Mutable<Lookbehind> = { kind: 'lookbehind', branches: [], negative };
    this.#lookbehinds.push({ node, body, position: start });
    return node;
  }

  /** `(?i)`, `(?i-s)`, `(?^i)`, `(?i:...)`; the reader stands behind the question mark. */
  #parseInlineFlags(start: number): Node | null {
    const reader = this.#reader;
    const options: Mutable<Options> = { ...this.#options };
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
          this.#options = options;
          return null;
        case ':': {
          const outer = this.#options;
          this.#options = options;
          const body = this.#parseBody(start);
          this.#options = outer;
          return body;
        }
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
}

interface Quantifier {
  readonly min: number;
  readonly max: number;
  readonly mode: RepeatMode;
  readonly position: number;
}

const UNCLOSED = 'the parenthesis has no closing one; write \\( for the character';

const OPEN = 0x28;
const CLOSE = 0x29;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const BACKSLASH = 0x5c;
const BAR = 0x7c;
const CARET = 0x5e;
const DOLLAR = 0x24;
const DOT = 0x2e;
const STAR = 0x2a;
const PLUS = 0x2b;
const HYPHEN = 0x2d;
const EQUALS = 0x3d;
const EXCLAMATION = 0x21;
const LESS = 0x3c;
const QUOTE = 0x27;
const NEWLINE = 0x0a;

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

/** What x ignores: the white space of patterns by Unicode (Pattern_White_Space). */
function isPatternSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return code === 0x85 || code === 0x200e || code === 0x200f || code === 0x2028 || code === 0x2029;
}

/** A character of a group's name: a letter, a digit or an underscore. */
function isNameCode(code: number): boolean {
  if (code < 0x80) return isAsciiLetter(code) || isDigit(code) || code === 0x5f;
  return /^[\p{L}\p{Nd}]$/u.test(String.fromCodePoint(code));
}

/** Joins neighbouring characters to strings. */
function joinStrings(items: readonly Node[]): Node[] {
  const result: Node[] = [];
  let last: { kind: 'string'; codes: number[]; fold: boolean } | null = null;
  for (const item of items) {
    if (item.kind !== 'string') {
      result.push(item);
      last = null;
    } else if (
      last !== null &&
      (item.fold === last.fold || !hasLetters(item.codes) || !hasLetters(last.codes))
    ) {
      // Without letters it doesn't matter whether case does.
      last.fold ||= item.fold;
      for (const code of item.codes) last.codes.push(code);
    } else {
      last = { kind: 'string', codes: [...item.codes], fold: item.fold };
      result.push(last);
    }
  }
  return result;
}

function hasLetters(codes: readonly number[]): boolean {
  return codes.some(isAsciiLetter);
}
