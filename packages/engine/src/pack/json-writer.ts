/**
 * Results as JSON (RFC 8259), without white space. Floats are written in the shortest form that reads back equal and
 * keep a `.0` where they would read as ints. JSON has no bytes, nan or infinities: they are a type_err.
 */
import { ByteWriter } from '../bytes.js';
import { typeError } from '../error.js';
import { readMsgpackInto } from './msgpack-transcoder.js';
import { PIECE, type Sink } from './walk.js';

/** Levels that JSON results may have. */
export const JSON_NESTING_MAX = 127;

/** Characters that wait to be written to the bytes. */
const WAITING_MAX = 8192;

export class JsonWriter implements Sink {
  /**
   * The end of the text. A text that grows piece by piece is a chain of its pieces in memory, many times larger than what
   * is in it; so from a certain length on it goes over into `written`.
   */
  protected text = '';
  /** The part in front of `text`, as UTF-8; null as long as there is none. */
  private written: ByteWriter | null = null;
  /** Text in front of the next value: a comma, a key. */
  private separator = '';

  get size(): number {
    return this.written === null ? this.text.length : this.written.length + this.text.length;
  }

  take(): string {
    if (this.written === null) return this.text;
    this.write();
    return this.written.view().toString('utf8');
  }

  nil(): void {
    this.raw('null');
  }

  bool(value: boolean): void {
    this.raw(value ? 'true' : 'false');
  }

  int(value: number | bigint): void {
    this.raw(String(value));
  }

  float(value: number): void {
    this.raw(floatToJson(value));
  }

  str(value: string): void {
    this.raw(quote(value));
  }

  longStr(value: string, check: (units: number) => void): void {
    this.raw('"');
    this.pieces(value, check);
    this.text += '"';
  }

  /** Writes what is between the quotes of a long text. */
  protected pieces(value: string, check: (units: number) => void): void {
    for (let start = 0; start < value.length; ) {
      let end = Math.min(start + PIECE, value.length);
      // Both halves of a pair go into one piece.
      if (isHighSurrogate(value.charCodeAt(end - 1)) && end < value.length) end += 1;
      this.text += escapeText(value.slice(start, end));
      this.write();
      check(end - start);
      start = end;
    }
  }

  bin(): void {
    throw typeError('bytes can not be sent as JSON: use MessagePack, or base64_encode(...)');
  }

  beginArray(): void {
    this.raw('[');
    this.separator = '';
  }

  endArray(): void {
    this.text += ']';
    this.separator = ',';
  }

  beginMap(): void {
    this.raw('{');
    this.separator = '';
  }

  key(key: string): void {
    // Written with its value.
    const texts = known.get(key);
    if (texts !== undefined) this.separator = this.separator === '' ? texts.first : texts.next;
    else this.separator += noteKey(key);
  }

  longKey(key: string, check: (units: number) => void): void {
    this.text += `${this.separator}"`;
    this.pieces(key, check);
    this.text += '":';
    this.separator = '';
  }

  endMap(): void {
    this.text += '}';
    this.separator = ',';
  }

  packed(data: Uint8Array): void {
    readMsgpackInto(data, this);
  }

  /** Writes a scalar, or an opening bracket. */
  protected raw(text: string): void {
    this.text += this.separator + text;
    this.separator = ',';
    this.unload();
  }

  /** To be called now and then while the text grows, at the end of a character. */
  protected unload(): void {
    if (this.text.length > WAITING_MAX) this.write();
  }

  private write(): void {
    this.written ??= new ByteWriter(WAITING_MAX * 4);
    this.written.utf8(this.text, Buffer.byteLength(this.text));
    this.text = '';
  }
}

/** A key as JSON, as the first one of an object and as one of the next. */
interface KeyTexts {
  readonly first: string;
  readonly next: string;
}

/** Texts of some short keys: most results are objects of a few kinds. */
const known = new Map<string, KeyTexts>();
const KNOWN_MAX = 1000;
const KNOWN_LENGTH = 32;

/** Keys that were not among them since they are so many; others take their place after so many. */
let unknown = 0;
const UNKNOWN_MAX = 100_000;

function noteKey(key: string): string {
  const first = `${quote(key)}:`;
  if (key.length > KNOWN_LENGTH) return first;
  if (known.size >= KNOWN_MAX) {
    unknown += 1;
    if (unknown < UNKNOWN_MAX) return first;
    unknown = 0;
    known.clear();
  }
  known.set(key, { first, next: `,${first}` });
  return first;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export function floatToJson(value: number): string {
  if (!Number.isFinite(value)) throw typeError(`${value} can not be written as JSON`);
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

const SPECIAL = /["\\\x00-\x1f]/;
const ALL_SPECIAL = /["\\\x00-\x1f]/g;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** A text as a JSON string, with as few escapes as possible. */
export function quote(text: string): string {
  return `"${escapeText(text)}"`;
}

function escapeText(text: string): string {
  return isPlain(text) ? text : text.replace(ALL_SPECIAL, escaped);
}

/** Up to this length it takes less time to look at each character here than to ask for a regular expression. */
const LOOKED_AT = 32;

function isPlain(text: string): boolean {
  const { length } = text;
  if (length > LOOKED_AT) return !SPECIAL.test(text);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x22 || code === 0x5c) return false;
  }
  return true;
}

function escaped(character: string): string {
  return ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}
