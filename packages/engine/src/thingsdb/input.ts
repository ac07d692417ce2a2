/**
 * Reads MessagePack as ThingsDB writes it, token by token: no token is read beyond the end, no size is believed before its bytes are
 * there, and nothing recurses. The data may be larger than memory: they come in windows.
 */
import { Buffer } from 'node:buffer';
import { FormatError } from '../bytes.js';
import { FORMS, type Form } from '../pack/msgpack-forms.js';

/** Bytes of any size, of which a part is in memory at a time. */
export interface ByteSource {
  readonly length: number;
  /** Exactly these bytes, which are valid until the next call. */
  read(offset: number, length: number): Uint8Array;
}

/** Data of ThingsDB that are damaged, or hold what can't be taken over. */
export class DamagedDataError extends FormatError {
  constructor(
    /** The place, in bytes from the beginning. */
    readonly offset: number,
    readonly why: string,
  ) {
    super(`at byte ${offset}: ${why}`);
  }
}

export type Token = Form['kind'] | 'unknown';

/** Bytes that are asked for at once. */
const WINDOW_BYTES = 256 * 1024;

const INT_MAX = 2n ** 63n - 1n;

export class DataInput {
  private window: Uint8Array;
  private view: DataView;
  /** Where the window begins, and how far it was read. */
  private start = 0;
  private at = 0;
  private readonly source: ByteSource | null;
  private readonly length: number;

  /**
   * @param data all of it, or where it comes from
   * @param origin where it begins within something larger, for the places in errors
   */
  constructor(
    data: Uint8Array | ByteSource,
    readonly charge: (units: number) => void,
    private readonly origin = 0,
  ) {
    this.source = data instanceof Uint8Array ? null : data;
    this.length = data.length;
    this.window = data instanceof Uint8Array ? data : new Uint8Array(0);
    this.view = viewOf(this.window);
  }

  /** The place of the next byte. */
  get offset(): number {
    return this.origin + this.start + this.at;
  }

  get remaining(): number {
    return this.length - this.start - this.at;
  }

  /** Goes back, or on, to a place that `offset` gave. */
  seek(offset: number): void {
    const at = offset - this.origin - this.start;
    if (at >= 0 && at <= this.window.length) this.at = at;
    else {
      this.start = offset - this.origin;
      this.at = 0;
      this.window = new Uint8Array(0);
    }
  }

  fail(why: string, offset = this.offset): never {
    throw new DamagedDataError(offset, why);
  }

  /** The kind of the next value, which is not read. */
  token(): Token {
    return FORMS[this.peek()]?.kind ?? 'unknown';
  }

  peek(): number {
    this.need(1);
    return this.window[this.at] ?? 0;
  }

  nil(): null {
    this.lead('nil');
    return null;
  }

  bool(): boolean {
    return this.lead('bool') === 0xc3;
  }

  /** An int of 64 bits; a number where that is exact. */
  int(): number | bigint {
    const lead = this.lead('int');
    if (lead < 0x80) return lead;
    if (lead >= 0xe0) return lead - 0x100;
    const size = 1 << (lead & 3);
    this.need(size);
    const { view, at } = this;
    this.at += size;
    switch (lead) {
      case 0xcc:
        return view.getUint8(at);
      case 0xcd:
        return view.getUint16(at);
      case 0xce:
        return view.getUint32(at);
      case 0xd0:
        return view.getInt8(at);
      case 0xd1:
        return view.getInt16(at);
      case 0xd2:
        return view.getInt32(at);
      case 0xcf: {
        const value = view.getBigUint64(at);
        if (value > INT_MAX) this.fail('an int above 64 bits with a sign', this.offset - 9);
        return narrow(value);
      }
      default:
        return narrow(view.getBigInt64(at));
    }
  }

  /** An int from 0 to `max`. */
  uint(what: string, max = Number.MAX_SAFE_INTEGER): number {
    const { offset } = this;
    const value = this.token() === 'int' ? this.int() : this.fail(`expected ${what}, an int`);
    if (typeof value === 'bigint' || value < 0 || value > max)
      this.fail(`${what} can not be ${value}`, offset);
    return value;
  }

  float(): number {
    const isSingle = this.lead('float') === 0xca;
    const size = isSingle ? 4 : 8;
    this.need(size);
    const value = isSingle ? this.view.getFloat32(this.at) : this.view.getFloat64(this.at);
    this.at += size;
    return value;
  }

  strBytes(): Uint8Array {
    return this.bytes(this.sizeBehind('str'));
  }

  /** A str that is text. */
  text(what: string): string {
    const { offset } = this;
    if (this.token() !== 'str') this.fail(`expected ${what}, a str`);
    return textOf(this.strBytes()) ?? this.fail(`${what} is no UTF-8`, offset);
  }

  bin(): Uint8Array {
    return this.bytes(this.sizeBehind('bin'));
  }

  /** The length of an array, whose items follow. */
  array(what: string): number {
    if (this.token() !== 'array') this.fail(`expected ${what}, an array`);
    return this.items(this.sizeBehind('array'), 1);
  }

  /** The beginning of an array of so many items. */
  parts(count: number, what: string): void {
    const { offset } = this;
    const found = this.array(what);
    if (found !== count) this.fail(`${what} has ${count} parts, not ${found}`, offset);
  }

  /** The number of pairs of a map, which follow: a key and a value each. */
  map(what: string): number {
    if (this.token() !== 'map') this.fail(`expected ${what}, a map`);
    return this.items(this.sizeBehind('map'), 2);
  }

  ext(): { readonly type: number; readonly data: Uint8Array } {
    const length = this.sizeBehind('ext');
    this.need(1);
    const type = this.view.getInt8(this.at);
    this.at += 1;
    return { type, data: this.bytes(length) };
  }

  /** Reads past a value. */
  skip(): void {
    for (let left = 1; left > 0; left--) {
      const token = this.token();
      if (token === 'array') left += this.array('an array');
      else if (token === 'map') left += 2 * this.map('a map');
      else if (token === 'ext') this.ext();
      else if (token === 'unknown') this.fail('a byte that begins no value');
      else this.bytes(this.sizeBehind(token));
    }
  }

  /** Throws unless everything was read. */
  end(what: string): void {
    if (this.remaining > 0) this.fail(`there is more than ${what}`);
  }

  private lead(token: Token): number {
    if (this.token() !== token) this.fail(`expected ${token}, found ${this.token()}`);
    this.charge(1);
    const lead = this.window[this.at] ?? 0;
    this.at += 1;
    return lead;
  }

  /** Reads the first byte of a value, and its size: the bytes, items or pairs that follow. */
  private sizeBehind(token: Form['kind']): number {
    const form = FORMS[this.lead(token)];
    if (!form) throw new Error('a byte that begins a value has a form');
    return form.length === 0 ? form.size : this.size(form.length);
  }

  private size(bytes: number): number {
    this.need(bytes);
    const { view, at } = this;
    this.at += bytes;
    if (bytes === 1) return view.getUint8(at);
    return bytes === 2 ? view.getUint16(at) : view.getUint32(at);
  }

  private items(count: number, bytesEach: number): number {
    if (count * bytesEach > this.remaining) this.fail(`${count} items in ${this.remaining} bytes`);
    return count;
  }

  private bytes(length: number): Uint8Array {
    this.need(length);
    this.charge(length);
    const { at } = this;
    this.at += length;
    return Uint8Array.prototype.slice.call(this.window, at, at + length);
  }

  /** Sees to it that so many bytes are in the window. */
  private need(length: number): void {
    if (this.at + length <= this.window.length) return;
    if (length > this.remaining) this.fail(`the data end here, ${length - this.remaining} bytes too early`);
    if (this.source === null) throw new Error('all bytes are in the window');
    this.start += this.at;
    this.at = 0;
    this.window = this.source.read(this.start, Math.min(Math.max(length, WINDOW_BYTES), this.remaining));
    this.view = viewOf(this.window);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A text of bytes; null where they are no UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (!text.includes('\ufffd')) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
