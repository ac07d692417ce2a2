/**
 * MessagePack from clients. Everything is checked before memory is given to it: sizes against the bytes that are left,
 * nesting against a limit, text against UTF-8. Besides plain types there are extension types for values that MessagePack
 * has none for; others, and what libraries build on them (records, references, timestamps), are refused.
 *
 *   ext 0   mpdata: one MessagePack value, without extension types
 *   ext 1   regex: /pattern/flags, as UTF-8
 *   ext 2   closure: its source, as UTF-8
 *   ext 6   str, as UTF-8
 */
import { badDataError, overflowError, typeError, valueError } from '../error.js';
import { attach } from '../state/attach.js';
import { List, toItem } from '../value/containers.js';
import { toIntValue } from '../value/numbers.js';
import { Bytes, Float } from '../value/scalars.js';
import type { ShapeTree } from '../value/shape.js';
import { isReservedKey, Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { VALUES_PER_CALL } from './json-options.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Makes the values of extension types. What they throw ends the reading. */
export interface Extensions {
  /** @param data is not checked, and gone later */
  mpdata(data: Uint8Array): Value;
  regex(text: string): Value;
  closure(source: string): Value;
}

export class MsgpackReader {
  private readonly data: Buffer;
  private readonly onValues: ((count: number) => void) | undefined;
  private position = 0;
  /** Values so far. */
  private count = 0;
  /** Items for which room may yet be made before they are read. */
  private room: number;

  /**
   * @param nestingMax arrays and maps inside each other at most
   * @param onValues called after so many values each, so that the work can be charged for; what it throws ends the work
   * @param extensions null where extension types are no values; they can be passed over all the same
   */
  constructor(
    data: Uint8Array,
    private readonly shapes: ShapeTree,
    private readonly nestingMax: number,
    onValues?: (count: number) => void,
    private readonly extensions: Extensions | null = null,
  ) {
    this.data = data instanceof Buffer ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    this.onValues = onValues;
    this.room = Math.min(data.length, ROOM_MAX);
  }

  /** The next value; maps become things and arrays lists. */
  value(nesting = 0): Value {
    this.count += 1;
    if (this.count % VALUES_PER_CALL === 0) this.onValues?.(VALUES_PER_CALL);
    const code = this.u8();
    if (code < 0x80) return code;
    if (code >= 0xe0) return code - 0x100;
    if (code < 0x90) return this.thing(code & 0x0f, nesting);
    if (code < 0xa0) return this.list(code & 0x0f, nesting);
    if (code < 0xc0) return this.text(code & 0x1f);
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return new Bytes(Uint8Array.prototype.slice.call(this.bytes(this.length(code - 0xc4))));
      case 0xca:
        return new Float(this.bytes(4).readFloatBE(0));
      case 0xcb:
        return new Float(this.bytes(8).readDoubleBE(0));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.length(code - 0xcc);
      case 0xcf: {
        const value = this.bytes(8).readBigUInt64BE(0);
        if (value > 0x7fffffffffffffffn) throw overflowError(`the integer ${value} is larger than 2^63 - 1`);
        return toIntValue(value);
      }
      case 0xd0:
        return this.bytes(1).readInt8(0);
      case 0xd1:
        return this.bytes(2).readInt16BE(0);
      case 0xd2:
        return this.bytes(4).readInt32BE(0);
      case 0xd3:
        return toIntValue(this.bytes(8).readBigInt64BE(0));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.text(this.length(code - 0xd9));
      case 0xdc:
      case 0xdd:
        return this.list(this.length(code - 0xdc + 1), nesting);
      case 0xde:
      case 0xdf:
        return this.thing(this.length(code - 0xde + 1), nesting);
      default:
        return this.extension(code);
    }
  }

  /** Where what was read ends. */
  get offset(): number {
    return this.position;
  }

  /** Throws unless everything was read. */
  end(): void {
    const left = this.data.length - this.position;
    if (left > 0) throw badDataError(`${left} bytes follow behind the end of the MessagePack data`);
  }

  /**
   * Passes over the next value, whose frame is checked: known types, no more nesting than allowed, nothing missing. What
   * is in it is left for those who read it, and nothing is made of it.
   */
  skip(nesting = 0): void {
    const { data, nestingMax } = this;
    const { length } = data;
    const outer: number[] = [];
    let position = this.position;
    // Values that are left in the innermost array or map.
    let left = 1;
    for (;;) {
      while (left === 0) {
        const more = outer.pop();
        if (more === undefined) {
          this.position = position;
          return;
        }
        left = more;
      }
      left -= 1;
      if (position >= length) throw this.ends();
      const code = data[position]!;
      position += 1;
      let size = 0;
      let count = -1;
      if (code < 0x80 || code >= 0xe0) continue;
      if (code < 0x90) count = (code & 0x0f) * 2;
      else if (code < 0xa0) count = code & 0x0f;
      else if (code < 0xc0) size = code & 0x1f;
      else {
        this.position = position;
        if (code >= 0xdc) count = this.length(((code - 0xdc) & 1) + 1) * (code >= 0xde ? 2 : 1);
        else size = this.skippedSize(code);
        position = this.position;
      }
      if (count >= 0) {
        if (nesting + outer.length >= nestingMax) this.enter(nesting + outer.length);
        if (count > length - position) throw this.ends();
        if (count === 0) continue;
        outer.push(left);
        left = count;
      } else {
        position += size;
        if (position > length) throw this.ends();
      }
    }
  }

  /** Bytes behind a type from 0xc0 to 0xdb, and behind its length and its kind if it has them. */
  private skippedSize(code: number): number {
    if (code >= 0xd9) return this.length(code - 0xd9);
    if (code >= 0xc4 && code <= 0xc6) return this.length(code - 0xc4);
    if (isExtension(code)) return this.extensionHead(code).size;
    const size = FIXED_SIZES[code - 0xc0]!;
    if (size < 0) throw this.notAccepted(code);
    return size;
  }

  /** The value of an extension type, of which the first byte was read. */
  private extension(code: number): Value {
    const { extensions } = this;
    if (extensions === null || !isExtension(code)) throw this.notAccepted(code);
    const { kind, size } = this.extensionHead(code);
    switch (kind) {
      case Extension.MPDATA:
        return extensions.mpdata(this.bytes(size));
      case Extension.REGEX:
        return extensions.regex(this.text(size));
      case Extension.CLOSURE:
        return extensions.closure(this.text(size));
      default:
        return this.text(size);
    }
  }

  /** The head of an extension type behind its first byte. */
  private extensionHead(code: number): { readonly kind: number; readonly size: number } {
    const size = code >= 0xd4 ? 1 << (code - 0xd4) : this.length(code - 0xc7);
    const kind = this.u8();
    if (!EXTENSIONS.has(kind)) {
      const number = kind < 0x80 ? kind : kind - 0x100;
      throw badDataError(
        `the extension type ${number} of MessagePack is not accepted (byte ${this.position - 1})`,
      );
    }
    return { kind, size };
  }

  private notAccepted(code: number): ReturnType<typeof badDataError> {
    return badDataError(
      `MessagePack type 0x${code.toString(16)} is not accepted (byte ${this.position - 1})`,
    );
  }

  /** True if a map comes next. */
  get hasMap(): boolean {
    const code = this.data[this.position] ?? 0;
    return (code >= 0x80 && code < 0x90) || code === 0xde || code === 0xdf;
  }

  /** True if an array comes next. */
  get hasArray(): boolean {
    const code = this.data[this.position] ?? 0;
    return (code >= 0x90 && code < 0xa0) || code === 0xdc || code === 0xdd;
  }

  /** Number of pairs when a map comes next, else null; nothing is read then. */
  mapSize(): number | null {
    const code = this.data[this.position];
    if (code === undefined) throw this.ends();
    if (code >= 0x80 && code < 0x90) {
      this.position += 1;
      return code & 0x0f;
    }
    if (code !== 0xde && code !== 0xdf) return null;
    this.position += 1;
    return this.countOf(this.length(code - 0xde + 1), 2);
  }

  /** Number of items when an array comes next, else null; nothing is read then. */
  arraySize(): number | null {
    const code = this.data[this.position];
    if (code === undefined) throw this.ends();
    if (code >= 0x90 && code < 0xa0) {
      this.position += 1;
      return code & 0x0f;
    }
    if (code !== 0xdc && code !== 0xdd) return null;
    this.position += 1;
    return this.countOf(this.length(code - 0xdc + 1), 1);
  }

  /** As `arraySize`, but for an array that may announce more items than there are bytes left. */
  announcedArray(): number | null {
    if (!this.hasArray) return null;
    const code = this.u8();
    return code < 0xa0 ? code & 0x0f : this.length(code - 0xdc + 1);
  }

  /** Passes over the next value if it is this word, in its shortest form; whether it is. For words in ASCII of up to 31 characters. */
  isWord(word: string): boolean {
    const { data, position } = this;
    const { length } = word;
    if (data[position] !== (0xa0 | length) || length > FIXSTR_MAX) return false;
    for (let i = 0; i < length; i++) if (data[position + 1 + i] !== word.charCodeAt(i)) return false;
    this.position = position + 1 + length;
    return true;
  }

  /** As `isWord`, for the key of an entry. */
  isKey(word: string): boolean {
    return this.isWord(word);
  }

  /** The next value when it is a str, else null; then it is not read. */
  str(): string | null {
    const code = this.data[this.position];
    if (code === undefined) throw this.ends();
    const isStr = (code >= 0xa0 && code < 0xc0) || (code >= 0xd9 && code <= 0xdb);
    if (!isStr) return null;
    const value = this.value();
    return typeof value === 'string' ? value : null;
  }

  private list(announced: number, nesting: number): List {
    const count = this.countOf(announced, 1);
    this.enter(nesting);
    if (count >= ROOM_MIN && count <= this.room) return this.longList(count, nesting);
    const list = new List([]);
    for (let i = 0; i < count; i++) list.items.push(toItem(this.value(nesting + 1), list));
    return list;
  }

  /**
   * Reads a list with room for all its items at once: an array that grows item by item is copied again and again, which takes most of
   * the time. All that is read has as many items as bytes at most, so lists that announce more than comes get no more room than that
   * together.
   */
  private longList(count: number, nesting: number): List {
    this.room -= count;
    const list = new List(new Array<Value>(count));
    for (let i = 0; i < count; i++) list.items[i] = toItem(this.value(nesting + 1), list);
    return list;
  }

  private thing(announced: number, nesting: number): Thing {
    const count = this.countOf(announced, 2);
    this.enter(nesting);
    const thing = new Thing(0, this.shapes.empty(), []);
    for (let i = 0; i < count; i++) {
      const key = this.str();
      if (key === null) throw typeError('the keys of a map must be str');
      if (isReservedKey(key)) throw valueError(`the key '${key}' is reserved`);
      const value = this.value(nesting + 1);
      thing.put(key, value);
      attach(thing, key, value);
    }
    return thing;
  }

  private text(size: number): string {
    const { data, position: start } = this;
    const end = start + size;
    if (end > data.length) throw this.ends();
    this.position = end;
    if (size >= 32) return this.utf8(data.subarray(start, end));
    let bits = 0;
    for (let i = start; i < end; i++) bits |= data[i]!;
    return bits < 0x80 ? shortAscii(data, start, end) : this.utf8(data.subarray(start, end));
  }

  private utf8(bytes: Buffer): string {
    try {
      return UTF8.decode(bytes);
    } catch {
      throw badDataError('a str is not valid UTF-8');
    }
  }

  private enter(nesting: number): void {
    if (nesting >= this.nestingMax)
      throw badDataError(`the data is nested more than ${this.nestingMax} deep`);
  }

  /** A length of 1, 2 or 4 bytes (`size` 0, 1, 2). */
  private length(size: number): number {
    if (size === 0) return this.u8();
    return size === 1 ? this.bytes(2).readUInt16BE(0) : this.bytes(4).readUInt32BE(0);
  }

  /** Refuses a count of values that can't fit into the bytes that are left. */
  private countOf(count: number, bytesEach: number): number {
    if (count * bytesEach > this.data.length - this.position) throw this.ends();
    return count;
  }

  private u8(): number {
    const value = this.data[this.position];
    if (value === undefined) throw this.ends();
    this.position += 1;
    return value;
  }

  private bytes(size: number): Buffer {
    if (size > this.data.length - this.position) throw this.ends();
    const start = this.position;
    this.position += size;
    return this.data.subarray(start, this.position);
  }

  private ends(): ReturnType<typeof badDataError> {
    return badDataError(`the MessagePack data ends too early, after ${this.data.length} bytes`);
  }
}

/** Items of a list from which on room is made for them at once. */
const ROOM_MIN = 10_000;

/** Items for which one reader makes room, so that the memory of a call is looked at in between: 64 MB. */
const ROOM_MAX = 8_000_000;

/** Characters of a str whose length is in its first byte. */
const FIXSTR_MAX = 31;

/** A short text of ASCII. Several characters at a time, since each step makes a text. */
function shortAscii(data: Buffer, start: number, end: number): string {
  let text = '';
  let i = start;
  for (; i + 4 <= end; i += 4) {
    text += String.fromCharCode(data[i]!, data[i + 1]!, data[i + 2]!, data[i + 3]!);
  }
  for (; i < end; i++) text += String.fromCharCode(data[i]!);
  return text;
}

/** Extension types that there are. */
const Extension = { MPDATA: 0, REGEX: 1, CLOSURE: 2, NAME: 6 } as const;

const EXTENSIONS: ReadonlySet<number> = new Set(Object.values(Extension));

function isExtension(code: number): boolean {
  return (code >= 0xc7 && code <= 0xc9) || (code >= 0xd4 && code <= 0xd8);
}

/** Bytes behind the types 0xc0 to 0xd8 whose size is fixed; -1 for those that are not accepted, or have a length. */
const FIXED_SIZES = [0, -1, 0, 0, -1, -1, -1, -1, -1, -1, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, -1, -1, -1, -1, -1];
