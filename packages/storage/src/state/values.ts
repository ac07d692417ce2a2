/**
 * The values of the state.
 *
 *   value = crc[4] format[1] payload       crc: CRC-32C of the key, the format and the payload, little-endian
 *
 * The key is part of the checksum: a value that turns up under another key does not pass.
 */
import { crc32c } from '../crc32c.js';
import { DamagedStateError, NewerFormatError } from '../errors.js';

export const VALUE_FORMAT = 1;
export const VALUE_HEADER_BYTES = 5;

/** A value for a key. */
export function encodeValue(key: Buffer, payload: Uint8Array): Buffer {
  const value = Buffer.allocUnsafe(VALUE_HEADER_BYTES + payload.length);
  writeValue(value, 0, key, 0, key.length, payload);
  return value;
}

/** Writes a value at `at`, for the key that lies at `keyStart` to `keyEnd` of `keys`. */
export function writeValue(
  bytes: Buffer,
  at: number,
  keys: Buffer,
  keyStart: number,
  keyEnd: number,
  payload: Uint8Array,
): void {
  const end = at + VALUE_HEADER_BYTES + payload.length;
  bytes[at + 4] = VALUE_FORMAT;
  bytes.set(payload, at + VALUE_HEADER_BYTES);
  const crc = crc32c(bytes, at + 4, end, crc32c(keys, keyStart, keyEnd));
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

/**
 * Where the payload of a value begins, once the value is checked.
 *
 * @throws DamagedStateError, NewerFormatError
 */
export function checkValue(key: Buffer, value: Buffer, group?: number): number {
  if (value.length < VALUE_HEADER_BYTES) throw damagedValue(key, group);
  const crc = (value[0]! | (value[1]! << 8) | (value[2]! << 16) | (value[3]! << 24)) >>> 0;
  if (crc32c(value, 4, value.length, crc32c(key)) !== crc) throw damagedValue(key, group);
  if (value[4] !== VALUE_FORMAT) throw new NewerFormatError('A stored value', value[4]!, VALUE_FORMAT);
  return VALUE_HEADER_BYTES;
}

function damagedValue(key: Buffer, group: number | undefined): DamagedStateError {
  return new DamagedStateError(`the value of key ${key.toString('hex')} does not hold its checksum`, group);
}
