import { RegexSyntaxError } from './errors.js';

/** A cursor over the code points of a pattern. */
export class PatternReader {
  position = 0;
  readonly #codes: readonly number[];

  constructor(pattern: string) {
    const codes: number[] = [];
    for (let unit = 0; unit < pattern.length; unit++) {
      const code = pattern.codePointAt(unit)!;
      if (code > 0xffff) unit++;
      codes.push(code);
    }
    this.#codes = codes;
  }

  get length(): number {
    return this.#codes.length;
  }

  get atEnd(): boolean {
    return this.position >= this.#codes.length;
  }

  /** The code point `offset` further on, or -1 behind the end. */
  peek(offset = 0): number {
    return this.#codes[this.position + offset] ?? -1;
  }

  next(): number {
    return this.#codes[this.position++] ?? -1;
  }

  /** True if the given ASCII text comes next. */
  sees(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.peek(i) !== text.charCodeAt(i)) return false;
    return true;
  }

  /** Takes the given ASCII text if it comes next. */
  takes(text: string): boolean {
    if (!this.sees(text)) return false;
    this.position += text.length;
    return true;
  }

  slice(start: number, end: number): string {
    let text = '';
    for (let i = start; i < end; i++) text += String.fromCodePoint(this.#codes[i]!);
    return text;
  }

  /** Throws a RegexSyntaxError. */
  fail(reason: string, position = this.position): never {
    throw new RegexSyntaxError(reason, position);
  }
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

export function isOctalDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x37;
}

/** The value of a hexadecimal digit, or -1. */
export function hexDigit(code: number): number {
  if (isDigit(code)) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
