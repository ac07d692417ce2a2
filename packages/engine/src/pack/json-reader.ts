/**
 * JSON from clients and for `json_load`: exactly RFC 8259. A number without fraction and exponent is an int and must
 * lie in int64, any other one a float.
 */
import { type QueryError, valueError } from '../error.js';
import { attach } from '../state/attach.js';
import { List, toItem } from '../value/containers.js';
import { INT_MAX, INT_MIN, toIntValue } from '../value/numbers.js';
import { Float } from '../value/scalars.js';
import type { ShapeTree } from '../value/shape.js';
import { isReservedKey, Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { type JsonOptions, REQUEST_JSON, VALUES_PER_CALL } from './json-options.js';

/** Escapes in a string that count for so many values. */
const ESCAPES_PER_CALL = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export class JsonReader {
  private position: number;
  /** Values so far. */
  private count = 0;

  /** @param start where in the text it begins to read */
  constructor(
    private readonly text: string,
    private readonly shapes: ShapeTree,
    private readonly options: JsonOptions = REQUEST_JSON,
    start = 0,
  ) {
    this.position = start;
  }

  /** The next value; objects become things and arrays lists. */
  value(nesting = 0): Value {
    this.count += 1;
    if (this.count % VALUES_PER_CALL === 0) this.options.onValues?.(VALUES_PER_CALL);
    this.space();
    const code = this.text.charCodeAt(this.position);
    switch (code) {
      case 0x7b:
        return this.thing(nesting);
      case 0x5b:
        return this.list(nesting);
      case QUOTE:
        return this.string();
      case 0x74:
        return this.word('true', true);
      case 0x66:
        return this.word('false', false);
      case 0x6e:
        return this.word('null', null);
      default:
        return this.number();
    }
  }

  /** Where the next value begins. */
  start(): number {
    this.space();
    return this.position;
  }

  /** Where what was read ends. */
  get offset(): number {
    return this.position;
  }

  /**
   * Passes over the next value, whose form is checked; nothing is made of it. Numbers that are too large, and halves of
   * characters, are left for those who read it.
   */
  skip(nesting = 0): void {
    const { text } = this;
    const closers: number[] = [];
    for (;;) {
      this.space();
      const code = text.charCodeAt(this.position);
      if (code === 0x7b || code === 0x5b) {
        const closer = code + 2;
        this.enter(nesting + closers.length);
        this.position += 1;
        if (!this.closes(closer)) {
          closers.push(closer);
          if (closer === 0x7d) this.skipKey();
          continue;
        }
      } else if (code === QUOTE) this.stringEnd();
      else if (code === 0x74) this.word('true', true);
      else if (code === 0x66) this.word('false', false);
      else if (code === 0x6e) this.word('null', null);
      else this.skipNumber();
      for (;;) {
        const closer = closers.at(-1);
        if (closer === undefined) return;
        if (this.continues(closer)) {
          if (closer === 0x7d) this.skipKey();
          break;
        }
        closers.pop();
      }
    }
  }

  /**
   * Passes over the next value, which must be known to be an array or an object. Only its brackets and quotes are looked at,
   * as far as it takes to find its end: who reads the value later finds what is wrong in it.
   */
  skipBrackets(): void {
    const { text } = this;
    const { length } = text;
    let depth = 0;
    let isString = false;
    for (let i = this.position; i < length; i++) {
      const code = text.charCodeAt(i);
      if (isString) {
        if (code === QUOTE) isString = false;
        else if (code === BACKSLASH) i += 1;
      } else if (code === QUOTE) {
        isString = true;
      } else if (code === 0x7b || code === 0x5b) {
        depth += 1;
      } else if (code === 0x7d || code === 0x5d) {
        depth -= 1;
        if (depth === 0) {
          this.position = i + 1;
          return;
        }
      }
    }
    this.position = length;
    throw this.malformed(isString ? 'the end of a string' : "']' or '}'");
  }

  private skipKey(): void {
    this.expectKey();
    this.stringEnd();
    this.expectColon();
  }

  /** True if the next value begins with this character: `{`, `[` or `"`. */
  startsWith(character: string): boolean {
    this.space();
    return this.text[this.position] === character;
  }

  /** Reads an object and hands each key over; `entry` must read the value. */
  object(entry: (key: string) => void, nesting: number): void {
    for (let more = this.begins(nesting); more; more = this.goesOn()) entry(this.key());
  }

  /** Begins to read an object; whether it has an entry. */
  begins(nesting = 0): boolean {
    this.enter(nesting);
    this.position += 1;
    return !this.closes(0x7d);
  }

  /** True if an object has one more entry. */
  goesOn(): boolean {
    return this.continues(0x7d);
  }

  /** Reads the key of an entry; its value is next. */
  key(): string {
    this.expectKey();
    const key = this.string();
    this.expectColon();
    return key;
  }

  /** Passes over the next string if it is this word and has no escapes; whether it is. */
  isWord(word: string): boolean {
    const { text } = this;
    this.space();
    const start = this.position;
    const end = start + word.length + 1;
    if (text.charCodeAt(start) !== QUOTE || text.charCodeAt(end) !== QUOTE) return false;
    for (let i = 0; i < word.length; i++) {
      if (text.charCodeAt(start + 1 + i) !== word.charCodeAt(i)) return false;
    }
    this.position = end + 1;
    return true;
  }

  /** As `key`, where the key is this word; else nothing is read. */
  isKey(word: string): boolean {
    if (!this.isWord(word)) return false;
    this.expectColon();
    return true;
  }

  private expectKey(): void {
    this.space();
    if (this.text.charCodeAt(this.position) !== QUOTE) throw this.malformed('a key in quotes');
  }

  private expectColon(): void {
    this.space();
    if (this.text.charCodeAt(this.position) !== 0x3a) throw this.malformed("':'");
    this.position += 1;
  }

  /** Reads an array; `item` must read each value. */
  array(item: () => void, nesting: number): void {
    for (let more = this.beginsArray(nesting); more; more = this.goesOnArray()) item();
  }

  /** Begins to read an array; whether it has an item. */
  beginsArray(nesting: number): boolean {
    this.enter(nesting);
    this.position += 1;
    return !this.closes(0x5d);
  }

  /** True if an array has one more item. */
  goesOnArray(): boolean {
    return this.continues(0x5d);
  }

  /** Throws unless only white space is left. */
  end(): void {
    this.space();
    if (this.position < this.text.length) throw this.malformed('the end of the text');
  }

  private thing(nesting: number): Thing {
    const thing = new Thing(0, this.shapes.empty(), []);
    this.object((key) => {
      if (isReservedKey(key)) throw valueError(`the key '${key}' is reserved`);
      const value = this.value(nesting + 1);
      thing.put(key, value);
      attach(thing, key, value);
    }, nesting);
    return thing;
  }

  private list(nesting: number): List {
    const list = new List([]);
    this.array(() => list.items.push(toItem(this.value(nesting + 1), list)), nesting);
    return list;
  }

  /** The next value, which must be known to be a string. */
  string(): string {
    const { text } = this;
    const start = this.position;
    let end = start + 1;
    let code = text.charCodeAt(end);
    while (code !== QUOTE && code !== BACKSLASH && code >= 0x20) {
      end += 1;
      code = text.charCodeAt(end);
    }
    if (code === QUOTE) {
      this.position = end + 1;
      return text.slice(start + 1, end);
    }
    const escapes = this.stringEnd();
    // The form is known to be right; what is left is the work that the platform does best.
    const value: unknown = JSON.parse(this.text.slice(start, this.position));
    if (typeof value !== 'string') throw new Error('a text in quotes is no string');
    if (escapes !== Escapes.SURROGATES || !LONE_SURROGATE.test(value)) return value;
    if (this.options.loneSurrogate === 'replaced') return value.replace(LONE_SURROGATES, '?');
    throw this.options.malformed(
      `half of a surrogate pair in a string that ends at position ${this.position}`,
    );
  }

  /** Passes over a string, whose form is checked; tells what escapes are in it. */
  private stringEnd(): Escapes {
    const { text } = this;
    let escapes: Escapes = Escapes.NONE;
    let left = ESCAPES_PER_CALL;
    for (let i = this.position + 1; ; i++) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) {
        this.position = i + 1;
        return escapes;
      }
      if (code === BACKSLASH) {
        i += 1;
        left -= 1;
        if (left === 0) {
          left = ESCAPES_PER_CALL;
          this.options.onValues?.(VALUES_PER_CALL);
        }
        const letter = text.charCodeAt(i);
        const isUnit = letter === 0x75;
        if (escapes !== Escapes.SURROGATES) {
          escapes = isUnit && this.isSurrogate(i + 1) ? Escapes.SURROGATES : Escapes.SOME;
        }
        if (isUnit) {
          this.position = i + 1;
          this.checkHex();
          i += 4;
        } else if (!SIMPLE_ESCAPES.has(letter)) {
          this.position = i;
          throw this.malformed('an escape that JSON knows');
        }
      } else if (!(code >= 0x20)) {
        this.position = i;
        throw this.malformed(
          i < text.length ? 'an escape for this control character' : 'the end of a string',
        );
      }
    }
  }

  private checkHex(): void {
    for (let i = this.position; i < this.position + 4; i++) {
      const code = this.text.charCodeAt(i) | 0x20;
      const isHex = (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66);
      if (!isHex) throw this.malformed('four hexadecimal digits');
    }
  }

  /** True if four hexadecimal digits are those of a half of a pair: D8 to DF in front. */
  private isSurrogate(at: number): boolean {
    if ((this.text.charCodeAt(at) | 0x20) !== 0x64) return false;
    const second = this.text.charCodeAt(at + 1) | 0x20;
    return second === 0x38 || second === 0x39 || (second >= 0x61 && second <= 0x66);
  }

  private number(): number | bigint | Float {
    const small = this.smallInt();
    if (small >= 0) return small;
    NUMBER.lastIndex = this.position;
    const match = NUMBER.exec(this.text);
    if (match === null) throw this.malformed('a value');
    const [text, fraction] = match;
    if (fraction !== '') {
      const float = Number(text);
      if (!Number.isFinite(float)) throw this.options.malformed(`the number ${excerpt(text)} is too large`);
      this.position += text.length;
      return new Float(float);
    }
    const int = text.length < 16 ? Number(text) + 0 : this.largeInt(text);
    this.position += text.length;
    return int;
  }

  /** The next value when it is an int from 0 to 999,999,999, the most usual kind of number; else -1, and nothing is read. */
  private smallInt(): number {
    const { text, position } = this;
    let value = text.charCodeAt(position) - 0x30;
    if (!(value >= 0 && value <= 9)) return -1;
    const isZero = value === 0;
    for (let i = position + 1; i < position + 10; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x30 && code <= 0x39 && !isZero) {
        value = value * 10 + code - 0x30;
      } else if (code === 0x2e || (code | 0x20) === 0x65) {
        return -1;
      } else {
        this.position = i;
        return value;
      }
    }
    return -1;
  }

  private skipNumber(): void {
    if (this.smallInt() >= 0) return;
    NUMBER.lastIndex = this.position;
    if (!NUMBER.test(this.text)) throw this.malformed('a value');
    this.position = NUMBER.lastIndex;
  }

  private largeInt(text: string): number | bigint {
    const value = text.length > 20 ? null : BigInt(text);
    if (value === null || value < INT_MIN || value > INT_MAX) {
      throw this.options.malformed(`the integer ${excerpt(text)} lies outside the 64-bit range`);
    }
    return toIntValue(value);
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.position)) throw this.malformed('a value');
    this.position += word.length;
    return value;
  }

  private closes(code: number): boolean {
    this.space();
    if (this.text.charCodeAt(this.position) !== code) return false;
    this.position += 1;
    return true;
  }

  private continues(end: number): boolean {
    if (this.closes(end)) return false;
    if (this.text.charCodeAt(this.position) !== 0x2c) {
      throw this.malformed(end === 0x7d ? "',' or '}'" : "',' or ']'");
    }
    this.position += 1;
    return true;
  }

  private enter(nesting: number): void {
    if (nesting >= this.options.nestingMax) {
      throw this.options.tooDeep(`the JSON text is nested more than ${this.options.nestingMax} deep`);
    }
  }

  private space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.position += 1;
    }
  }

  private malformed(expected: string): QueryError {
    return this.options.malformed(`not valid JSON: expected ${expected} at position ${this.position}`);
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/y;

/** The escapes of a string: none, some, some of which are halves of pairs of UTF-16 units. */
const Escapes = { NONE: 0, SOME: 1, SURROGATES: 2 } as const;
type Escapes = (typeof Escapes)[keyof typeof Escapes];

/** Characters behind a backslash in escapes of one character. */
const SIMPLE_ESCAPES: ReadonlySet<number> = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));

const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;

function excerpt(digits: string): string {
  return digits.length > 40 ? `${digits.slice(0, 37)}...` : digits;
}
