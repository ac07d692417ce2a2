/**
 * Sort keys: values as texts of bytes, a character from 0 to 255 for each, whose order is that of the values. Comparing two of them is one
 * comparison of short texts. A key of several values is their components one behind the other, since none is the beginning of another.
 *
 *   component := 01                     nil, which is first
 *              | 02 | 03                false, true
 *              | 04 number              an int or float
 *              | 05 text end            a str: UTF-8, of which the first `TEXT_BYTES_MAX` bytes; 00 in it is 00 01
 *              | 06 number              a datetime or timeval: its moment
 *              | 07 number number       a member: its enum, and its number there
 *              | 08 number              a thing: its id
 *              | 7f                     any other value: all of them alike
 *   number    := double more?           the greatest double that is not above it, with bits turned so that bytes order as numbers do;
 *                                       from 2^53 on and down from -2^53 `more:u16` is how much greater the number is
 *   end       := 00 00                  | 00 02 where the text is longer
 *
 * No locale and nothing of a version of Unicode is in it: each node makes the same key of a value.
 */
import { Tag } from './tag.js';
import type { Value } from './value.js';

/** Bytes of a str that count. */
export const TEXT_BYTES_MAX = 256;

/** The component of nil. */
export const NIL_KEY = '\x01';

/** Above every component, and above all that begins with a key that it is put behind. */
export const KEY_END = '\xff';

/** End of the component of a str of which only the beginning counts. */
const CUT_END = '\0\x02';

const OTHER_KEY = '\x7f';

/** The id that stands for a thing. */
export type IdOf = (thing: { readonly id: number }) => number;

const ownId: IdOf = ({ id }) => id;

/**
 * The component of a value.
 *
 * @param idOf the id of a thing, if others than its own are wanted: loose things have none
 */
export function sortKey(value: Value, idOf: IdOf = ownId): string {
  switch (typeof value) {
    case 'string':
      return `\x05${textKey(value)}`;
    case 'number':
    case 'bigint':
      return `\x04${numberKey(value)}`;
    case 'boolean':
      return value ? '\x03' : '\x02';
  }
  if (value === null) return NIL_KEY;
  switch (value.tag) {
    case Tag.FLOAT:
      return `\x04${numberKey(value.value)}`;
    case Tag.DATETIME:
    case Tag.TIMEVAL:
      return `\x06${numberKey(value.time.moment)}`;
    case Tag.MEMBER:
      return `\x07${numberKey(value.enum.id)}${numberKey(value.id)}`;
    case Tag.THING:
      return `\x08${numberKey(idOf(value))}`;
    default:
      return OTHER_KEY;
  }
}

/**
 * Puts the component of a str or an int into bytes, of which there are enough for every one; no text is made of it.
 *
 * @returns its length; 0 where a text has characters of several bytes, or more than count, and where an int is far from 0: what the bytes hold
 *   says nothing then
 */
export function putSortKey(value: string | number, target: Uint8Array): number {
  return typeof value === 'string' ? putTextKey(value, target) : putIntKey(value, target);
}

function putTextKey(text: string, target: Uint8Array): number {
  const { length } = text;
  if (length > TEXT_BYTES_MAX) return 0;
  target[0] = 5;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0 || unit > 0x7f) return 0;
    target[i + 1] = unit;
  }
  target[length + 1] = 0;
  target[length + 2] = 0;
  return length + 3;
}

function putIntKey(value: number, target: Uint8Array): number {
  if (!Number.isSafeInteger(value)) return 0;
  turnDouble(value + 0);
  target[0] = 4;
  for (let i = 0; i < 8; i++) target[i + 1] = turned[i]!;
  return 9;
}

/** The component of a datetime or timeval. */
export function momentKey(seconds: number): string {
  return `\x06${numberKey(seconds)}`;
}

/** The beginning of the components of all texts that begin with one; null for one that is too long. */
export function prefixKey(text: string): string | null {
  const bytes = bytesOf(text);
  return bytes.length > TEXT_BYTES_MAX ? null : `\x05${bytes.replaceAll('\0', '\0\x01')}`;
}

/** True if a key does not have all of a str, so that two values may share it. */
export function isCutKey(key: string): boolean {
  return key.includes(CUT_END) && hasCut(key);
}

/** As much of a text as its key can depend on, whatever its characters take: a text may be long. */
export function keyedPart(text: string): string {
  return text.length > KEYED_UNITS ? text.slice(0, KEYED_UNITS) : text;
}

/** One character takes two units at most, and a byte at least: of so many units a text has more bytes than count. */
const KEYED_UNITS = 2 * (TEXT_BYTES_MAX + 1);

function textKey(text: string): string {
  if (isPlain(text)) return `${text}\0\0`;
  const bytes = bytesOf(keyedPart(text));
  const isCut = bytes.length > TEXT_BYTES_MAX;
  const kept = isCut ? bytes.slice(0, TEXT_BYTES_MAX) : bytes;
  return `${kept.replaceAll('\0', '\0\x01')}${isCut ? CUT_END : '\0\0'}`;
}

/** True if the bytes of a text are its characters, all of which count: the most frequent case. */
function isPlain(text: string): boolean {
  if (text.length > TEXT_BYTES_MAX) return false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0 || unit > 0x7f) return false;
  }
  return true;
}

/** UTF-8, a character for each byte. */
function bytesOf(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text).toString('latin1');
}

const ASCII = /^[\0-\x7f]*$/;

/** Numbers may have the bytes of a cut text in them, so the components are gone through. */
function hasCut(key: string): boolean {
  for (let at = 0; at < key.length; ) {
    const tag = key.charCodeAt(at);
    at += 1;
    if (tag === 5) {
      for (;;) {
        at = key.indexOf('\0', at) + 2;
        const end = key.charCodeAt(at - 1);
        if (end === 2) return true;
        if (end === 0) break;
      }
    } else if (tag === 4 || tag === 6 || tag === 8) at += numberLength(key, at);
    else if (tag === 7) {
      at += numberLength(key, at);
      at += numberLength(key, at);
    }
  }
  return false;
}

function numberKey(value: number | bigint): string {
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return '\xff\xff\xff\xff\xff\xff\xff\xff';
    // -0 is 0.
    const key = doubleKey(value + 0);
    return isWide(key) ? `${key}\0\0` : key;
  }
  const nearest = Number(value);
  let key = doubleKey(nearest);
  let below = BigInt(nearest);
  if (below > value) {
    key = keyBefore(key);
    below = BigInt(doubleOf(key));
  }
  if (!isWide(key)) return key;
  const more = Number(value - below);
  return key + String.fromCharCode(more >> 8, more & 0xff);
}

function doubleKey(value: number): string {
  turnDouble(value);
  return String.fromCharCode(
    turned[0]!,
    turned[1]!,
    turned[2]!,
    turned[3]!,
    turned[4]!,
    turned[5]!,
    turned[6]!,
    turned[7]!,
  );
}

/** Puts a double into `turned`, with bits turned so that bytes order as numbers do. */
function turnDouble(value: number): void {
  scratch.setFloat64(0, value);
  const high = scratch.getInt32(0);
  if (high >= 0) {
    scratch.setInt32(0, high | 0x80000000);
  } else {
    scratch.setInt32(0, ~high);
    scratch.setInt32(4, ~scratch.getInt32(4));
  }
}

const scratch = new DataView(new ArrayBuffer(8));
const turned = new Uint8Array(scratch.buffer);

function doubleOf(key: string): number {
  const bytes = Buffer.from(key, 'latin1');
  const first = bytes[0]!;
  if ((first & 0x80) !== 0) bytes[0] = first & 0x7f;
  else for (let i = 0; i < 8; i++) bytes[i] = ~bytes[i]!;
  return bytes.readDoubleBE();
}

/** The key of the greatest double below that of a key. */
function keyBefore(key: string): string {
  const bytes = Buffer.from(key, 'latin1');
  bytes.writeBigUInt64BE(bytes.readBigUInt64BE() - 1n);
  return bytes.toString('latin1');
}

/** True if doubles are no further apart than ints there: from 2^53 on, and up to -2^53. */
function isWide(key: string): boolean {
  return key >= WIDE_FROM || key <= WIDE_TO;
}

const WIDE_FROM = '\xc3\x40\0\0\0\0\0\0';
const WIDE_TO = '\x3c\xbf\xff\xff\xff\xff\xff\xff';

function numberLength(key: string, at: number): number {
  const double = key.slice(at, at + 8);
  return isWide(double) && double !== '\xff\xff\xff\xff\xff\xff\xff\xff' ? 10 : 8;
}
