/**
 * Results as JSON (RFC 8259), without white space. Floats are written in the shortest form that reads back equal and
 * keep a `.0` where they would read as ints. JSON has no bytes, nan or infinities: they are a type_err.
 */
import { typeError } from '../error.js';
import { readMsgpackInto } from './msgpack-reader.js';
import type { Sink } from './walk.js';

/** Levels that JSON results may have. */
export const JSON_NESTING_MAX = 127;

export class JsonWriter implements Sink {
  protected text = '';
  private separator = '';

  get size(): number {
    return this.text.length;
  }

  take(): string {
    return this.text;
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
    this.text += `${this.separator}${quote(key)}:`;
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
  }
}

/** A float as JSON. */
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
  return SPECIAL.test(text) ? `"${text.replace(ALL_SPECIAL, escaped)}"` : `"${text}"`;
}

function escaped(character: string): string {
  return ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}
