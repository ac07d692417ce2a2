/**
 * JSON from clients and for `json_load`: exactly RFC 8259. A number without fraction and exponent is an int and must
 * lie in int64, any other one a float.
 */
import { badDataError, type QueryError, valueError } from '../error.js';
import { attach } from '../state/store.js';
import { List, toItem } from '../value/containers.js';
import { INT_MAX, INT_MIN, toIntValue } from '../value/numbers.js';
import { Float } from '../value/scalars.js';
import type { ShapeTree } from '../value/shape.js';
import { isReservedKey, Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

export interface JsonOptions {
  /** Arrays and objects inside each other at most. */
  readonly nestingMax: number;
  /** The error for text that is no JSON. */
  readonly malformed: (message: string) => QueryError;
  /** The error for text that is nested too deeply. */
  readonly tooDeep: (message: string) => QueryError;
  /** Called at each value, so that the work can be charged for; what it throws ends the work. */
  readonly onValue?: () => void;
}

/** How requests are read. */
export const REQUEST_JSON: JsonOptions = { nestingMax: 127, malformed: badDataError, tooDeep: badDataError };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export class JsonReader {
  private readonly text: string;
  private readonly shapes: ShapeTree;
  private readonly options: JsonOptions;
  private position = 0;

  constructor(text: string, shapes: ShapeTree, options: JsonOptions = REQUEST_JSON) {
    this.text = text;
    this.shapes = shapes;
    this.options = options;
  }

  /** The next value; objects become things and arrays lists. */
  value(nesting = 0): Value {
    this.options.onValue?.();
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

  /** Whether the next value begins with this character: `{`, `[` or `"`. */
  startsWith(character: string): boolean {
    this.space();
    return this.text[this.position] === character;
  }

  /** Reads an object and hands each key over; `entry` must read the value. */
  object(entry: (key: string) => void, nesting = 0): void {
    this.enter(nesting);
    this.position += 1;
    if (this.closes(0x7d)) return;
    do {
      this.space();
      if (this.text.charCodeAt(this.position) !== QUOTE) throw this.malformed('a key in quotes');
      const key = this.string();
      this.space();
      if (this.text.charCodeAt(this.position) !== 0x3a) throw this.malformed("':'");
      this.position += 1;
      entry(key);
    } while (this.continues(0x7d, "',' or '}'"));
  }

  /** Reads an array; `item` must read each value. */
  array(item: () => void, nesting = 0): void {
    this.enter(nesting);
    this.position += 1;
    if (this.closes(0x5d)) return;
    do item();
    while (this.continues(0x5d, "',' or ']'"));
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

  private string(): string {
    const { text } = this;
    const start = this.position + 1;
    for (let i = start; ; i++) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) {
        this.position = i + 1;
        return text.slice(start, i);
      }
      if (code === BACKSLASH) return this.escaped(start, i);
      if (!(code >= 0x20)) {
        this.position = i;
        throw this.malformed(
          i < text.length ? 'an escape for this control character' : 'the end of a string',
        );
      }
    }
  }

  private escaped(start: number, first: number): string {
    const { text } = this;
    let value = text.slice(start, first);
    for (let i = first; ; ) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) {
        this.position = i + 1;
        return value;
      }
      if (code === BACKSLASH) {
        this.position = i + 1;
        value += this.escape();
        i = this.position;
      } else if (code >= 0x20) {
        value += text[i];
        i += 1;
      } else {
        this.position = i;
        throw this.malformed(
          i < text.length ? 'an escape for this control character' : 'the end of a string',
        );
      }
    }
  }

  private escape(): string {
    const character = this.text[this.position] ?? '';
    this.position += 1;
    const simple = ESCAPES[character];
    if (simple !== undefined) return simple;
    if (character !== 'u') {
      this.position -= 1;
      throw this.malformed('an escape that JSON knows');
    }
    const unit = this.hexUnit();
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
    // A pair makes one character; half of one stands for nothing and becomes '?'.
    if (unit < 0xdc00 && this.text.startsWith('\\u', this.position)) {
      const before = this.position;
      this.position += 2;
      const low = this.hexUnit();
      if (low >= 0xdc00 && low <= 0xdfff) return String.fromCharCode(unit, low);
      this.position = before;
    }
    return '?';
  }

  private hexUnit(): number {
    const digits = this.text.slice(this.position, this.position + 4);
    if (!/^[0-9A-Fa-f]{4}$/.test(digits)) throw this.malformed('four hexadecimal digits');
    this.position += 4;
    return Number.parseInt(digits, 16);
  }

  private number(): number | bigint | Float {
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

  private continues(end: number, expected: string): boolean {
    if (this.closes(end)) return false;
    if (this.text.charCodeAt(this.position) !== 0x2c) throw this.malformed(expected);
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

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

function excerpt(digits: string): string {
  return digits.length > 40 ? `${digits.slice(0, 37)}...` : digits;
}
