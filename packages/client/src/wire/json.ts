/**
 * JSON (RFC 8259) that keeps ints and floats apart: a number without fraction and exponent is an int of any length, any
 * other a float. Floats are written in the shortest form that reads back equal, with `.0` where they would read as ints.
 */
import { isWireBytes, isWireList, nestingMax, WireError, type WireValue } from './value.js';

/**
 * Reads a JSON text. Of a key given twice the last counts; `-0` is the int 0.
 *
 * @throws {WireError} for anything that is not one JSON value
 */
export function parseJson(text: string): WireValue {
  const parser = new Parser(text);
  const value = parser.value(0);
  parser.end();
  return value;
}

/**
 * Writes a value as JSON, without white space.
 *
 * @throws {WireError} for bytes, nan and infinities, which JSON can't carry
 */
export function stringifyJson(value: WireValue): string {
  return stringify(value, 0);
}

/** A float as JSON has it. */
export function floatText(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function stringify(value: WireValue, depth: number): string {
  if (depth > nestingMax) throw new WireError(`more than ${nestingMax} nested levels`);
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new WireError(`JSON can't carry ${value}`);
    return floatText(value);
  }
  if (isWireBytes(value)) throw new WireError("JSON can't carry bytes");
  if (isWireList(value)) return `[${value.map((item) => stringify(item, depth + 1)).join(',')}]`;
  const entries = [...value].map(([key, item]) => `${JSON.stringify(key)}:${stringify(item, depth + 1)}`);
  return `{${entries.join(',')}}`;
}

class Parser {
  readonly #text: string;
  readonly #number = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
  readonly #blank = /[ \t\n\r]*/y;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  end(): void {
    this.#skip();
    if (this.#at !== this.#text.length) throw this.#unexpected();
  }

  value(depth: number): WireValue {
    if (depth > nestingMax) throw new WireError(`more than ${nestingMax} nested levels`);
    this.#skip();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#readString();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#readNumber();
    }
  }

  #object(depth: number): WireValue {
    const map = new Map<string, WireValue>();
    this.#at++;
    if (this.#isNext('}')) return map;
    for (;;) {
      this.#skip();
      if (this.#text[this.#at] !== '"') throw this.#unexpected();
      const key = this.#readString();
      if (!this.#isNext(':')) throw this.#unexpected();
      map.set(key, this.value(depth + 1));
      if (this.#isNext('}')) return map;
      if (!this.#isNext(',')) throw this.#unexpected();
    }
  }

  #array(depth: number): WireValue {
    const list: WireValue[] = [];
    this.#at++;
    if (this.#isNext(']')) return list;
    for (;;) {
      list.push(this.value(depth + 1));
      if (this.#isNext(']')) return list;
      if (!this.#isNext(',')) throw this.#unexpected();
    }
  }

  /** Finds the closing quote; JSON.parse judges what stands between. */
  #readString(): string {
    const start = this.#at;
    let end = start;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end === -1) throw new WireError(`the string at position ${start} has no end`);
    } while (this.#isEscaped(end));
    this.#at = end + 1;
    try {
      return String(JSON.parse(this.#text.slice(start, this.#at)));
    } catch {
      throw new WireError(`the string at position ${start} is not JSON`);
    }
  }

  #isEscaped(position: number): boolean {
    let backslashes = 0;
    while (this.#text[position - 1 - backslashes] === '\\') backslashes++;
    return backslashes % 2 === 1;
  }

  #readNumber(): WireValue {
    const match = this.#match(this.#number);
    if (match === null) throw this.#unexpected();
    const [literal, fraction, exponent] = match;
    if (fraction === undefined && exponent === undefined) return BigInt(literal);
    const value = Number(literal);
    if (!Number.isFinite(value)) throw new WireError(`${literal.slice(0, 40)} is too large for a float`);
    return value;
  }

  #word(word: string, value: WireValue): WireValue {
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected();
    this.#at += word.length;
    return value;
  }

  #isNext(character: string): boolean {
    this.#skip();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skip(): void {
    this.#match(this.#blank);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  #unexpected(): WireError {
    if (this.#at >= this.#text.length) return new WireError('the JSON text is cut off');
    const found = JSON.stringify(this.#text.slice(this.#at, this.#at + 12));
    return new WireError(`unexpected ${found} at position ${this.#at}`);
  }
}
