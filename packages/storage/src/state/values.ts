/**
 * The values of the state.
 *
 *   value = crc[4] format[1] payload       crc: CRC-32C of the key, the format and the payload, little-endian
 *
 * The key is part of the checksum: a value that turns up under another key does not pass.
 */
import { carriedOver, crc32c } from '../crc32c.js';
import { DamagedStateError, NewerFormatError } from '../errors.js';

export const VALUE_FORMAT = 1;
export const VALUE_HEADER_BYTES = 5;

/** A value for a key. */
export function encodeValue(key: Buffer, payload: Uint8Array): Buffer {
  const value = Buffer.allocUnsafe(VALUE_HEADER_BYTES + payload.length);
  writeValue(value, 0, key, key.length, payload);
  return value;
}

/** Writes a value at `at`, for the key that is the first `keyEnd` bytes of `key`. */
export function writeValue(
  bytes: Buffer,
  at: number,
  key: Buffer,
  keyEnd: number,
  payload: Uint8Array,
): void {
  const end = at + VALUE_HEADER_BYTES + payload.length;
  bytes[at + 4] = VALUE_FORMAT;
  bytes.set(payload, at + VALUE_HEADER_BYTES);
  const crc = crc32c(bytes, at + 4, end, crc32c(key, 0, keyEnd));
  bytes[at] = crc;
  bytes[at + 1] = crc >>> 8;
  bytes[at + 2] = crc >>> 16;
  bytes[at + 3] = crc >>> 24;
}

/**
 * The payload of a value, without a copy.
 *
 * @throws DamagedStateError, NewerFormatError
 */
export function decodeValue(key: Buffer, value: Buffer, group?: number): Buffer {
  return value.subarray(checkValue(key, value, group));
}

/** The same; undefined for no value. */
export function decodeStored(key: Buffer, value: Buffer | undefined, group: number): Buffer | undefined {
  return value === undefined ? undefined : decodeValue(key, value, group);
}

/**
 * Where the payload of a value begins, once the value is checked.
 *
 * @throws DamagedStateError, NewerFormatError
 */
export function checkValue(key: Buffer, bytes: Buffer, group?: number): number {
  if (!isValueOf(crc32c(key), bytes, 0, bytes.length)) throw damagedValue(key, group);
  return payloadAt(bytes, 0);
}

/**
 * True if a value belongs to a key, and neither is damaged. The value of another key is told by the difference of the keys alone, whatever it
 * holds, so which keys are taken for each other is a fixed set: none that differ within 32 bits, as those of the first records of two things do,
 * for a CRC finds each change that is no longer than itself; and among ids that are near each other and below 2^43, none of the first 131,072
 * pages of each kind of a thing (`values.test.ts` looks at all of them).
 *
 * @param keyCrc the checksum of the key
 */
export function isValueOf(keyCrc: number, bytes: Buffer, from: number, to: number): boolean {
  if (to - from < VALUE_HEADER_BYTES) return false;
  const crc =
    (bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24)) >>> 0;
  return crc32c(bytes, from + 4, to, keyCrc) === crc;
}

/**
 * Where the payload of a value begins that is not damaged.
 *
 * @throws NewerFormatError
 */
export function payloadAt(bytes: Buffer, from: number): number {
  const format = bytes[from + 4]!;
  if (format !== VALUE_FORMAT) throw new NewerFormatError('A stored value', format, VALUE_FORMAT);
  return from + VALUE_HEADER_BYTES;
}

/** True if bytes have the form of a value of the present format; what they hold is not looked at. */
export function isValue(bytes: Buffer): boolean {
  return bytes.length >= VALUE_HEADER_BYTES && bytes[4] === VALUE_FORMAT;
}

/**
 * Makes values that are stored under keys of one generation such as are stored under another one's, without a look at what
 * they hold: what was damaged before is damaged afterwards.
 */
export class Rekeying {
  /** The difference between the checksums of the keys. */
  private readonly difference: number;
  private readonly changes = new Map<number, number>();

  /** Both are keys of a record, of the same name. */
  constructor(from: Buffer, to: Buffer) {
    this.difference = crc32c(from) ^ crc32c(to);
  }

  /** Changes the checksum of a value, which has the form of one, in its place; a second time undoes it. */
  apply(value: Buffer): void {
    const change = this.changeFor(value.length - 4);
    value[0]! ^= change;
    value[1]! ^= change >>> 8;
    value[2]! ^= change >>> 16;
    value[3]! ^= change >>> 24;
  }

  private changeFor(bytes: number): number {
    let change = this.changes.get(bytes);
    if (change === undefined) {
      change = carriedOver(this.difference, bytes);
      if (this.changes.size >= CHANGES_MAX) this.changes.clear();
      this.changes.set(bytes, change);
    }
    return change;
  }
}

/** Lengths of values whose change is remembered. */
const CHANGES_MAX = 4096;

export function damagedValue(key: Buffer, group: number | undefined): DamagedStateError {
  return new DamagedStateError(`the value of key ${key.toString('hex')} does not hold its checksum`, group);
}
