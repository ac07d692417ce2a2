/**
 * Changes of a checkpoint, gathered in slabs of half a megabyte: what fits into one goes into the store as
 * one batch; more goes into a redo file first.
 *
 *   redo file = slab*
 *   slab      = length[4]                 of the slab
 *               crc[4]                    CRC-32C of the bytes after it
 *               number[4]                 0, 1, 2, ...
 *               change*
 *   change    = put | delete
 *   put       = 1 kind[1] id[8] part[4] length[4] value
 *   delete    = 2 kind[1] id[8] part[4]
 *
 * Numbers are little-endian, but kind, id and part, which are as in a record's key. `value` is as stored,
 * with its own checksum.
 */
import { crc32c } from '../crc32c.js';
import { DamagedStateError } from '../errors.js';
import type { KeyValueBatch } from '../kv/key-value-store.js';
import { nameRecord, RECORD_KEY_BYTES, recordKeyBuffer } from './keys.js';
import { VALUE_HEADER_BYTES, writeValue } from './values.js';

export const SLAB_BYTES_DEFAULT = 512 * 1024;
const FIRST_BYTES = 2048;
const SLAB_HEADER_BYTES = 12;
const PUT = 1;
const DELETE = 2;
const NAME_BYTES = 13;
const PUT_HEADER_BYTES = 1 + NAME_BYTES + 4;
const NAME_IN_KEY = RECORD_KEY_BYTES - NAME_BYTES;

/** A slab that is being filled. It is as large as it must be, from a few kilobytes up. */
export class Slab {
  private bytes: Buffer = Buffer.allocUnsafe(FIRST_BYTES);
  private used = SLAB_HEADER_BYTES;

  constructor(
    readonly number: number,
    private readonly bytesMax: number,
  ) {}

  get isEmpty(): boolean {
    return this.used === SLAB_HEADER_BYTES;
  }

  /** False if a change should rather go into the next slab; an empty slab takes any. */
  hasRoom(changeBytes: number): boolean {
    return this.isEmpty || this.used + changeBytes <= this.bytesMax;
  }

  /** `key` is the record's whole key. */
  put(key: Buffer, payload: Uint8Array): void {
    this.reserve(putBytes(payload));
    const at = this.used;
    this.bytes[at] = PUT;
    key.copy(this.bytes, at + 1, NAME_IN_KEY);
    const valueAt = at + PUT_HEADER_BYTES;
    this.bytes.writeUInt32LE(VALUE_HEADER_BYTES + payload.length, valueAt - 4);
    writeValue(this.bytes, valueAt, key, RECORD_KEY_BYTES, payload);
    this.used = valueAt + VALUE_HEADER_BYTES + payload.length;
  }

  delete(key: Buffer): void {
    this.reserve(DELETE_BYTES);
    this.bytes[this.used] = DELETE;
    key.copy(this.bytes, this.used + 1, NAME_IN_KEY);
    this.used += DELETE_BYTES;
  }

  /** The finished bytes and their checksum. */
  seal(): { bytes: Buffer; crc: number } {
    const bytes = this.bytes.subarray(0, this.used);
    bytes.writeUInt32LE(this.used, 0);
    bytes.writeUInt32LE(this.number, 8);
    const crc = crc32c(bytes, 8);
    bytes.writeUInt32LE(crc, 4);
    return { bytes, crc };
  }

  private reserve(changeBytes: number): void {
    const needed = this.used + changeBytes;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(this.bytes.length * 4, this.bytesMax)));
    this.bytes.copy(larger, 0, 0, this.used);
    this.bytes = larger;
  }
}

/** Bytes that a put takes in a slab. */
export function putBytes(payload: Uint8Array): number {
  return PUT_HEADER_BYTES + VALUE_HEADER_BYTES + payload.length;
}

export const DELETE_BYTES = 1 + NAME_BYTES;

/** Length and checksum of the slab that begins with these bytes. */
export function slabHeader(bytes: Buffer): { length: number; crc: number } | undefined {
  if (bytes.length < SLAB_HEADER_BYTES) return undefined;
  return { length: bytes.readUInt32LE(0), crc: bytes.readUInt32LE(4) };
}

export const SLAB_HEADER_LENGTH = SLAB_HEADER_BYTES;

/** Throws `DamagedStateError` unless the bytes are the whole slab of that number. */
export function checkSlab(bytes: Buffer, number: number, group: number): void {
  const header = slabHeader(bytes);
  const isWhole = header?.length === bytes.length && crc32c(bytes, 8) === header.crc;
  if (!isWhole || bytes.readUInt32LE(8) !== number) throw damagedSlab(number, group);
}

/** Brings the changes of a checked slab into a batch; gives their bytes. */
export function applySlab(bytes: Buffer, batch: KeyValueBatch, group: number, generation: number): number {
  return applyPart(bytes, SLAB_HEADER_BYTES, bytes.length, batch, group, generation);
}

/**
 * Brings changes of a checked slab into a batch, from the one at `from` (`SLAB_HEADER_LENGTH` for the first)
 * until `bytesMax` are reached; gives where the next one begins, which is the length of the slab after the
 * last.
 */
export function applyPart(
  bytes: Buffer,
  from: number,
  bytesMax: number,
  batch: KeyValueBatch,
  group: number,
  generation: number,
): number {
  const key = recordKeyBuffer(group, generation);
  nameRecord(key, 0, 0, 0);
  const end = Math.min(bytes.length, from + bytesMax);
  let at = from;
  while (at < end) {
    bytes.copy(key, NAME_IN_KEY, at + 1, at + 1 + NAME_BYTES);
    if (bytes[at] === DELETE) {
      batch.delete(key);
      at += DELETE_BYTES;
    } else {
      const valueAt = at + PUT_HEADER_BYTES;
      const next = valueAt + bytes.readUInt32LE(valueAt - 4);
      batch.put(key, bytes.subarray(valueAt, next));
      at = next;
    }
  }
  return at;
}

function damagedSlab(number: number, group: number): DamagedStateError {
  return new DamagedStateError(
    `part ${number} of the redo file of group ${group} does not hold its checksum`,
    group,
  );
}
